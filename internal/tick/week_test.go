//go:build long

package tick_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

// A week of 200 ordinary workloads raises no alert, once its workloads have existed for
// a day. Some samples are partial.
func TestAQuietWeekRaisesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	lives := simulate.Week(traces.Seed, period)
	if len(lives) != 200 {
		t.Fatalf("%d workloads", len(lives))
	}
	w.Now = time.Date(2026, 9, 13, 0, 0, 0, 0, time.UTC)
	kept := &shelf{}
	w.Store = kept
	began := w.Now
	for look := range lives[0].Looks {
		for i, life := range lives {
			w.Fleet[life.ID] = seenIn(life, look, (look+7*i)%1009 == 0)
		}
		if w.Unread = nil; look%911 == 500 {
			w.Unread = []workload.Unread{{Part: "horizontalpodautoscalers", Why: "the server is busy"}}
		}
		report, err := w.Tick()
		if err != nil {
			t.Fatal(err)
		}
		if w.Now.Sub(began) < simulate.Known {
			w.Sent = nil
		}
		for _, c := range report.Conditions {
			if w.Now.Sub(began) >= simulate.Known && c.Kind.Anomaly() {
				t.Errorf("%s: %s %s: %s", w.Now.Format("Mon 15:04"), c.Kind, c.Subject, c.Text)
			}
		}
		if t.Failed() {
			return
		}
		w.Now = w.Now.Add(period)
	}
	// The memory of the watch is written only after an event: for each workload some
	// times a day, not at each of its 288 samples.
	if most := len(lives) * len(lives[0].Looks) / 100; kept.watched > most || kept.watched == 0 {
		t.Errorf("%d writes of latches for what is watched alone, %d for what else there is", kept.watched, kept.written-kept.watched)
	}
	t.Logf("%d writes of latches, of them %d for what is watched alone", kept.written, kept.watched)
	for _, a := range w.Sent {
		if a.Kind != alert.Unread {
			t.Errorf("sent %s", a.Headline())
		}
	}
}

// A shelf stores the state as values. Encoding the states of a week, and decoding them in
// each tick, would take longer than all judgements.
type shelf struct {
	lease   latch.Lease
	head    latch.Head
	latches map[workload.ID]latch.Latch
	// written counts the written latches. watched counts those in which only the watch
	// state changed.
	written, watched int
}

func (l *shelf) Acquire(_ context.Context, _, owner string, now, until time.Time) (lease latch.Lease, err error) {
	lease, err = l.lease.Next(owner, now, until)
	l.lease = lease
	return lease, err
}

func (l *shelf) Head(context.Context, string) (latch.Head, error) { return l.head, nil }

func (l *shelf) Latches(context.Context, string) (map[workload.ID]latch.Latch, error) {
	all := map[workload.ID]latch.Latch{}
	maps.Copy(all, l.latches)
	return all, nil
}

func (l *shelf) Save(_ context.Context, _ latch.Lease, head latch.Head, put []latch.Latch, drop []workload.ID) error {
	if l.latches == nil {
		l.latches = map[workload.ID]latch.Latch{}
	}
	for i := range put {
		l.written++
		if was, rest := l.latches[put[i].ID], put[i]; put[i].Rev > 0 {
			if rest.Watch = was.Watch; rest.Equal(was) {
				l.watched++
			}
		}
		put[i].Rev++
		l.latches[put[i].ID] = put[i]
	}
	for _, id := range drop {
		delete(l.latches, id)
	}
	l.head = head
	return nil
}

func (l *shelf) Release(context.Context, latch.Lease) error {
	l.lease.Owner = ""
	return nil
}

// seenIn returns the sample of a life at an index; a stale sample has a late status.
func seenIn(life simulate.Life, look int, stale bool) workload.Sample {
	if stale {
		return workload.Sample{ID: life.ID, Unknown: "generation 7 is not observed yet"}
	}
	l := life.Looks[look]
	s := sampleOf(life.Workload, l.State)
	if s.Scale.Load = l.Load; l.Demand > 0 {
		s.Scale.Demand = &l.Demand
	}
	return s
}

// sampleOf returns a sample of a workload of a trace.
func sampleOf(of traces.Workload, l traces.State) workload.Sample {
	s := workload.Sample{ID: of.ID, Rollout: &workload.Rollout{Desired: l.Desired}, Scale: &workload.Scale{
		Desired: l.Desired, Ready: l.Ready, Driver: of.Driver, Min: of.Min, Max: of.Max, Target: of.Target,
	}}
	if l.Note == traces.Blind {
		s.Scale.Blind = "ScalingActive is False: FailedGetResourceMetric"
	}
	if l.InFlight() {
		template := func(revision int, pods, available int32) workload.Template {
			hash := fmt.Sprintf("v%d", revision)
			return workload.Template{Hash: hash, Images: map[string]string{"app": "app:" + hash}, Desired: pods, Available: available}
		}
		s.Rollout.InFlight = true
		s.Rollout.Templates = []workload.Template{
			template(l.Revision, l.Updated, min(l.Updated, max(0, l.Ready-l.Old))), template(l.Revision-1, l.Old, min(l.Old, l.Ready)),
		}
		s.Rollout.Templates[1].ImagesOnly = true
	}
	if l.Note == traces.Stuck {
		s.Rollout.Failure = "ProgressDeadlineExceeded"
	}
	return s
}

// The recorded day and the day before it send few alerts: the surges of two batch jobs, and
// the mass drop of the failed edge.
func TestTheRecordedDayIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"})
	w.Store = &shelf{}
	day, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for at := time.Duration(0); at < day.Length; at += period {
		for i, of := range day.Workloads {
			w.Fleet[of.ID] = sampleOf(of, day.At(i, at))
		}
		w.Now, w.Sent = day.Start.Add(at), nil
		if _, err := w.Tick(); err != nil {
			t.Fatal(err)
		}
		for _, a := range w.Sent {
			told = append(told, w.Now.Format("Mon 15:04 ")+strings.Replace(a.Headline(), " gitlatch prod:", "", 1))
		}
	}
	want := []string{
		"Tue 02:00 [warning] surge data/deployment/nightly-import",
		"Tue 11:25 [warning] surge data/deployment/price-refresh",
		"Wed 13:50 [critical] mass drop, 35 of 89 workloads lost half of their pods",
		"Wed 14:35 [resolved] mass drop, 35 of 89 workloads lost half of their pods",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
}
