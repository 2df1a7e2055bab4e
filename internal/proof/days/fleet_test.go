package days

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

var start = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

const latching = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"

// A member is a workload, and the week that it repeats.
type member struct {
	id   workload.ID
	life simulate.Life
	lag  int // its delay in samples behind another workload with the same week
}

// newFleet makes n workloads from simulated weeks, one after the other.
func newFleet(n int, lives []simulate.Life) (all []member) {
	for i := range n {
		life, copies := lives[i%len(lives)], i/len(lives)
		id := life.ID
		id.Namespace = fmt.Sprintf("%s-%d", id.Namespace, i/200)
		all = append(all, member{id: id, life: life, lag: copies * 7})
	}
	return all
}

// seen returns the sample of a tick.
type seen struct {
	fleet []member
	look  int
	at    time.Time
}

func (s seen) Sample(context.Context, workload.Kinds) (workload.Fleet, error) {
	f := workload.Fleet{Site: "prod", Cluster: "uid-blue", At: s.at}
	for _, m := range s.fleet {
		f.Samples = append(f.Samples, m.sample(s.look))
	}
	return f, nil
}

func (m member) sample(look int) workload.Sample {
	l := m.life.Looks[(look+m.lag)%len(m.life.Looks)]
	s := workload.Sample{ID: m.id, Rollout: &workload.Rollout{Desired: l.Desired}, Scale: &workload.Scale{
		Desired: l.Desired, Ready: l.Ready, Driver: m.life.Driver, Min: m.life.Min, Max: m.life.Max, Target: m.life.Target, Load: l.Load,
	}}
	if l.Demand > 0 {
		s.Scale.Demand = &l.Demand
	}
	if !l.InFlight() {
		return s
	}
	template := func(revision int, pods, available int32) workload.Template {
		hash := fmt.Sprintf("v%d", revision)
		return workload.Template{Hash: hash, Images: map[string]string{"app": "app:" + hash}, Desired: pods, Available: available}
	}
	s.Rollout.InFlight = true
	s.Rollout.Templates = []workload.Template{
		template(l.Revision, l.Updated, min(l.Updated, max(0, l.Ready-l.Old))), template(l.Revision-1, l.Old, min(l.Old, l.Ready)),
	}
	return s
}

const (
	period    = 5 * time.Minute
	dayLooks  = int(24 * time.Hour / period)
	workloads = 1000
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
