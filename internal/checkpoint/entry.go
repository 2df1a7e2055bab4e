package checkpoint

import (
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Entry is what git declares of one workload. The zero value declares
// nothing; an entry in git never is zero. Entries compare with ==.
type Entry struct {
	Replicas int32 `json:"replicas,omitzero"` // the declared level, in pods; never 0 in git

	// Min and Max are the autoscaler's bounds in pods as they were accepted;
	// 0 is no bound. Live bounds that differ are a mismatch.
	Min int32 `json:"min,omitzero"`
	Max int32 `json:"max,omitzero"`

	// Rollout is the rollout in flight; zero where none is.
	Rollout Rollout `json:"rollout,omitzero"`
}

// A Change takes one entry from what a decision saw to what it wants; nil is
// no entry. Where both are the same it changes no fact, and has the files of
// the namespace written anew.
type Change struct {
	ID   workload.ID `json:"id"`
	From *Entry      `json:"from,omitzero"`
	To   *Entry      `json:"to,omitzero"`
}

// maxKey is how long a key of a ConfigMap may be.
const maxKey = 253

// Fits says why a record cannot hold an entry for the workload; nil where it
// can. A name that is fine for the workload may be too long for a key.
func Fits(id workload.ID) error {
	if err := id.Validate(); err != nil {
		return err
	}
	if !id.Kind.Scales() {
		return fmt.Errorf("workload %q: kind %q has no replicas that a record could declare", id, id.Kind)
	}
	if n := len(key(id, suffixMax)); n > maxKey {
		return fmt.Errorf("workload %q: name is %d characters too long for a key of the record", id, n-maxKey)
	}
	return nil
}

// valid says why an entry cannot be written, since it would not read back.
func (e Entry) valid() error {
	switch {
	case e.Replicas < 1:
		return errors.New("declares no replicas")
	case e.Min < 0 || e.Max < 0 || e.Max != 0 && e.Min > e.Max:
		return errors.New("has impossible bounds")
	}
	return nil
}

// The keys of an entry: kind "." name is the level, and the suffixes are its
// other facts. Names hold no underscore, so that a key reads one way only.
const (
	suffixMax = "_max"
	suffixMin = "_min"
)

func key(id workload.ID, suffix string) string {
	return string(id.Kind) + "." + id.Name + suffix
}
