package plan_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func deployment(short string) workload.ID {
	namespace, name, _ := strings.Cut(short, "/")
	return workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}
}

// fleet returns the workloads by ID.
func fleet(all ...plan.Workload) map[workload.ID]plan.Workload {
	by := map[workload.ID]plan.Workload{}
	for _, w := range all {
		by[w.ID] = w
	}
	return by
}

// show formats a plan as one line.
func show(p plan.Plan) string {
	var b strings.Builder
	for _, w := range p.Waves {
		fmt.Fprintf(&b, "[%s]", w.Name)
		for _, r := range w.Raises {
			fmt.Fprintf(&b, " %s %d->%d", r.ID.Short(), r.From, r.To)
			if r.Capped {
				fmt.Fprintf(&b, " capped of %d", r.Declared)
			}
		}
		b.WriteString(" ")
	}
	for _, l := range p.Left {
		fmt.Fprintf(&b, "%s %s ", l.ID.Short(), l.Reason)
	}
	for _, r := range p.Braked {
		fmt.Fprintf(&b, "brake %s %d of %d ", r.ID.Short(), r.From, r.To)
	}
	return strings.TrimSpace(b.String())
}

func TestAPlanOnlyRaises(t *testing.T) {
	t.Parallel()
	web, api := deployment("shop/web"), deployment("shop/api")
	hpa := func(most int32) []plan.Scaler {
		return []plan.Scaler{{Kind: plan.HPA, Namespace: "shop", Name: "web", Max: most}}
	}
	for _, c := range []struct {
		name  string
		entry checkpoint.Entry
		live  plan.Workload
		o     plan.Options
		want  string
	}{
		{"below its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1}, plan.Options{}, "[priority 0] shop/web 1->200"},
		{"at its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 200}, plan.Options{}, "brake shop/web 200 of 200"},
		{"above its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 300}, plan.Options{}, "brake shop/web 300 of 200"},
		{"at zero", checkpoint.Entry{Replicas: 200}, plan.Workload{}, plan.Options{}, "shop/web suspended"},
		{"at zero, asked for", checkpoint.Entry{Replicas: 200}, plan.Workload{}, plan.Options{FromZero: true}, "[priority 0] shop/web 0->200"},
		{"the accepted max is lower", checkpoint.Entry{Replicas: 200, Max: 150}, plan.Workload{Replicas: 1, Scalers: hpa(500)}, plan.Options{}, "[priority 0] shop/web 1->150 capped of 200"},
		{"the live max is lower", checkpoint.Entry{Replicas: 200, Max: 150}, plan.Workload{Replicas: 1, Scalers: hpa(50)}, plan.Options{}, "[priority 0] shop/web 1->50 capped of 200"},
		{"the lowest of two live max", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1, Scalers: append(hpa(90), hpa(60)...)}, plan.Options{}, "[priority 0] shop/web 1->60 capped of 200"},
		{"at a max below its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 50, Scalers: hpa(50)}, plan.Options{}, "shop/web at-max brake shop/web 50 of 50"},
		{"above a max below its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 60, Scalers: hpa(50)}, plan.Options{}, "shop/web at-max brake shop/web 60 of 50"},
		{"half", checkpoint.Entry{Replicas: 5}, plan.Workload{Replicas: 1}, plan.Options{Factor: .5}, "[priority 0] shop/web 1->3"},
		{"seven hundredths of 100 are 7", checkpoint.Entry{Replicas: 100}, plan.Workload{Replicas: 1}, plan.Options{Factor: .07}, "[priority 0] shop/web 1->7"},
		{"never below one", checkpoint.Entry{Replicas: 1}, plan.Workload{Replicas: 1}, plan.Options{Factor: .01}, "brake shop/web 1 of 1"},
		{"being deleted", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1, Terminating: true}, plan.Options{}, "shop/web terminating"},
		{"opted out", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1, OptOut: true}, plan.Options{}, "shop/web opted-out"},
		{"at its level, opted out", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 200, OptOut: true}, plan.Options{}, "shop/web opted-out"},
		{"held at its level", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 200, Scalers: []plan.Scaler{{Fixed: "paused"}}}, plan.Options{}, "shop/web fixed"},
		{"held at a count", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1, Scalers: []plan.Scaler{{Fixed: "paused"}}}, plan.Options{}, "shop/web fixed"},
		{"a rollout alone", checkpoint.Entry{Max: 9}, plan.Workload{Replicas: 1}, plan.Options{}, ""},
		{"another namespace", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1}, plan.Options{Namespaces: []string{"pay"}}, ""},
		{"another workload", checkpoint.Entry{Replicas: 200}, plan.Workload{Replicas: 1}, plan.Options{Workloads: []workload.ID{api}}, ""},
	} {
		c.live.ID = web
		if got := show(plan.Make(map[workload.ID]checkpoint.Entry{web: c.entry}, fleet(c.live), c.o)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := show(plan.Make(map[workload.ID]checkpoint.Entry{web: {Replicas: 5}}, nil, plan.Options{})); got != "shop/web absent" {
		t.Errorf("gone: %q", got)
	}
}

// A plan states the maximum of a run: a later change may only reduce it.
func TestAPlanIsNeverExceeded(t *testing.T) {
	t.Parallel()
	web := deployment("shop/web")
	at := func(replicas, most int32) map[workload.ID]plan.Workload {
		return fleet(plan.Workload{ID: web, Replicas: replicas, Scalers: []plan.Scaler{{Max: most}}})
	}
	p := plan.Make(map[workload.ID]checkpoint.Entry{web: {Replicas: 200}}, at(1, 50), plan.Options{})
	for _, c := range []struct {
		name           string
		replicas, most int32
		from, to       int32
		left           plan.Reason
	}{
		{"nothing changed", 1, 50, 1, 50, ""},
		{"a lower max", 1, 30, 1, 30, ""},
		{"a higher max", 1, 500, 1, 50, ""},
		{"raised by others", 40, 50, 40, 50, ""},
		{"lowered to a lower max", 30, 30, 30, 30, plan.AtMax},
	} {
		r, left := p.Judge(p.Waves[0].Raises[0], at(c.replicas, c.most))
		if r.ID != web || r.From != c.from || r.To != c.to || left.Reason != c.left {
			t.Errorf("%s: %+v %+v", c.name, r, left)
		}
	}
}

func TestWavesComeInOrder(t *testing.T) {
	t.Parallel()
	record := map[workload.ID]checkpoint.Entry{}
	var live []plan.Workload
	for short, priority := range map[string]int32{"dns/core": 2000, "shop/web": 10, "shop/db": 1000, "batch/mail": -5, "pay/card": 10} {
		record[deployment(short)] = checkpoint.Entry{Replicas: 9}
		live = append(live, plan.Workload{ID: deployment(short), Replicas: 1, Priority: priority})
	}
	want := "[priority 2000] dns/core 1->9 [priority 1000] shop/db 1->9 [priority 10] pay/card 1->9 shop/web 1->9 [priority -5] batch/mail 1->9"
	if got := show(plan.Make(record, fleet(live...), plan.Options{})); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestAFactorIsForASmallerSite(t *testing.T) {
	t.Parallel()
	for f, want := range map[float64]bool{.01: true, .5: true, 1: true, 0: false, -1: false, 1.01: false, 100: false, math.Inf(1): false} {
		if got := plan.ValidFactor(f); got != want {
			t.Errorf("%v: %v", f, got)
		}
	}
	if plan.ValidFactor(math.NaN()) {
		t.Error("NaN is taken")
	}
}

// A plan does not report a workload as removed if its kind was not listed, or as asleep
// if its replicas could not be read.
func TestAPlanKnowsWhichKindsWereLookedFor(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: "worker", Name: "web"}
	record := map[workload.ID]checkpoint.Entry{web: {Replicas: 200}}
	named := plan.Options{Kinds: workload.Kinds{"worker": {}}}
	for name, c := range map[string]struct {
		live map[workload.ID]plan.Workload
		o    plan.Options
		want string
		text string
	}{
		"named, and runs":    {fleet(plan.Workload{ID: web, Replicas: 1}), named, "[priority 0] shop/web 1->200", ""},
		"named, and gone":    {nil, named, "shop/web absent", "does not exist in the cluster"},
		"named, of no count": {fleet(plan.Workload{ID: web, Unknown: "has no number"}), named, "shop/web unknown", "has no number"},
		"not named":          {nil, plan.Options{}, "shop/web not-read", "has a kind that gitlatch does not read. Add worker to kinds of the policy"},
	} {
		p := plan.Make(record, c.live, c.o)
		if got := show(p); got != c.want || c.text != "" && p.Left[0].Text != c.text {
			t.Errorf("%s: %s, %+v; want %s, %s", name, got, p.Left, c.want, c.text)
		}
	}
}
