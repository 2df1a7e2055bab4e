package dynamo

import "time"

// Hasty returns a Store that hardly waits for a throttled table.
func Hasty(o Options) *Store {
	s := Open(o)
	s.gap = time.Millisecond
	return s
}
