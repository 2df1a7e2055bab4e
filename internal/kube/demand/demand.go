// Package demand measures the load of workloads with external sources. The samples get
// the measured demand. If a source fails, the demand of its workloads is unknown, and the
// sample of the cluster succeeds.
package demand

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Sampler samples a cluster.
type Sampler interface {
	Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error)
}

// A Source measures the demand of some workloads.
type Source interface {
	// Name returns the name of the source for users, the same each time: "Prometheus
	// prometheus.example.com".
	Name() string
	// Measure returns the demand of each workload as of an instant, in a unit of the
	// source's choice. The map omits unknown demand, and the error gives the reason.
	Measure(ctx context.Context, at time.Time) (map[workload.ID]float64, error)
}

// answerWithin is the timeout of all sources together. A later answer is worth less than
// the tick that waits for it.
const answerWithin = 10 * time.Second

// measured is a sampler that also measures demand.
type measured struct {
	Sampler
	sources []Source
}

// Measured returns a sampler that adds the demand from the sources to the samples of s;
// without sources it returns s.
func Measured(s Sampler, sources ...Source) Sampler {
	if len(sources) == 0 {
		return s
	}
	return measured{s, sources}
}

// Sample samples the cluster, then queries all sources concurrently. See Sampler.
func (m measured) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	fleet, err := m.Sampler.Sample(ctx, kinds)
	if err != nil {
		return fleet, err
	}
	within, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var mu sync.Mutex
	demand := map[workload.ID]float64{}
	var asked sync.WaitGroup
	for _, source := range m.sources {
		asked.Go(func() {
			found, err := source.Measure(within, fleet.At)
			mu.Lock()
			defer mu.Unlock()
			for id, of := range found {
				if _, looked := kinds.Object(id.Kind); !looked {
					err = errors.Join(err, none(id, "gitlatch does not sample its kind. Add %s to kinds of the policy", id.Kind))
				}
				demand[id] = of
			}
			if err != nil {
				fleet.Unmeasured = append(fleet.Unmeasured, workload.Unread{Part: source.Name(), Why: sanitize.Words(err.Error())})
			}
		})
	}
	asked.Wait()
	slices.SortFunc(fleet.Unmeasured, func(a, b workload.Unread) int { return cmp.Compare(a.Part, b.Part) })
	fill(fleet.Samples, demand)
	return fleet, ctx.Err()
}

// Closed returns a source that could not be opened. Its Measure returns why.
func Closed(name string, why error) Source { return closed{name, why} }

type closed struct {
	name string
	why  error
}

func (c closed) Name() string { return c.name }

func (c closed) Measure(context.Context, time.Time) (map[workload.ID]float64, error) {
	return nil, c.why
}

// fill adds demand to the samples. It copies the scale of each changed sample.
func fill(samples []workload.Sample, demand map[workload.ID]float64) {
	for i, s := range samples {
		of, known := demand[s.ID]
		if !known || s.Scale == nil {
			continue
		}
		scale := *s.Scale
		scale.Demand = &of
		samples[i].Scale = &scale
	}
}

// none returns the error of a source that answered without a number for a workload.
func none(id workload.ID, format string, args ...any) error {
	return fmt.Errorf("of %s: %s", id.Short(), fmt.Sprintf(format, args...))
}
