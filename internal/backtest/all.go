package backtest

import (
	"context"
	"sync"
)

// TryAll runs candidates over a past that was checked, several at once, and
// returns their results in the order of the candidates. done, which may be nil, is
// called after each with how many are done, never twice at once. The error is that
// of a context which ended.
func TryAll(ctx context.Context, past *Past, candidates []Candidate, o Options, workers int, done func(int)) ([]Result, error) {
	results := make([]Result, len(candidates))
	next := make(chan int)
	stop := o.Stop
	o.Stop = func() bool { return ctx.Err() != nil || stop != nil && stop() }
	var group sync.WaitGroup
	var mutex sync.Mutex
	finished := 0
	for range max(1, workers) {
		group.Go(func() {
			for i := range next {
				results[i], _ = Try(past, candidates[i], o)
				mutex.Lock()
				if finished++; done != nil {
					done(finished)
				}
				mutex.Unlock()
			}
		})
	}
	for i := range candidates {
		next <- i
	}
	close(next)
	group.Wait()
	return results, ctx.Err()
}
