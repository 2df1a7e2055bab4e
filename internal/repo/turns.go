package repo

import (
	"fmt"
	"sync"
)

// Turns lets those who use a repository take turns. The zero value is ready.
type Turns struct{ mu sync.Mutex }

// Take waits for a turn and returns what ends it. An error is then wrapped in
// what was being done:
//
//	defer r.turns.Take(&err, "read %s", r)()
func (t *Turns) Take(err *error, doing string, args ...any) (end func()) {
	t.mu.Lock()
	return func() {
		t.mu.Unlock()
		if *err != nil {
			*err = fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), *err)
		}
	}
}
