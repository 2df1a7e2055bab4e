package history

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// lookedBack is the maximum number of commits that Last searches.
const lookedBack = 1000

// A Version is a file at a commit.
type Version struct {
	Commit string // "" if Last found no version
	repo.Object
}

// Gone returns a text for users: the branch lacks its policy file, and the version that
// is used instead. The receiver is the result of Last.
func (v Version) Gone(file string) string {
	const do = "restore the file, or correct repository.policyFile. To stop gitlatch, commit the file with mode: observe"
	if v.Commit == "" {
		return fmt.Sprintf("the branch has no %s, and its last %d commits had none: the defaults are used, with mode: observe; %s", file, lookedBack, do)
	}
	return fmt.Sprintf("%s is gone from the branch: its last version is used, of commit %s; %s", file, v.Commit, do)
}

// Last returns the last version of a file that the tip of a branch lacks: the file at the
// commit that the branch had before the file was removed. It returns the zero Version if
// it found no version.
//
// Last reads commits 1, 3, 7, 15 and so on before the tip, then halves the gap between
// the last commit without the file and the first with it. It can miss a file that existed
// for fewer commits than the gap.
func Last(ctx context.Context, r Repository, tip, file string) (Version, error) {
	w := walk{repository: r, query: Query{Commits: lookedBack}, tip: tip, commits: map[string]repo.LogEntry{}}
	chain := []string{tip} // the branch's own commits that are known so far
	lacks := 0             // the index in chain of a commit without the file
	at := 0
	var found Version
	for step := 1; found.ID == ""; step *= 2 {
		for len(chain) <= lacks+step {
			c, known, err := w.commit(ctx, chain[len(chain)-1])
			if err != nil {
				return Version{}, err
			}
			if !known || len(c.Parents) == 0 {
				break
			}
			chain = append(chain, c.Parents[0])
		}
		at = min(lacks+step, len(chain)-1)
		if at == lacks {
			return Version{}, nil
		}
		var err error
		if found, err = version(ctx, r, chain[at], file); err != nil {
			return Version{}, err
		}
		if found.ID == "" {
			lacks = at
		}
	}
	for at-lacks > 1 {
		middle := (at + lacks) / 2
		switch tried, err := version(ctx, r, chain[middle], file); {
		case err != nil:
			return Version{}, err
		case tried.ID == "":
			lacks = middle
		default:
			at, found = middle, tried
		}
	}
	return found, nil
}

func version(ctx context.Context, r Repository, commit, file string) (Version, error) {
	objects, err := r.Read(ctx, commit, nil, file)
	return Version{commit, objects[file]}, err
}
