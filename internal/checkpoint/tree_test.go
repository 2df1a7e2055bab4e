package checkpoint

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	shopRecord = "checkpoints/prod-eu/shop.levels.yaml"
	payRecord  = "checkpoints/prod-eu/pay.levels.yaml"
	sitePath   = "checkpoints/prod-eu/site.yaml"
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
	if got := paths(merged); !slices.Equal(got, []string{payRecord}) {
		t.Errorf("wrote %v", got)
	}
}

func TestSiteThatCannotBeReliedOnIsNotRead(t *testing.T) {
	t.Parallel()
	for name, site := range map[string]string{
		"newer":        siteHeader + "  version: \"2\"\n",
		"of another":   string(Site{Name: "prod-us"}.Format()),
		"broken":       "<<<<<<< HEAD\n",
		"without name": siteHeader + "  version: \"1\"\n",
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
		"checkpoints/prod-eu/README.md":               nil,
		"checkpoints/prod-eu/kustomization.yaml":      nil,
		"checkpoints/prod-eu/levels.yaml":             nil,
		"checkpoints/prod-eu/.levels.yaml":            nil,
		"checkpoints/prod-eu/a.b.levels.yaml":         nil,
		"checkpoints/prod-eu/Not_A_Label.levels.yaml": nil,
		"checkpoints/prod-eu/old/shop.levels.yaml":    nil,
		"checkpoints/prod-eu2/shop.levels.yaml":       nil,
		"shop.levels.yaml":                            nil,
	})
	if len(tree.Records) > 0 || len(tree.Stale()) > 0 {
		t.Errorf("read %v, stale %v", tree.Records, tree.Stale())
	}
	merged, _ := Merge(tree, example, []Change{{ID: shopWeb, To: to(5)}})
	if got := paths(merged); !slices.Equal(got, []string{shopRecord, sitePath}) {
		t.Errorf("wrote %v", got)
	}
}

// No name of a namespace gives the path or the object of another file.
func TestNamesOfNamespacesDoNotCollide(t *testing.T) {
	t.Parallel()
	var changes []Change
	for _, namespace := range []string{"site", "admission", "kustomization", "gitlatch", "gitlatch-levels", "0-x", "on"} {
		changes = append(changes, Change{ID: workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: "web"}, To: to(5)})
	}
	files, skipped := Merge(Tree{}, example, changes)
	if len(skipped) > 0 || len(files) != len(changes)+1 {
		t.Errorf("skipped %v, wrote %v", skipped, paths(files))
	}
	tree := mustParse(t, files)
	if len(tree.Entries()) != len(changes) || len(tree.Stale()) > 0 {
		t.Errorf("read %v, stale %v", tree.Entries(), tree.Stale())
	}
}

func TestANamespaceWithoutEntriesHasNoFile(t *testing.T) {
	t.Parallel()
	files := read(t, example.Name)
	merged, _ := Merge(mustParse(t, files), example, []Change{{ID: payWeb, From: heldInPay}})
	if data, ok := merged[payRecord]; !ok || data != nil || len(merged) != 1 {
		t.Errorf("wrote %v: %q", paths(merged), data)
	}
	after := with(files, merged)
	merged, _ = Merge(mustParse(t, after), example, []Change{{ID: payWeb, To: heldInPay}})
	if !same(with(after, merged), files) {
		t.Error("the namespace does not come back as it was")
	}
}

// Edited text around the levels is found at once. The next change in its namespace restores
// it, even a change that alters no fact, and so does Repair.
func TestEditedTextIsRestored(t *testing.T) {
	t.Parallel()
	replace := func(old, new string) func(string) string {
		return func(text string) string {
			if strings.Count(text, old) != 1 {
				t.Fatalf("%q is not once in\n%s", old, text)
			}
			return strings.Replace(text, old, new, 1)
		}
	}
	level := replace(`web: "1"`, `web: "7"`)
	for name, c := range map[string]struct {
		edit  func(string) string
		stale bool
	}{
		"binding":             {replace("parameterNotFoundAction: Allow", "parameterNotFoundAction: Deny"), true},
		"binding not YAML":    {replace("parameterNotFoundAction: Allow", "}{"), true},
		"binding removed":     {func(text string) string { _, text, _ = strings.Cut(text, "---\n"); return text }, true},
		"binding last":        {func(text string) string { a, b, _ := strings.Cut(text, "---\n"); return b + "---\n" + a }, true},
		"comment":             {replace("# To opt", "# Ask us first. To opt"), true},
		"no quotes":           {replace(`web: "1"`, `web: 1`), true},
		"no end of line":      {func(text string) string { return strings.TrimSuffix(text, "\n") }, true},
		"level":               {level, false},
		"level and a comment": {func(text string) string { return level(text) + "# by hand\n" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			files := read(t, example.Name)
			files[payRecord] = []byte(c.edit(string(files[payRecord])))
			tree := mustParse(t, files)
			if got := tree.Stale(); slices.Equal(got, []string{"pay"}) != c.stale {
				t.Errorf("stale is %v", got)
			}
			elsewhere, _ := Merge(tree, example, []Change{{ID: deployment("new"), To: to(5)}})
			if got := paths(elsewhere); !slices.Equal(got, []string{shopRecord}) {
				t.Errorf("a change elsewhere wrote %v", got)
			}
			held := tree.Entries()[payWeb]
			merged, skipped := Merge(tree, example, []Change{{ID: payWeb, From: held, To: held}})
			repaired := map[string][]byte{}
			Repair(tree, repaired, []string{"pay", "shop"})
			if len(skipped) > 0 || !same(merged, repaired) || len(merged) > 0 != c.stale {
				t.Errorf("skipped %v; a merge writes %v, a repair %v", skipped, paths(merged), paths(repaired))
			}
			after := mustParse(t, with(files, repaired))
			if len(after.Stale()) > 0 || !maps.Equal(after.Entries(), tree.Entries()) {
				t.Errorf("stale %v; entries %v", after.Stale(), after.Entries())
			}
		})
	}
}

// A document that gitlatch does not know makes the file unreadable: restoring the text would
// lose it.
func TestAnotherDocumentIsNotLost(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(string) string{
		"before": func(text string) string { return "apiVersion: v1\nkind: Secret\n---\n" + text },
		"after":  func(text string) string { return text + "---\napiVersion: v1\nkind: Secret\n" },
		"binding of another kind": func(text string) string {
			return strings.Replace(text, "kind: MutatingAdmissionPolicyBinding", "kind: ValidatingAdmissionPolicyBinding", 1)
		},
		"levels twice": func(text string) string { _, levels, _ := strings.Cut(text, "---\n"); return text + "---\n" + levels },
	} {
		t.Run(name, func(t *testing.T) {
			files := read(t, example.Name)
			files[payRecord] = []byte(edit(string(files[payRecord])))
			tree, err := ParseTree(example.Name, files)
			if err != nil || tree.Broken["pay"] == nil || len(tree.Stale()) > 0 {
				t.Errorf("error %v, broken %v, stale %v", err, tree.Broken, tree.Stale())
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
		"too large":       {ID: shopWeb, To: to(MaxReplicas + 1)},
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
