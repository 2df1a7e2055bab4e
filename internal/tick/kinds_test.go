package tick_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// The Config of a site listed its custom kinds, and now the policy lists them. The new
// gitlatch or the new policy may come first. In both orders every entry of such a kind
// stays. Once the policy lists the kind, its entries change again.
func TestASiteWhoseConfigNamedItsKindsIsTakenOver(t *testing.T) {
	const (
		matched = latching + "policies: [{name: workers, match: {kinds: [worker]}}]\n"
		kinds   = "kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers}]\n"
	)
	for name, c := range map[string]struct {
		before, now string
		waits       int    // ticks until the kind is sampled again
		fails       string // until then
	}{
		"the policy is there":                  {latching, latching + kinds, 1, ""},
		"the policy comes later":               {latching, latching, 1, ""},
		"the policy is there and matches it":   {matched, matched + kinds, 0, ""},
		"it matches, and names the kind later": {matched, matched, 0, "or one that kinds of the policy names"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(map[string]string{"gitlatch.yaml": c.before + kinds})
			w.scale("shop/worker/web", 187)
			w.scale("shop/api", 187)
			w.ticks(3)
			declared := w.entries(t)
			w.leftBy(t, c.before)
			if c.now != c.before {
				w.write(c.now)
			} else {
				for range 40 { // entries retire after two hours
					report, err := w.Tick()
					if says := (err != nil) && strings.Contains(err.Error(), c.fails); says != (c.fails != "") || (err != nil) != says {
						t.Fatalf("error %v", err)
					}
					w.Now = w.Now.Add(period)
					w.isFrozen(t, report, c.fails == "")
				}
				w.write(c.now + kinds)
			}
			for range c.waits {
				report, err := w.Tick()
				must(t, err)
				w.isFrozen(t, report, true)
				w.Now = w.Now.Add(period)
			}
			if now := w.entries(t); !maps.Equal(now, declared) {
				t.Fatalf("declared %v, before %v", now, declared)
			}
			w.scale("shop/worker/web", 430)
			w.ticks(2)
			if got := w.entries(t)[id("shop/worker/web")].Replicas; got != 450 {
				t.Errorf("it is declared with %d", got)
			}
		})
	}
}

// leftBy writes the state of a gitlatch that read the kinds from the Config, with a
// policy that does not list them.
func (w *world) leftBy(t *testing.T, source string) {
	t.Helper()
	w.write(source)
	tip, _, _ := w.Repository.Heads(t.Context())
	objects, err := w.Repository.Read(t.Context(), tip, nil, "gitlatch.yaml")
	must(t, err)
	head := w.head(t)
	head.Agreed.Tip, head.Agreed.Policy, head.Agreed.PolicySource = tip, objects["gitlatch.yaml"].ID, []byte(source)
	head.Agreed.PolicyFile = "gitlatch.yaml"
	lease, err := w.Store.Acquire(t.Context(), site, "before", w.Now, w.Now.Add(time.Minute))
	must(t, err)
	err = w.Store.Save(t.Context(), lease, head, nil, nil)
	must(t, err)
	must(t, w.Store.Release(t.Context(), lease))
}

func (w *world) write(policy string) {
	w.Repository.Edit("policy", w.Now, map[string][]byte{"gitlatch.yaml": []byte(policy)})
}

// isFrozen checks that a worker has its entry, and is frozen if the tick was complete.
func (w *world) isFrozen(t *testing.T, r tick.Report, whole bool) {
	t.Helper()
	frozen := slices.ContainsFunc(r.Decisions, func(d policy.Decision) bool {
		return d.ID == id("shop/worker/web") && d.Verdict == policy.Frozen && d.Reason == policy.ReasonUnread
	})
	if entry := w.entries(t)[id("shop/worker/web")]; entry == (checkpoint.Entry{}) || frozen != whole {
		t.Fatalf("entry %+v, decisions %v", entry, r.Decisions)
	}
}

// A tick reports its changes in the order of workload.Compare, also the removals of entries
// under the old name of a kind.
func TestRemovalsOfARenamedKindAreInOrder(t *testing.T) {
	t.Parallel()
	const kinds = "kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers}]\n"
	w := newWorld(map[string]string{"gitlatch.yaml": latching + kinds})
	w.scale("pay/worker/web", 87)
	w.scale("shop/web", 87)
	w.ticks(3)
	w.write(latching + strings.Replace(kinds, "workers", "workers, name: job", 1))
	w.ticks(1)
	delete(w.Fleet, id("pay/worker/web"))
	w.scale("pay/job/web", 430)
	w.scale("shop/web", 430)
	w.ticks(1)
	report, err := w.Tick()
	must(t, err)
	if report.Commit == nil {
		t.Fatal("no commit")
	}
	changed := lists.Map(report.Commit.Changes, func(d policy.Decision) string { return d.ID.String() })
	if want := []string{"pay/job/web", "pay/worker/web", "shop/deployment/web"}; !slices.Equal(changed, want) {
		t.Errorf("changes of %v, want %v", changed, want)
	}
}
