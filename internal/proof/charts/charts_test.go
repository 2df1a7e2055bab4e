package charts

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var upgrades = flag.Int("upgrades", 6, "number of upgrades of each chart; 20 is the complete test")

// The replicas in the values of each chart, and the level in each checkpoint file.
const stated, level = 3, 12

// shapes are the charts of testdata/charts, by how they set replicas.
var shapes = []string{"omits", "guards", "states", "states-under-hpa"}

// A cell is one chart that one tool applies with one protection of the live replicas. It
// has a namespace with its name, and a release web.
type cell struct {
	shape, tool string
	rule        string // admission or ignore
}

func (c cell) name() string { return c.shape + "-" + c.tool + "-" + c.rule }

// cells are all combinations. Plain Helm has no ignore rule.
func cells() (all []cell) {
	for _, shape := range shapes {
		for _, c := range []cell{
			{tool: "helm4", rule: "admission"}, {tool: "helm3", rule: "admission"},
			{tool: "argocd", rule: "admission"}, {tool: "argocd", rule: "ignore"},
			{tool: "flux", rule: "admission"}, {tool: "flux", rule: "ignore"},
		} {
			c.shape = shape
			all = append(all, c)
		}
	}
	return all
}

// An outcome is the effect of a tool on the replicas of a cell.
type outcome struct {
	resets, failed int // upgrades that set other replicas than the autoscaler's, and failed upgrades
	rebuilt        int // replicas after a rebuild
}

// effect is the outcome in a word, for any number of upgrades.
func (o outcome) effect() string {
	switch {
	case o.failed > 0:
		return fmt.Sprintf("fails, %d", o.rebuilt)
	case o.resets > 0:
		return fmt.Sprintf("resets, %d", o.rebuilt)
	default:
		return fmt.Sprintf("keeps, %d", o.rebuilt)
	}
}

// effects are the effects in the handbook (internal/docs/helm.md), by tool and rule, for
// each of the shapes.
var effects = map[string][]string{}

// Autoscalers change the replicas before each upgrade. With the admission policy, no tool
// resets them if the chart omits replicas.
func TestCharts(t *testing.T) {
	t.Parallel()
	w := start(t)
	w.bootstrap(t)
	w.apply(t, values{Image: "registry.example.com/shop/web:0", LogLevel: "info"}, false)
	for i := range *upgrades {
		w.upgrade(t, i)
	}
	w.rebuild(t)
	for _, c := range w.cells {
		seen, shape := w.seen[c], strings.ReplaceAll(c.name(), "-", "_")
		fmt.Printf("figure charts_resets_%s %d\n", shape, seen.resets)
		fmt.Printf("figure charts_failed_upgrades_%s %d\n", shape, seen.failed)
		fmt.Printf("figure charts_rebuilt_with_%s %d\n", shape, seen.rebuilt)
		if c.rule == "admission" && !strings.HasPrefix(c.shape, "states") && *seen != (outcome{rebuilt: level}) {
			t.Errorf("%s has %+v, want no reset, and a rebuild with the level", c.name(), *seen)
		}
	}
}
