//go:build gitops

package rebuild

import (
	"slices"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/load"
)

// made returns a run in which all workloads but web have their desired replicas. Each
// argument is one second of web: its desired pods and its ready pods.
func made(web ...[2]int) run {
	f := quickForm()
	r := run{way: "made", form: f, from: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	for second, pods := range web {
		l := load.Look{At: r.from.Add(time.Duration(second) * time.Second), States: map[string]load.State{}, Scales: map[string]load.Scale{}, Judged: map[string]int{}}
		for _, m := range f.fleet() {
			asked, ready := m.need, m.need
			if m.name == "web" {
				asked, ready = pods[0], pods[1]
			}
			l.States[m.String()] = load.State{Load: m.load(), Ready: ready, Served: min(m.load(), float64(ready)*capacity)}
			l.Scales[m.String()] = load.Scale{Asked: int32(asked), Owned: second > 2}
			l.Judged[m.String()] = second
		}
		r.looks = append(r.looks, l)
	}
	return r
}

// web needs 18 pods; 9 can just serve its load.
var web = quickForm().fleet()[0]

func TestARunHasRecoveredOnceAllIsServed(t *testing.T) {
	t.Parallel()
	for want, r := range map[time.Duration]run{
		2 * time.Second:      made([2]int{20, 0}, [2]int{20, 8}, [2]int{20, 9}, [2]int{20, 3}),
		0:                    made([2]int{20, 20}),
		quickForm().deadline: made([2]int{1, 1}, [2]int{8, 8}),
	} {
		if after, ok := r.recovered(); after != want || ok != (want < r.form.deadline) {
			t.Errorf("recovered after %s (%v), want %s", after, ok, want)
		}
	}
	if served := made([2]int{1, 0}).served(made([2]int{1, 0}).looks[0]); served < 0.549 || served > 0.551 {
		t.Errorf("%.3f of the load is served without web, want 0.55", served)
	}
}

func TestCoverageCountsFromTheInstantAtWhichAllWereReady(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		web  [][2]int
		want float64
		ok   bool
	}{
		{[][2]int{{20, 0}, {20, 18}, {20, 20}, {18, 18}}, 1, true},
		{[][2]int{{20, 2}, {20, 20}, {9, 9}, {18, 18}}, 0.5, true},
		{[][2]int{{20, 2}, {20, 19}}, 0, false},
		{[][2]int{{1, 1}, {2, 2}}, 0, false}, // all desired pods, but too few
	} {
		lowest, ok := made(c.web...).coverage(web)
		if ok != c.ok || ok && lowest != c.want {
			t.Errorf("%v: coverage %.2f (%v), want %.2f (%v)", c.web, lowest, ok, c.want, c.ok)
		}
	}
}

func TestOwnershipAndCountsAreAsTheyCame(t *testing.T) {
	t.Parallel()
	r := made([2]int{20, 0}, [2]int{20, 20}, [2]int{12, 12}, [2]int{12, 12}, [2]int{20, 12})
	if judged, after, ok := r.owned(web); !ok || judged != 3 || after != 3*time.Second {
		t.Errorf("owned in look %d after %s (%v), want look 3 after 3s", judged, after, ok)
	}
	if _, _, ok := made([2]int{20, 20}).owned(web); ok {
		t.Error("owned, though it never was")
	}
	if counts := r.counts(web); !slices.Equal(counts, []int32{20, 12, 20}) {
		t.Errorf("counts %d", counts)
	}
}

func TestFiguresSayWhereTheyHangOnTheDeadline(t *testing.T) {
	t.Parallel()
	runs := map[string]run{
		absent.name:  made([2]int{1, 1}, [2]int{8, 8}),
		patient.name: made([2]int{1, 1}, [2]int{2, 2}, [2]int{4, 4}, [2]int{8, 8}, [2]int{16, 16}),
		limit.name:   made([2]int{18, 0}, [2]int{18, 0}, [2]int{18, 18}),
	}
	for i, w := range ways {
		seen := slices.Repeat([][2]int{{20, 0}}, i+1)
		runs[w.name] = made(append(seen, [2]int{20, 20}, [2]int{18, 17})...)
	}
	f := quickForm()
	const want = `absent did not serve its load in the 3m0s that it was given, which count as its time:
figure rebuild_speedup_flux_40 180.0
figure rebuild_speedup_kubectl_40 90.0
figure rebuild_speedup_argocd_40 60.0
figure rebuild_speedup_if_no_pod_fails_flux_40 4.0
figure rebuild_speedup_if_no_pod_fails_kubectl_40 2.0
figure rebuild_speedup_if_no_pod_fails_argocd_40 1.3
figure rebuild_over_limit_flux_40 0.50
figure rebuild_over_limit_kubectl_40 1.00
figure rebuild_over_limit_argocd_40 1.50
`
	if got := f.figures("speedup", absent, runs) + f.figures("speedup_if_no_pod_fails", patient, runs) + f.figures("over_limit", limit, runs); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	const chosen = `figure rebuild_over_limit_argocd_40 1.50
`
	some := map[string]run{limit.name: runs[limit.name], "argocd": runs["argocd"]}
	if got := f.figures("speedup", absent, some) + f.figures("over_limit", limit, some); got != chosen {
		t.Errorf("of two methods: got\n%swant\n%s", got, chosen)
	}
	if lowest := f.lowest(runs); lowest != 17./18 {
		t.Errorf("covered at least %.3f, want %.3f", lowest, 17./18)
	}
}

func TestLateFiguresCountTheNeedAMinuteAfterTheTraffic(t *testing.T) {
	t.Parallel()
	f := realForm(40)
	f.late = 15 * time.Minute
	runs := map[string]run{}
	for i, w := range ways {
		braked := made(slices.Repeat([][2]int{{20, 20}}, 62)...)
		unbraked := made(append(slices.Repeat([][2]int{{1, 1}}, 61+60*i), [2]int{20, 20})...)
		braked.form, unbraked.form = f, f
		runs[arm(w, true)], runs[arm(w, false)] = braked, unbraked
	}
	never := runs[arm(ways[2], false)]
	never.looks = never.looks[:61]
	runs[arm(ways[2], false)] = never
	// web has 18 of the 40 pods. Each method without brakes serves a minute later.
	const want = `figure late_coverage_braked_flux_40 1.00
figure late_coverage_unbraked_flux_40 0.57
figure late_speedup_flux_40 4.1
figure late_coverage_braked_kubectl_40 1.00
figure late_coverage_unbraked_kubectl_40 0.57
figure late_speedup_kubectl_40 8.1
argocd unbraked did not serve its load in the 10m0s that it was given, which count as its time:
figure late_coverage_braked_argocd_40 1.00
figure late_coverage_unbraked_argocd_40 0.57
figure late_speedup_argocd_40 40.0
`
	if got := f.lateFigures(runs); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if first := runs[arm(ways[0], false)].serving(0); first != 23./40 {
		t.Errorf("%.3f serve when the traffic comes, want %.3f", first, 23./40)
	}
}
