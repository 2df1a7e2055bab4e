//go:build gitops

package charts

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var upgrades = flag.Int("upgrades", 4, "number of upgrades of each chart; 20 is the complete test")

// The replicas in the values of each chart, the level in each checkpoint file, and the
// replicas that the autoscaler writes before a change of the chart.
const stated, level, scaled = 3, 12, 60

// shapes are the charts of testdata/charts, by how they set replicas.
var shapes = []string{"omits", "guards", "states", "states-under-hpa"}

// The protections of live replicas. Both are the admission policy with an ignore rule.
// With dropped, a post-renderer removes replicas from the chart, and the admission policy
// acts.
const admission, ignore, both, dropped = "admission", "ignore", "both", "dropped"

// The effects of upgrades on replicas that an autoscaler has written.
const (
	keeps  = "keeps"  // no upgrade changes them
	resets = "resets" // each upgrade sets the replicas of the chart
	fails  = "fails"  // each upgrade fails
)

// A method is a tool with a protection.
type method struct {
	tool, rule string
	effect     string // of upgrades, if the chart sets replicas; otherwise each method keeps them
	rebuilt    int    // replicas after a rebuild, if the chart sets them
	changed    int    // replicas after a replacement of that chart by one that omits them
}

// methods have the effects of the tables in internal/docs/helm.md. All charts have the
// same name, because Flux uninstalls a release whose chart has a new name, and installs it
// again.
var methods = []method{
	{"helm4", admission, fails, level, scaled},
	{"helm3", admission, resets, level, 1},
	{"argocd", admission, resets, stated, 1},
	{"argocd", ignore, keeps, stated, scaled},
	{"argocd", both, keeps, level, scaled},
	{"flux", admission, resets, level, scaled},
	{"flux", ignore, resets, stated, scaled},
	{"flux", dropped, keeps, level, scaled},
}

// A cell is one chart that one tool applies with one protection. It has a namespace with
// its name, and a release web.
type cell struct {
	shape string
	method
}

func (c cell) name() string { return c.shape + "-" + c.tool + "-" + c.rule }

// admitted reports whether the admission policy acts on the cell.
func (c cell) admitted() bool { return c.rule != ignore }

// ignored reports whether the tool has the ignore rule.
func (c cell) ignored() bool { return c.rule == ignore || c.rule == both }

// states reports whether the chart sets replicas.
func (c cell) states() bool { return strings.HasPrefix(c.shape, "states") }

// cells returns all combinations. A chart that omits replicas does not need two rules or
// a post-renderer. Without the policy, a rebuild starts one pod of it.
func cells() (all []cell) {
	for _, shape := range shapes {
		for _, m := range methods {
			switch {
			case cell{shape, m}.states():
				all = append(all, cell{shape, m})
			case m.rule == admission:
				all = append(all, cell{shape, method{m.tool, m.rule, keeps, level, scaled}})
			case m.rule == ignore:
				all = append(all, cell{shape, method{m.tool, m.rule, keeps, 1, scaled}})
			}
		}
	}
	return all
}

// An outcome is the measured effect on the replicas of a cell.
type outcome struct {
	resets, failed int // upgrades that set other replicas than the autoscaler's, and failed upgrades
	rebuilt        int // replicas after a rebuild
	changed        int // replicas after a replacement of the chart by one that omits them
}

// has reports whether the outcome of n upgrades is the one that the cell expects. The
// first upgrade follows the creation, without a change by the autoscaler.
func (o outcome) has(c cell, n int) bool {
	switch after := o.rebuilt == c.rebuilt && o.changed == c.changed; c.effect {
	case keeps:
		return after && o.resets == 0 && o.failed == 0
	case resets:
		return after && o.resets >= n-1 && o.failed == 0
	default:
		return after && o.resets <= 1 && o.failed == n-1
	}
}

// Autoscalers change the replicas before each upgrade. With the admission policy, no tool
// resets them if the chart omits replicas, and a rebuild starts with the level. Before the
// rebuild, doctor predicts the results of each cell.
func TestCharts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.bootstrap(t)
	w.apply(t, values{Image: "registry.example.com/shop/web:0", LogLevel: "info"}, false)
	for i := range *upgrades {
		w.upgrade(t, i)
	}
	predicted := w.predictions(t)
	w.rebuild(t)
	w.change(t)
	for _, c := range w.cells {
		seen, figure := *w.seen[c], strings.ReplaceAll(c.name(), "-", "_")
		fmt.Printf("figure charts_%s_resets %d\n", figure, seen.resets)
		fmt.Printf("figure charts_%s_failed_upgrades %d\n", figure, seen.failed)
		fmt.Printf("figure charts_%s_rebuilt_with %d\n", figure, seen.rebuilt)
		fmt.Printf("figure charts_%s_after_a_change_of_the_chart %d\n", figure, seen.changed)
		if !seen.has(c, *upgrades) {
			t.Errorf("%s: in %d upgrades it is %+v, want %+v", c.name(), *upgrades, seen, c.method)
		}
		if p := predicted[c.name()]; p.effect != c.effect || p.rebuilt != seen.rebuilt {
			t.Errorf("%s: doctor predicts the effect %q and a rebuild with %d replicas, want %q and %d", c.name(), p.effect, p.rebuilt, c.effect, seen.rebuilt)
		}
	}
}
