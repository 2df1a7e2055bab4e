// Package repotest tests the contract of [repo.Repository]. Every adapter runs the tests
// on a real git repository.
package repotest

import (
	"context"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// A Fixture is one repository, and an adapter for it.
type Fixture struct {
	// Origin is the bare repository that the adapter reads and writes, directly or
	// through a server.
	Origin *gitserver.Origin
	// Open returns an adapter for the branch main. Adapters share no state.
	Open func(t *testing.T) repo.Repository
	// Refuse makes the repository refuse every further push, with this message.
	Refuse func(t *testing.T, words string)
	// ServerCommits is true if the server makes the commits. It then sets their times,
	// and writes its own form of trees.
	ServerCommits bool
}

// Setup makes a fixture. Its branch main has one commit with the files. With nil files,
// the branch does not exist.
type Setup func(t *testing.T, files map[string]string) Fixture

// Run runs the tests.
func Run(t *testing.T, setup Setup) {
	for name, test := range map[string]func(*testing.T, Setup){
		"tip":                               tip,
		"tip of no branch":                  tipOfNoBranch,
		"heads of other branches":           otherHeads,
		"read files and directories":        readPaths,
		"read known objects":                readKnown,
		"read an older commit":              readOlder,
		"read refuses links and pointers":   readUnsafe,
		"read refuses bad arguments":        readBadArguments,
		"read of some files of a directory": readWithin,
		"read notes oversized content":      readHostile,
		"history":                           history,
		"history through merges":            historyThroughMerges,
		"history of a long branch":          historyLong,
		"new commits":                       between,
		"new commits through merges":        betweenMerges,
		"new commits on a long branch":      betweenLong,
		"commit changes the named files":    commitChanges,
		"commit keeps a file's mode":        commitKeepsModes,
		"commit keeps odd trees as is":      commitKeepsOddTrees,
		"commit refuses links":              commitUnsafe,
		"commit reports author and time":    commitHeader,
		"commit twice is one commit":        commitTwice,
		"commit on a stale parent":          commitStale,
		"commit on a branch that is gone":   commitGone,
		"commit is refused":                 commitRefused,
		"a branch is made for a proposal":   branchMade,
		"a proposal is rebuilt":             branchRebuilt,
		"a branch that is not as expected":  branchMoved,
		"a proposal's commit made twice":    branchTwice,
		"a branch without a proper name":    branchUnnamed,
		"racing writers all land":           racers,
		"a deadline is honoured":            deadline,
		"read sees its own commit at once":  readOwn,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup)
		})
	}
}

// within returns a context whose deadline only ends a test that hangs: a busy machine is slow.
func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func mustTip(t *testing.T, r repo.Repository) string {
	t.Helper()
	tip, _, err := r.Heads(within(t))
	if err != nil {
		t.Fatalf("tip: %v", err)
	}
	return tip
}

func mustRead(t *testing.T, r repo.Repository, commit string, known map[string]string, paths ...string) map[string]repo.Object {
	t.Helper()
	found, err := r.Read(within(t), commit, known, paths...)
	if err != nil {
		t.Fatalf("read %v: %v", paths, err)
	}
	if len(found) != len(paths) {
		t.Fatalf("read %v: got %d answers", paths, len(found))
	}
	return found
}

// change returns a commit on a parent at a fixed time. It removes files with the content
// gitserver.Removed.
func change(parent string, files map[string]string) repo.Commit {
	c := repo.Commit{
		Parent:  parent,
		Files:   map[string][]byte{},
		Message: "latch(site): one level\n\nGitlatch-Intent: 1\n",
		When:    time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	}
	for path, content := range files {
		c.Files[path] = []byte(content)
		if content == gitserver.Removed {
			c.Files[path] = nil
		}
	}
	return c
}

func mustCommit(t *testing.T, r repo.Repository, c repo.Commit) string {
	t.Helper()
	id, err := r.Commit(within(t), c)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return id
}
