package checkpoint

import "github.com/gitlatch/gitlatch/internal/workload"

// An Entry is what git declares of one workload. The zero value declares
// nothing; an entry in git never is zero. Entries compare with ==.
type Entry struct {
	Replicas int32 // the declared level, in pods; never 0 in git

	// Min and Max are the autoscaler's bounds in pods as they were accepted;
	// 0 is no bound. Live bounds that differ are a mismatch.
	Min, Max int32
}

// A Change takes one entry from what a decision saw to what it wants; nil is no
// entry.
type Change struct {
	ID       workload.ID
	From, To *Entry
}
