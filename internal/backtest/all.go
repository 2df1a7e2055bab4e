package backtest

import (
	"context"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"
)

// TryAll runs candidates over a past that was checked. It runs one for each processor at
// a time, and returns their results in the order of the candidates. It calls done after
// each candidate with the number of finished candidates, and never concurrently. The
// error is the error of the context.
func TryAll(ctx context.Context, past *Past, candidates []Candidate, o Options, done func(int)) ([]Result, error) {
	results := make([]Result, len(candidates))
	o.Stop = func() bool { return ctx.Err() != nil }
	var mutex sync.Mutex
	finished := 0
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range candidates {
		group.Go(func() error {
			results[i], _ = Try(past, c, o)
			mutex.Lock()
			defer mutex.Unlock()
			finished++
			done(finished)
			return ctx.Err()
		})
	}
	return results, group.Wait()
}
