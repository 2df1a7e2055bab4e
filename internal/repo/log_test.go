package repo_test

import (
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// m is a merge of a and b, which both have the parent root. The parent lost of shallow is
// not in the repository.
var merged = past{"m": {"a", "b"}, "a": {"root"}, "b": {"root"}, "root": nil, "shallow": {"lost"}}

func TestALogSaysWhereItEnds(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		from, until string
		limit       int
		want        []string
		end         repo.End
	}{
		"all there is, each once, by distance":   {"m", "", 9, []string{"m", "a", "b", "root"}, repo.AtRoots},
		"the commit looked for":                  {"m", "a", 9, []string{"m", "a"}, repo.AtGoal},
		"as many as are asked for":               {"m", "", 2, []string{"m", "a"}, repo.AtGoal},
		"as many as there are":                   {"m", "", 4, []string{"m", "a", "b", "root"}, repo.AtRoots},
		"the last commit is the one looked for":  {"m", "root", 9, []string{"m", "a", "b", "root"}, repo.AtRoots},
		"a commit that is not at hand":           {"shallow", "", 9, []string{"shallow"}, repo.AtGap},
		"none is at hand, and none is looked up": {"lost", "", 9, nil, repo.AtGap},
	} {
		log, end, err := repo.Log(tt.from, tt.until, tt.limit, merged.look)
		var got []string
		for _, c := range log {
			got = append(got, c.ID)
		}
		if err != nil || end != tt.end || !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v ends at %v, %v; want %v and %v", name, got, end, err, tt.want, tt.end)
		}
	}
}
