package repo

import (
	"fmt"
	"sync"
)

// Turns serializes the use of a repository. The zero value is ready to use.
type Turns struct{ mu sync.Mutex }

// Take waits for a turn and returns a function that ends it. The function wraps a non-nil
// *err in the description of the operation:
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
