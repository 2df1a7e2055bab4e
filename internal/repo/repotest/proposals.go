package repotest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// A Host is one repository and its proposals, as an adapter sees them, with the actions
// of users.
type Host struct {
	Repository repo.Repository
	Proposals  repo.Proposals
	// Reopened is true if a proposal cannot follow its branch to a moved base, and
	// another one is opened instead.
	Reopened bool

	// Push commits files to a branch; "" is the base.
	Push func(t testing.TB, branch string, files map[string]string)
	// Show returns a file of a branch, or "" if it does not exist.
	Show func(t testing.TB, branch, path string) string
	// Merge merges an open proposal, and leaves its branch.
	Merge func(t testing.TB, id string, squash bool)
	// Decline closes an open proposal unmerged, and leaves its branch.
	Decline func(t testing.TB, id string)
	// Words returns the text of a proposal.
	Words func(t testing.TB, id string) (title, body string, comments []string)
}

// RunProposals tests the contract of repo.Proposals and of the branches of proposals.
// setup returns a host whose base has the files.
func RunProposals(t *testing.T, setup func(t *testing.T, files map[string]string) Host) {
	for name, test := range map[string]func(*testing.T, Host){
		"opened and found again":           opened,
		"updated while open":               updated,
		"rebuilt on a moved base":          rebuilt,
		"merged by squash":                 func(t *testing.T, h Host) { merged(t, h, true) },
		"merged by a merge commit":         func(t *testing.T, h Host) { merged(t, h, false) },
		"closed by a person":               declined,
		"taken over by a person":           takenOver,
		"closed with a comment":            withdrawn,
		"not closed once taken over":       notWithdrawn,
		"not opened without a branch":      unopened,
		"of one branch among many":         among,
		"of a branch nobody ever proposed": nothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, setup(t, map[string]string{"a": "1", "b": "1"}))
		})
	}
}

// push sets the content of a on the proposed branch, on the present base.
func (h Host) push(t *testing.T, a, message string) string {
	t.Helper()
	base, others, err := h.Repository.Heads(within(t), proposed)
	if err != nil {
		t.Fatalf("heads: %v", err)
	}
	return mustCommit(t, h.Repository, repo.Commit{
		Branch: proposed, Expect: others[0], Parent: base,
		Files: map[string][]byte{"a": []byte(a)}, Message: message,
		When: time.Date(2026, 11, 20, 9, 15, 0, 0, time.UTC),
	})
}

func (h Host) ensure(t *testing.T, title, body string) repo.Proposal {
	t.Helper()
	p, err := h.Proposals.Ensure(within(t), repo.Draft{Branch: proposed, Title: title, Body: body})
	if err != nil {
		t.Fatalf("ensure: %v", err)
	}
	if p.ID == "" || p.URL == "" {
		t.Fatalf("the proposal is %+v, without an id or an address", p)
	}
	return p
}

// finds fails the test if the branch's proposal does not have the state and the head.
func (h Host) finds(t *testing.T, state repo.ProposalState, head string) repo.Proposal {
	t.Helper()
	p, err := h.Proposals.Find(within(t), proposed)
	if err != nil || p == nil {
		t.Fatalf("find: %+v, %v", p, err)
	}
	if p.State != state || p.Head != head || p.Branch != proposed {
		t.Fatalf("found %+v, want it %s at %s", p, state, head)
	}
	return *p
}

func opened(t *testing.T, h Host) {
	head := h.push(t, "2", "propose two")
	p := h.ensure(t, "a title", "a body\n\nwith a `line`")
	if found := h.finds(t, repo.ProposalOpen, head); found != p {
		t.Errorf("found %+v, opened %+v", found, p)
	}
	if title, body, comments := h.Words(t, p.ID); title != "a title" || body != "a body\n\nwith a `line`" || len(comments) != 0 {
		t.Errorf("it says %q, %q, %q", title, body, comments)
	}
}

func updated(t *testing.T, h Host) {
	h.push(t, "2", "propose two")
	first := h.ensure(t, "two", "body of two")
	head := h.push(t, "3", "propose three")
	again := h.ensure(t, "three", "body of three")
	if again.ID != first.ID || again.URL != first.URL {
		t.Errorf("updated it is %+v, was %+v", again, first)
	}
	if title, body, _ := h.Words(t, first.ID); title != "three" || body != "body of three" {
		t.Errorf("it says %q, %q", title, body)
	}
	h.finds(t, repo.ProposalOpen, head)
	if a := h.Show(t, proposed, "a"); a != "3" {
		t.Errorf("a is %q on the branch", a)
	}
}

func rebuilt(t *testing.T, h Host) {
	h.push(t, "2", "propose two")
	first := h.ensure(t, "two", "body")
	h.Push(t, "", map[string]string{"b": "moved"})
	head := h.push(t, "3", "propose three")
	again := h.ensure(t, "three", "body")
	if (again.ID != first.ID) != h.Reopened {
		t.Errorf("on a moved base it is %+v, was %+v", again, first)
	}
	found := h.finds(t, repo.ProposalOpen, head)
	if a, b := h.Show(t, proposed, "a"), h.Show(t, proposed, "b"); a != "3" || b != "moved" {
		t.Errorf("the branch holds a %q and b %q, want 3 and the value of the base", a, b)
	}
	h.Merge(t, found.ID, true)
	if a, b := h.Show(t, "", "a"), h.Show(t, "", "b"); a != "3" || b != "moved" {
		t.Errorf("merged, the base holds a %q and b %q", a, b)
	}
}

func merged(t *testing.T, h Host, squash bool) {
	head := h.push(t, "2", "propose two")
	p := h.ensure(t, "two", "body")
	h.Merge(t, p.ID, squash)
	h.finds(t, repo.ProposalMerged, head)
	if a := h.Show(t, "", "a"); a != "2" {
		t.Errorf("merged, the base holds %q", a)
	}
	// After a merge, the next proposal is a new one.
	h.push(t, "3", "propose three")
	if next := h.ensure(t, "three", "body"); next.ID == p.ID || next.State != repo.ProposalOpen {
		t.Errorf("after a merge it is %+v, was %+v", next, p)
	}
}

func declined(t *testing.T, h Host) {
	head := h.push(t, "2", "propose two")
	p := h.ensure(t, "two", "body")
	h.Decline(t, p.ID)
	if found := h.finds(t, repo.ProposalClosed, head); found.ID != p.ID {
		t.Errorf("found %+v, want %s", found, p.ID)
	}
	if err := h.Proposals.Close(within(t), p, "not needed"); err != nil {
		t.Errorf("close a closed proposal: %v", err)
	}
	if _, _, comments := h.Words(t, p.ID); len(comments) != 0 || h.Show(t, proposed, "a") != "2" {
		t.Errorf("a proposal that a user closed has the comments %q", comments)
	}
}

func takenOver(t *testing.T, h Host) {
	ours := h.push(t, "2", "propose two")
	h.ensure(t, "two", "body")
	h.Push(t, proposed, map[string]string{"a": "a person's"})
	_, others, err := h.Repository.Heads(within(t), proposed)
	if err != nil || others[0] == ours {
		t.Fatalf("heads: %q, %v", others, err)
	}
	h.finds(t, repo.ProposalOpen, others[0])
}

func withdrawn(t *testing.T, h Host) {
	head := h.push(t, "2", "propose two")
	h.ensure(t, "two", "body")
	p := h.finds(t, repo.ProposalOpen, head)
	if err := h.Proposals.Close(within(t), p, "the need is gone"); err != nil {
		t.Fatalf("close: %v", err)
	}
	if found := h.finds(t, repo.ProposalClosed, head); found.ID != p.ID {
		t.Errorf("found %+v, closed %+v", found, p)
	}
	if _, _, comments := h.Words(t, p.ID); !slices.Equal(comments, []string{"the need is gone"}) {
		t.Errorf("the comments are %q", comments)
	}
	_, others, err := h.Repository.Heads(within(t), proposed)
	if err != nil || others[0] != "" {
		t.Errorf("the branch is at %q, %v", others, err)
	}
	if err := h.Proposals.Close(within(t), p, "the need is gone"); err != nil {
		t.Errorf("close again: %v", err)
	}
	h.push(t, "3", "propose three")
	if next := h.ensure(t, "three", "body"); next.ID == p.ID {
		t.Errorf("the next one has the same id: %+v", next)
	}
}

func notWithdrawn(t *testing.T, h Host) {
	head := h.push(t, "2", "propose two")
	h.ensure(t, "two", "body")
	p := h.finds(t, repo.ProposalOpen, head)
	h.Push(t, proposed, map[string]string{"a": "a person's"})
	if err := h.Proposals.Close(within(t), p, "the need is gone"); !errors.Is(err, repo.ErrMoved) {
		t.Errorf("close a proposal that a user took over: %v, want ErrMoved", err)
	}
	if _, _, comments := h.Words(t, p.ID); len(comments) != 0 || h.Show(t, proposed, "a") != "a person's" {
		t.Errorf("a proposal that a user took over has the comments %q", comments)
	}
}

func unopened(t *testing.T, h Host) {
	if p, err := h.Proposals.Ensure(within(t), repo.Draft{Branch: proposed, Title: "t", Body: "b"}); !errors.Is(err, repo.ErrNoBranch) {
		t.Errorf("without a branch: %+v, %v; want ErrNoBranch", p, err)
	}
}

func among(t *testing.T, h Host) {
	base, _, err := h.Repository.Heads(within(t))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for _, name := range strings.Fields("one two three four five six") {
		branch := "gitlatch/" + name
		c := change(base, map[string]string{"a": name})
		c.Branch = branch
		mustCommit(t, h.Repository, c)
		p, err := h.Proposals.Ensure(within(t), repo.Draft{Branch: branch, Title: name, Body: name})
		if err != nil {
			t.Fatal(err)
		}
		ids[branch] = p.ID
	}
	h.Decline(t, ids["gitlatch/two"])
	for branch, id := range ids {
		if p, err := h.Proposals.Find(within(t), branch); err != nil || p == nil || p.ID != id {
			t.Errorf("%s: found %+v, %v; want %s", branch, p, err, id)
		}
	}
}

func nothing(t *testing.T, h Host) {
	if p, err := h.Proposals.Find(within(t), "gitlatch"); p != nil || err != nil {
		t.Errorf("found %+v, %v", p, err)
	}
}
