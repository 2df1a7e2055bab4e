package cli

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A hint follows from the reason of an error, also below other errors.
func TestHintsFollowFromTheReason(t *testing.T) {
	t.Parallel()
	const irregular = "commit a regular file or folder in its place. gitlatch follows no symlink, submodule or Git LFS pointer"
	refused := &repo.RefusedError{Why: "main is protected"}
	for _, c := range []struct {
		err  error
		want []string
	}{
		{&repo.UnsafeError{Path: "a", Why: "is a symlink"}, []string{irregular}},
		{&repo.UnsafeError{Path: "a", Why: repo.Missing}, nil},
		{&repo.UnsafeError{Path: "a", Why: repo.TooLarge}, nil},
		{refused, []string{refused.Remedy()}},
	} {
		err := fmt.Errorf("tick: %w", c.err)
		if got := hintsOf(err); !slices.Equal(got, c.want) {
			t.Errorf("%v: the hints are %q, want %q", err, got, c.want)
		}
	}
}
