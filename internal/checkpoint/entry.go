package checkpoint

import (
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// An Entry is the state of one workload in git. The zero value is an absent entry: an
// entry in git is never zero. Entries compare with ==.
type Entry struct {
	// Replicas is the level, in pods; 0 if the entry has only a rollout.
	Replicas int32 `json:"replicas,omitzero"`

	// Min and Max are the accepted minimum and maximum replicas of the autoscaler; 0 if
	// there is no limit. Live values that differ are a mismatch.
	Min int32 `json:"min,omitzero"`
	Max int32 `json:"max,omitzero"`

	// Rollout is the rollout in flight; zero if there is none.
	Rollout Rollout `json:"rollout,omitzero"`
}

// IsZero reports whether the entry is absent.
func (e Entry) IsZero() bool { return e == Entry{} }

// A Change changes one entry from the value that a decision saw to the value that it
// wants; a zero Entry is an absent entry. If both are equal, the change alters no fact,
// and Merge writes the files of the namespace again.
type Change struct {
	ID   workload.ID `json:"id"`
	From Entry       `json:"from,omitzero"`
	To   Entry       `json:"to,omitzero"`
}

// maxKey is the maximum length of a key of a ConfigMap.
const maxKey = 253

// Fits returns an error if a checkpoint file cannot have an entry for the workload. A
// valid name of a workload may be too long for a key.
func Fits(id workload.ID) error {
	if err := id.Validate(); err != nil {
		return err
	}
	return fitsKey(id, suffixMax)
}

// fitsKey returns an error if the key of a fact is too long.
func fitsKey(id workload.ID, suffix string) error {
	if n := len(key(id, suffix)); n > maxKey {
		return fmt.Errorf("workload %q: name is %d characters too long for a key of the checkpoint file, %s", id, n-maxKey, "kind.name"+suffix)
	}
	return nil
}

// WithScale returns the entry with the level, minimum and maximum of another.
func (e Entry) WithScale(of Entry) Entry {
	of.Rollout = e.Rollout
	return of
}

// WithRollout returns the entry with another rollout; zero removes it.
func (e Entry) WithRollout(r Rollout) Entry {
	e.Rollout = r
	return e
}

// valid returns an error if an entry cannot be written, because ParseRecord would not
// return the same entry.
func (e Entry) valid(id workload.ID) error {
	back := newDraft(id.Namespace, anyKind)
	for _, suffix := range e.suffixes() {
		written, _ := e.fact(suffix)
		value, err := back.fact(key(id, suffix))
		fact, _ := value.(yamldoc.Scalar)
		if err == nil && !fact.Fits(written.Holds) {
			err = fmt.Errorf("must be %s, got %q", fact.Must, written.Holds)
		}
		if err == nil {
			err = fact.Take(written.Holds)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key(id, suffix), err)
		}
	}
	switch {
	case e.IsZero():
		return errors.New("has no level")
	case e.Replicas == 0 && (e.Min != 0 || e.Max != 0):
		return errors.New("has min or max without a level")
	case e.Max != 0 && e.Min > e.Max:
		return errors.New("has a minimum above its maximum")
	case e.Rollout != Rollout{} && e.Rollout.From.Hash == e.Rollout.To.Hash:
		return fmt.Errorf("both templates are %s", e.Rollout.To.Hash)
	case back.record.Entries[id] != e:
		return errors.New("images must be container=image, sorted by container, separated by spaces")
	}
	return nil
}

// FitsRollout returns an error if a checkpoint file cannot have a rollout of the
// workload. The zero value always fits.
func FitsRollout(id workload.ID, r Rollout) error {
	if r == (Rollout{}) {
		return nil
	}
	return Entry{Rollout: r}.valid(id)
}

func key(id workload.ID, suffix string) string {
	return string(id.Kind) + "." + id.Name + suffix
}
