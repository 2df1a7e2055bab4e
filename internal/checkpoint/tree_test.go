package checkpoint

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	shopRecord    = "checkpoints/prod-eu/shop/checkpoint.yaml"
	shopComponent = "checkpoints/prod-eu/shop/kustomization.yaml"
	payRecord     = "checkpoints/prod-eu/pay/checkpoint.yaml"
	payComponent  = "checkpoints/prod-eu/pay/kustomization.yaml"
	sitePath      = "checkpoints/prod-eu/site.yaml"
)

var (
	shopWeb   = deployment("web")
	payWeb    = workload.ID{Namespace: "pay", Kind: workload.Deployment, Name: "web"}
	heldInPay = Entry{Replicas: 1, Min: 1}
)

func to(replicas int32) Entry { return Entry{Replicas: replicas} }

func paths(files map[string][]byte) []string { return slices.Sorted(maps.Keys(files)) }

func TestBrokenRecordCostsOnlyItsNamespace(t *testing.T) {
	t.Parallel()
	files := read(t, example.Name)
	files[shopRecord] = []byte("apiVersion: v1\n")
	tree, err := ParseTree(example.Name, files)
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.Broken["shop"]; err == nil || !strings.HasPrefix(err.Error(), shopRecord+":1: kind: is required: ConfigMap") {
		t.Errorf("shop is broken with %v", err)
	}
	if tree.Entries()[payWeb] != heldInPay {
		t.Error("pay was not read")
	}
	merged, skipped := Merge(tree, example, []Change{
		{ID: deployment("new"), To: to(5)},
		{ID: payWeb, From: heldInPay, To: to(2)},
	})
	if !slices.Equal(skipped, []workload.ID{deployment("new")}) {
		t.Errorf("skipped %v", skipped)
	}
	if got := paths(merged); !slices.Equal(got, []string{payRecord, payComponent}) {
		t.Errorf("wrote %v", got)
	}
}

func TestSiteThatCannotBeReliedOnIsNotRead(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]string{
		"newer":        "apiVersion: gitlatch.dev/v2\nkind: Site\nversion: 2\n",
		"of another":   string(Site{Name: "prod-us"}.Format()),
		"broken":       "<<<<<<< HEAD\n",
		"without name": "apiVersion: gitlatch.dev/v1alpha1\nkind: Site\nversion: 1\n",
	} {
		t.Run(name, func(t *testing.T) {
			files := read(t, example.Name)
			files[sitePath] = []byte(site)
			tree, err := ParseTree(example.Name, files)
			if err == nil || !strings.HasPrefix(err.Error(), sitePath+":") {
				t.Errorf("error is %v", err)
			}
			if len(tree.Records) > 0 {
				t.Error("records were read all the same")
			}
		})
	}
}

func TestFilesThatDoNotBelongAreLeftAlone(t *testing.T) {
	t.Parallel()
	tree := mustParse(t, map[string][]byte{
		"checkpoints/prod-eu/README.md":                   nil,
		"checkpoints/prod-eu/checkpoint.yaml":             nil,
		"checkpoints/prod-eu/shop/OWNERS":                 nil,
		"checkpoints/prod-eu/shop/old/checkpoint.yaml":    nil,
		"checkpoints/prod-eu/Not_A_Label/checkpoint.yaml": nil,
		"checkpoints/prod-eu2/shop/checkpoint.yaml":       nil,
		"shop/checkpoint.yaml":                            nil,
	})
	if len(tree.Records) > 0 || len(tree.Stale()) > 0 {
		t.Errorf("read %v, stale %v", tree.Records, tree.Stale())
	}
	merged, _ := Merge(tree, example, []Change{{ID: shopWeb, To: to(5)}})
	if got := paths(merged); !slices.Equal(got, []string{shopRecord, shopComponent, sitePath}) {
		t.Errorf("wrote %v", got)
	}
}

func TestEmptiedNamespaceKeepsItsComponent(t *testing.T) {
	t.Parallel()
	files := read(t, example.Name)
	merged, _ := Merge(mustParse(t, files), example, []Change{{ID: payWeb, From: heldInPay}})
	if data, ok := merged[payRecord]; !ok || data != nil {
		t.Errorf("record is not removed: %q", data)
	}
	if !strings.HasSuffix(string(merged[payComponent]), "\npatches: []\n") {
		t.Errorf("component is\n%s", merged[payComponent])
	}
	after := with(files, merged)
	merged, _ = Merge(mustParse(t, after), example, []Change{{ID: payWeb, To: heldInPay}})
	if !same(with(after, merged), files) {
		t.Error("the namespace does not come back as it was")
	}
}

// Damage of a Component is found at once. The next change in its namespace repairs it,
// even a change that alters no fact.
func TestComponentIsMendedWithItsNamespace(t *testing.T) {
	t.Parallel()
	const damage = "# by hand\n"
	for name, edit := range map[string]func(map[string][]byte){
		"component edited":  func(f map[string][]byte) { f[payComponent] = []byte(damage) },
		"component removed": func(f map[string][]byte) { delete(f, payComponent) },
		"record edited": func(f map[string][]byte) {
			f[payRecord] = []byte(strings.Replace(string(f[payRecord]), `web: "1"`, `web: "7"`, 1))
		},
		"record emptied": func(f map[string][]byte) {
			head, _, _ := strings.Cut(string(f[payRecord]), "  deployment.")
			f[payRecord] = []byte(head)
		},
		"record removed": func(f map[string][]byte) { delete(f, payRecord) },
	} {
		t.Run(name, func(t *testing.T) {
			files := read(t, example.Name)
			edit(files)
			tree := mustParse(t, files)
			if got := tree.Stale(); !slices.Equal(got, []string{"pay"}) {
				t.Errorf("stale is %v", got)
			}
			elsewhere, _ := Merge(tree, example, []Change{{ID: deployment("new"), To: to(5)}})
			if got := paths(elsewhere); !slices.Equal(got, []string{shopRecord, shopComponent}) {
				t.Errorf("a change elsewhere wrote %v", got)
			}
			held := tree.Entries()[payWeb]
			repaired, skipped := Merge(tree, example, []Change{{ID: payWeb, From: held, To: held}})
			after := mustParse(t, with(files, repaired))
			if len(skipped) > 0 || len(after.Stale()) > 0 || !maps.Equal(after.Entries(), tree.Entries()) {
				t.Errorf("skipped %v; stale %v; entries %v", skipped, after.Stale(), after.Entries())
			}
		})
	}
}

func TestSiteFollowsTheFirstChange(t *testing.T) {
	t.Parallel()
	tree := mustParse(t, read(t, example.Name))
	green := Site{Name: example.Name, Cluster: "green"}
	if merged, _ := Merge(tree, green, nil); len(merged) > 0 {
		t.Errorf("without a change wrote %v", paths(merged))
	}
	merged, _ := Merge(tree, green, []Change{{ID: payWeb, From: heldInPay, To: to(2)}})
	if got, err := parseSite(siteFile, merged[sitePath]); err != nil || got.Cluster != "green" {
		t.Errorf("site.yaml is %q, error %v", merged[sitePath], err)
	}
}

// Merge writes no file that ParseTree does not accept.
func TestChangesThatNoRecordCanHoldAreSkipped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Change{
		"negative":        {ID: shopWeb, To: to(-1)},
		"min above max":   {ID: shopWeb, To: Entry{Replicas: 5, Min: 9, Max: 3}},
		"daemonset":       {ID: workload.ID{Namespace: "shop", Kind: workload.DaemonSet, Name: "web"}, To: to(5)},
		"name too long":   {ID: deployment(strings.Repeat("a", 239)), To: to(5)},
		"path as a name":  {ID: deployment("../web"), To: to(5)},
		"namespace a dot": {ID: workload.ID{Namespace: ".", Kind: workload.Deployment, Name: "web"}, To: to(5)},
	} {
		t.Run(name, func(t *testing.T) {
			merged, skipped := Merge(Tree{}, example, []Change{c})
			if len(merged) > 0 || !slices.Equal(skipped, []workload.ID{c.ID}) {
				t.Errorf("wrote %v, skipped %v", paths(merged), skipped)
			}
		})
	}
	if err := Fits(deployment(strings.Repeat("a", 238))); err != nil {
		t.Errorf("the longest name: %v", err)
	}
}
