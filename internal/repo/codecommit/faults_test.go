package codecommit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/codecommit"
	standin "github.com/gitlatch/gitlatch/internal/testenv/codecommit"
)

const proposed = "gitlatch/prod"

func edit(parent, path, content string) repo.Commit {
	return repo.Commit{
		Parent:  parent,
		Files:   map[string][]byte{path: []byte(content)},
		Message: "latch(prod): one level\n\nGitlatch-Intent: 1\n",
		When:    time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	}
}

func propose(expect string, c repo.Commit) repo.Commit {
	c.Branch, c.Expect = proposed, expect
	return c
}

func commit(t *testing.T, r repo.Repository, c repo.Commit) string {
	t.Helper()
	id, err := r.Commit(t.Context(), c)
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return id
}

func count(s *standin.Server, operation string) (n int) {
	for _, c := range s.Calls() {
		if c.Operation == operation {
			n++
		}
	}
	return n
}

func TestAQuietLookIsOneCall(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	if tip, _, err := open(t, s).Heads(t.Context()); err != nil || tip != o.Tip("main") {
		t.Fatal(tip, err)
	}
	if got := s.Calls(); len(got) != 1 || got[0].Operation != "GetBranch" || got[0].Branch != "main" {
		t.Errorf("calls are %v", got)
	}
}

// The adapter does not read an object twice. If one namespace of a site changed, it
// reads the folders on the path to that namespace and the one file.
func TestOnlyWhatChangedIsRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{"checkpoints/prod/site.yaml": "site"}
	for n := range 20 {
		files[fmt.Sprintf("checkpoints/prod/ns%02d.levels.yaml", n)] = fmt.Sprint(n)
	}
	s, o := shop(t, files)
	r := open(t, s)
	if _, err := r.Read(t.Context(), o.Tip("main"), nil, "checkpoints/prod"); err != nil {
		t.Fatal(err)
	}
	if folders, blobs := count(s, "GetFolder"), count(s, "GetBlob"); folders != 3 || blobs != 21 {
		t.Errorf("the first read is %d folders and %d blobs, want 3 and 21", folders, blobs)
	}
	moved := o.Push(t, "main", map[string]string{"checkpoints/prod/ns07.levels.yaml": "changed"}, "person")
	s.Reset()
	found, err := r.Read(t.Context(), moved, nil, "checkpoints/prod")
	if err != nil || string(found["checkpoints/prod"].Files["checkpoints/prod/ns07.levels.yaml"]) != "changed" {
		t.Fatal(found, err)
	}
	if folders, blobs := count(s, "GetFolder"), count(s, "GetBlob"); folders != 3 || blobs != 1 {
		t.Errorf("the second read is %d folders and %d blobs, want 3 and 1", folders, blobs)
	}
	known := map[string]string{"checkpoints/prod": found["checkpoints/prod"].ID}
	s.Reset()
	if _, err := open(t, s).Read(t.Context(), moved, known, "checkpoints/prod"); err != nil || len(s.Calls()) != 2 {
		t.Errorf("a known directory is read by %v, %v", s.Calls(), err)
	}
}

func TestACommitWhoseAnswerIsLostIsMadeOnce(t *testing.T) {
	t.Parallel()
	for _, operation := range []string{"CreateCommit", "CreateBranch", "DeleteBranch"} {
		s, o := shop(t, map[string]string{"a": "1", "b": "1"})
		r := open(t, s)
		base := o.Tip("main")
		if operation == "CreateCommit" {
			s.Fail(operation, standin.Unanswered)
			id := commit(t, r, edit(base, "a", "2"))
			if log := o.Log(t, "main"); o.Tip("main") != id || len(log) != 2 {
				t.Errorf("the base is at %s, its log %q", o.Tip("main"), log)
			}
			base = id
		}
		first := commit(t, r, propose("", edit(base, "a", "3")))
		moved := o.Push(t, "main", map[string]string{"b": "moved"}, "person")
		s.Fail(operation, standin.Unanswered, standin.Unanswered)
		second := commit(t, r, propose(first, edit(moved, "a", "4")))
		if got := o.Tip(proposed); got != second || o.Show(t, proposed, "a") != "4" {
			t.Errorf("%s unanswered: the branch is at %s, want %s", operation, got, second)
		}
	}
}

// A rival pushes after the commit landed and before the adapter checks its result.
func TestACommitBelowARivalsIsFound(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1", "b": "1"})
	c := edit(o.Tip("main"), "a", "2")
	s.Fail("CreateCommit", standin.Unanswered)
	s.Before("GetBranch", func() { o.Push(t, "main", map[string]string{"b": "rival"}, "rival") })
	id := commit(t, open(t, s), c)
	if o.Git(t, "rev-parse", "main^") != id || o.Show(t, "main", "a") != "2" || o.Show(t, "main", "b") != "rival" {
		t.Errorf("log is %q", o.Log(t, "main"))
	}
}

func TestThrottlingIsWaitedOut(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1"})
	r := open(t, s)
	s.Fail("GetFolder", standin.Throttled, standin.Throttled)
	s.Fail("CreateCommit", standin.Throttled, standin.Broken)
	id := commit(t, r, edit(o.Tip("main"), "a", "2"))
	if o.Tip("main") != id || count(s, "CreateCommit") != 3 {
		t.Errorf("the branch is at %s after %v", o.Tip("main"), s.Calls())
	}
}

func TestAFileThatIsTooLargeIsInNobodysWay(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"dir/large": strings.Repeat("x", 6<<20+1), "dir/small": "1"})
	r, tip := open(t, s), o.Tip("main")
	why := repo.TooLarge // for CodeCommit to hand out, too
	var unsafe *repo.UnsafeError
	if _, err := r.Read(t.Context(), tip, nil, "dir/large"); !errors.As(err, &unsafe) || *unsafe != (repo.UnsafeError{Path: "dir/large", Why: why}) {
		t.Errorf("got %v", err)
	}
	objects, err := r.Read(t.Context(), tip, nil, "dir")
	if o := objects["dir"]; err != nil || o.Unsafe["dir/large"] != why || string(o.Files["dir/small"]) != "1" {
		t.Errorf("got %q, %v, and %v", o.Files["dir/small"], o.Unsafe, err)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", 3<<20)
	for _, c := range []struct {
		name    string
		prepare func(s *standin.Server)
		do      func(ctx context.Context, r *codecommit.Repository, tip string) error
		want    string
		refused bool
	}{
		{"reading is not allowed", func(s *standin.Server) { s.Deny("GetBranch", "because no policy allows it") },
			heads, "not authorized to perform: codecommit:GetBranch", false},
		{"folders may not be read", func(s *standin.Server) { s.Deny("GetFolder", "because no policy allows it") },
			write("a", "2"), "not authorized to perform: codecommit:GetFolder", false},
		{"the branch is protected", func(s *standin.Server) { s.Deny("CreateCommit", "with an explicit deny") },
			write("a", "2"), "codecommit:CreateCommit on resource: arn:aws:codecommit:eu-west-1:111122223333:shop with an explicit deny", true},
		{"the server fails on and on", func(s *standin.Server) { s.Fail("CreateCommit", standin.Broken, standin.Broken, standin.Broken) },
			write("a", "2"), "InternalFailure", true},
		{"what became of it cannot be read", func(s *standin.Server) {
			s.Fail("CreateCommit", standin.Broken, standin.Broken, standin.Broken)
			s.Deny("GetBranch", "any more")
		}, write("a", "2"), "push may or may not have landed", false},
		{"nothing changes", nil, write("a", "1"), "nothing to commit", false},
		{"a file is too large", nil, write("a", strings.Repeat(big, 3)), "a has 9 MiB, and CodeCommit accepts at most 6", true},
		{"the files are too large", nil, write("a", big, "b", big, "c", big), "9 MiB together, and CodeCommit accepts at most 7", true},
		{"the message is too long", nil, func(ctx context.Context, r *codecommit.Repository, tip string) error {
			c := edit(tip, "a", "2")
			c.Message = strings.Repeat("x", 300<<10)
			_, err := r.Commit(ctx, c)
			return err
		}, "the message has 300 KiB, and CodeCommit accepts at most 256", true},
		{"no pull requests", func(s *standin.Server) { s.Deny("CreatePullRequest", "because no policy allows it") },
			ensure, "pull request was refused", true},
		{"no branches", func(s *standin.Server) { s.Deny("CreateBranch", "because no policy allows it") },
			ensure, "codecommit:CreateBranch", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, map[string]string{"a": "1"})
			if c.prepare != nil {
				c.prepare(s)
			}
			tip := o.Tip("main")
			err := c.do(t.Context(), open(t, s), tip)
			var refused *repo.RefusedError
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &refused) != c.refused || strings.Contains(err.Error(), "\n") {
				t.Errorf("the error is %v; want %q, refused %v", err, c.want, c.refused)
			}
			if o.Tip("main") != tip {
				t.Error("the branch moved all the same")
			}
		})
	}
	s := standin.Start(t)
	if err := heads(t.Context(), open(t, s), ""); err == nil || !strings.Contains(err.Error(), `repository "shop" does not exist in this account and Region`) || errors.Is(err, repo.ErrNoBranch) {
		t.Errorf("without the repository: %v", err)
	}
}

func heads(ctx context.Context, r *codecommit.Repository, _ string) error {
	_, _, err := r.Heads(ctx)
	return err
}

func write(pairs ...string) func(context.Context, *codecommit.Repository, string) error {
	return func(ctx context.Context, r *codecommit.Repository, tip string) error {
		c := edit(tip, pairs[0], pairs[1])
		for pair := range slices.Chunk(pairs, 2) {
			c.Files[pair[0]] = []byte(pair[1])
		}
		_, err := r.Commit(ctx, c)
		return err
	}
}

func ensure(ctx context.Context, r *codecommit.Repository, tip string) error {
	if _, err := r.Commit(ctx, propose("", edit(tip, "a", "2"))); err != nil {
		return err
	}
	_, err := r.Ensure(ctx, repo.Draft{Branch: proposed, Title: "t", Body: "b"})
	return err
}

// To recreate a branch the adapter removes it for a moment. It restores a user's push
// that came just before the removal.
func TestAPushOfTheLastMomentIsPutBack(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1", "b": "1"})
	r := open(t, s)
	first := commit(t, r, propose("", edit(o.Tip("main"), "a", "2")))
	moved := o.Push(t, "main", map[string]string{"b": "moved"}, "person")
	var theirs string
	s.Before("DeleteBranch", func() { theirs = o.Push(t, proposed, map[string]string{"a": "a person's"}, "person") })
	if id, err := r.Commit(t.Context(), propose(first, edit(moved, "a", "3"))); !errors.Is(err, repo.ErrMoved) {
		t.Errorf("commit: %q, %v; want ErrMoved", id, err)
	}
	if got := o.Tip(proposed); got != theirs {
		t.Errorf("the branch is at %q, the person's commit is %s", got, theirs)
	}
	if refs := o.Git(t, "for-each-ref", "--format=%(refname:short)"); refs != "gitlatch/prod\nmain" {
		t.Errorf("branches are %q", refs)
	}
}

// CodeCommit closes the pull request of a recreated branch. That does not count as a
// decline, even if the program ended before it opened the next one.
func TestAPullRequestThatIsReplacedWasNotDeclined(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1", "b": "1"})
	r := open(t, s)
	first := commit(t, r, propose("", edit(o.Tip("main"), "a", "2")))
	p, err := r.Ensure(t.Context(), repo.Draft{Branch: proposed, Title: "two", Body: "b"})
	if err != nil {
		t.Fatal(err)
	}
	moved := o.Push(t, "main", map[string]string{"b": "moved"}, "person")
	commit(t, r, propose(first, edit(moved, "a", "3")))
	if title, _, _ := s.Words(t, p.ID); title != "Replaced: two" {
		t.Errorf("the pull request is titled %q", title)
	}
	if found, err := r.Find(t.Context(), proposed); found != nil || err != nil {
		t.Errorf("found %+v, %v; want none", found, err)
	}
}

// Each level change is another commit on the branch. It reverts the changes of an
// earlier commit that it does not propose.
func TestAProposalGrowsOnTopWhereTheBaseStands(t *testing.T) {
	t.Parallel()
	s, o := shop(t, map[string]string{"a": "1", "dir/b": "1", "dir/c": "1"})
	r, base := open(t, s), o.Tip("main")
	c := propose("", edit(base, "a", "2"))
	c.Files = map[string][]byte{"dir/b": nil, "dir/new": []byte("n"), "a": []byte("2"), "other/new": []byte("n")}
	first := commit(t, r, c)
	second := commit(t, open(t, s), propose(first, edit(base, "dir/c", "3")))
	if o.Git(t, "rev-parse", proposed+"^") != first || second != o.Tip(proposed) {
		t.Errorf("log is %q", o.Log(t, proposed))
	}
	changed := o.Git(t, "diff", "--name-status", "main", proposed)
	if changed != "M\tdir/c" {
		t.Errorf("the branch changes %q, want dir/c alone", changed)
	}
	if again := commit(t, r, propose(second, edit(base, "dir/c", "3"))); again != second {
		t.Errorf("what it holds already is %s, was %s", again, second)
	}
}
