package policy_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/policy"
)

func TestManyRemovedEntries(t *testing.T) {
	t.Parallel()
	g := policy.DefaultSet().Guards
	for name, c := range map[string]struct {
		removed int
		file    bool
		entries int
		want    bool
	}{
		"all":                                {40, false, 40, true},
		"three over the share":               {3, false, 29, true},
		"three at the share":                 {3, false, 30, false},
		"two are an opt-out":                 {2, false, 4, false},
		"a file of one":                      {1, true, 4, true},
		"a file of one, at the share":        {1, true, 10, false},
		"a file of none that is in use":      {0, true, 4, false},
		"a share that is no binary fraction": {7, false, 70, false},
	} {
		if got := policy.ManyRemoved(g, c.removed, c.file, c.entries); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
