package run_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
)

const (
	fluxSource = `{metadata: {name: fleet, namespace: flux-system}, spec: {url: "https://git.example.com/fleet.git", ref: {branch: main}}, status: {conditions: [{type: Ready, status: "True"}]}}`
	fluxRule   = "ignore: [{paths: [/spec/replicas], target: {kind: Deployment}}]"
	byFlux     = "flux: Kustomization flux-system/shop ignores /spec/replicas"
)

// A drill checks the rules again. It reports a rule that was removed from the cluster,
// and from then on no level relies on it. A drill that writes nothing also reports it.
// A drill keeps a rule that it cannot check.
func TestADrillWithdrawsWhatDoesNotHold(t *testing.T) {
	t.Parallel()
	all, web := "shop/deployment/*", "shop/deployment/web"
	for name, c := range map[string]struct {
		spec   string // spec of the Kustomization
		before checkpoint.Evidence
		left   checkpoint.Evidence
		change func(*parts)
		dry    bool
		says   bool // the drill reports a problem although it removes no rule
		tells  bool // the drill also sends an alert
	}{
		"the rule is there":        {spec: fluxRule, before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}},
		"the rule is gone":         {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{}},
		"the branch takes nothing": {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) { p.refuses = checkpoint.EvidencePath("prod") }, says: true, tells: true},
		"it was for one":           {before: checkpoint.Evidence{web: byFlux, "shop/deployment/api": byFlux}, left: checkpoint.Evidence{"shop/deployment/api": byFlux}},
		"it was said twice":        {before: checkpoint.Evidence{all: byFlux, web: byFlux}, left: checkpoint.Evidence{}},
		"a person said so":         {before: checkpoint.Evidence{all: "our own tool leaves counts alone"}, left: checkpoint.Evidence{all: "our own tool leaves counts alone"}},
		"another repository's":     {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) { p.flux["GitRepository"] = strings.Replace(fluxSource, "fleet.git", "other.git", 1) }},
		"nothing applies it":       {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) { p.flux = nil }},
		"a dry drill":              {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, dry: true, says: true},
		"its cluster was adopted since": {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{}, change: func(p *parts) {
			p.Repository.Edit("work", p.now, map[string][]byte{checkpoint.SitePath("prod"): checkpoint.Site{Name: "prod", Cluster: "blue"}.Format()})
		}},
		"another cluster": {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) {
			p.cluster, p.now = "green", p.now.Add(time.Hour)
		}},
		"a second cluster": {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) { p.cluster = "green" }},
		"its build fails for now": {before: checkpoint.Evidence{all: byFlux}, left: checkpoint.Evidence{all: byFlux}, change: func(p *parts) {
			p.Repository.Edit("work", p.now, map[string][]byte{"clusters/prod/web.yaml": []byte(":")})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, r := newParts(t)
			if _, err := r.Drill(t.Context()); err != nil { // writes the first levels
				t.Fatal(err)
			}
			p.flux = map[string]string{"GitRepository": fluxSource, "Kustomization": "{metadata: {name: shop, namespace: flux-system}, spec: {sourceRef: {kind: GitRepository, name: fleet}, path: clusters/prod, " + c.spec + "}, status: {conditions: [{type: Ready, status: \"True\"}]}}"}
			r.Here.Repository, r.Tick.DryRun = "https://git.example.com/fleet.git", c.dry
			p.Repository.Edit("work", p.now, map[string][]byte{checkpoint.EvidencePath("prod"): c.before.Format()})
			if c.change != nil {
				c.change(p)
			}
			d, err := r.Drill(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tip, _, err := p.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tree := treeAt(t, p, tip)
			if !maps.Equal(tree.Evidence, c.left) || tree.Unproven != nil {
				t.Errorf("the evidence is %v (%v), want %v", tree.Evidence, tree.Unproven, c.left)
			}
			told := ""
			for _, n := range p.told {
				if n.Kind == string(alert.RuleGone) {
					told += n.Text
					if !json.Valid(n.Document) || !strings.HasPrefix(n.Fix, "add {paths: [/spec/replicas], target: {kind: Deployment}} to spec.ignore") || !strings.Contains(n.Fix, "gitlatch doctor --write") || n.Severity != alert.RuleGone.Severity() {
						t.Errorf("machines get %q, and what to do is %q", n.Document, n.Fix)
					}
				}
			}
			const gone = "shop/deployment/web: No rule protects the live replica count. Kustomization flux-system/shop applies the workload with its replicas"
			withdrawn := !maps.Equal(c.before, c.left)
			if said := strings.Join(d.Problems, "\n"); (withdrawn || c.tells) != strings.Contains(told, gone) || (withdrawn || c.says) != strings.Contains(said, gone) {
				t.Errorf("withdrawn %v, passed %v, told %q, problems %q", withdrawn, d.Passed, told, d.Problems)
			}
		})
	}
}

func treeAt(t *testing.T, p *parts, commit string) checkpoint.Tree {
	t.Helper()
	tree, _, err := ledger.TreeAt(t.Context(), p.Repository, commit, "prod")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
