package checkpoint

import (
	"errors"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An Entry is what git declares of one workload. The zero value declares
// nothing, and stands for no entry: one in git never is zero. Entries compare
// with ==.
type Entry struct {
	// Replicas is the declared level, in pods; 0 is none, as where only a rollout
	// is declared.
	Replicas int32 `json:"replicas,omitzero"`

	// Min and Max are the autoscaler's bounds in pods as they were accepted;
	// 0 is no bound. Live bounds that differ are a mismatch.
	Min int32 `json:"min,omitzero"`
	Max int32 `json:"max,omitzero"`

	// Rollout is the rollout in flight; zero where none is.
	Rollout Rollout `json:"rollout,omitzero"`
}

// IsZero reports whether it is no entry.
func (e Entry) IsZero() bool { return e == Entry{} }

// A Change takes one entry from what a decision saw to what it wants; zero is
// no entry. Where both are the same it changes no fact, and has the files of
// the namespace written anew.
type Change struct {
	ID   workload.ID `json:"id"`
	From Entry       `json:"from,omitzero"`
	To   Entry       `json:"to,omitzero"`
}

// maxKey is how long a key of a ConfigMap may be.
const maxKey = 253

// Fits says why a record cannot hold an entry for the workload; nil where it
// can. A name that is fine for the workload may be too long for a key.
func Fits(id workload.ID) error {
	if err := id.Validate(); err != nil {
		return err
	}
	return fitsKey(id, suffixMax)
}

// fitsKey says by how much the key of a fact is too long.
func fitsKey(id workload.ID, suffix string) error {
	if n := len(key(id, suffix)); n > maxKey {
		return fmt.Errorf("workload %q: name is %d characters too long for a key of the checkpoint file, %s", id, n-maxKey, "kind.name"+suffix)
	}
	return nil
}

// WithScale returns the entry with the level and the bounds of another.
func (e Entry) WithScale(of Entry) Entry {
	of.Rollout = e.Rollout
	return of
}

// WithRollout returns the entry with another rollout; zero is none.
func (e Entry) WithRollout(r Rollout) Entry {
	e.Rollout = r
	return e
}

// valid says why an entry of a workload cannot be written, since it would not
// read back.
func (e Entry) valid(id workload.ID) error {
	back := newDraft(id.Namespace, anyKind)
	for _, suffix := range e.suffixes() {
		written, _ := e.fact(suffix)
		value, err := back.fact(key(id, suffix))
		fact, _ := value.(strict.Scalar)
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

// FitsRollout says why a record cannot hold a rollout of the workload; nil
// where it can. The zero value, which is no rollout, always fits.
func FitsRollout(id workload.ID, r Rollout) error {
	if r == (Rollout{}) {
		return nil
	}
	return Entry{Rollout: r}.valid(id)
}

func key(id workload.ID, suffix string) string {
	return string(id.Kind) + "." + id.Name + suffix
}
