package repo

import "context"

// Proposals asks users to merge a branch into the base: pull requests, on most hosts.
// Each method may be repeated after any error.
type Proposals interface {
	// Find returns the newest proposal of a branch to the base in any state, or nil if
	// the branch never had a proposal.
	Find(ctx context.Context, branch string) (*Proposal, error)

	// Ensure opens a proposal of a branch, or sets the title and the body of the open
	// proposal. It returns ErrNoBranch if the branch or the base does not exist. It
	// returns a RefusedError if the host does not accept the proposal, because the branch
	// adds no commits to the base or the credentials do not allow it.
	Ensure(ctx context.Context, d Draft) (Proposal, error)

	// Close closes an open proposal with the comment why, and removes its branch. If the
	// branch is no longer at p.Head, someone else pushed to it: Close changes nothing and
	// returns ErrMoved. If the proposal is not open, Close changes nothing and returns
	// nil. It returns a RefusedError if the credentials do not allow it.
	Close(ctx context.Context, p Proposal, why string) error
}

// A Draft is the content of a proposal.
type Draft struct {
	Branch string
	Title  string // one line
	Body   string // Markdown
}

// Fit shortens the title and the body to the maximum number of characters that a host
// accepts.
func (d Draft) Fit(title, body int) Draft {
	d.Title, d.Body = cut(d.Title, title), cut(d.Body, body)
	return d
}

func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// A Proposal is a proposal on the host.
type Proposal struct {
	ID     string // unique in the repository, given by the host
	URL    string // of the web page
	Branch string
	State  ProposalState
	// Head is the commit of the branch while the proposal is open, and the last commit of
	// the branch after that.
	Head string
}

// A ProposalState is the state of a proposal.
type ProposalState string

// ProposalMerged includes every merge method of the host, such as squash. ProposalClosed
// is closed without a merge.
const (
	ProposalOpen   ProposalState = "open"
	ProposalMerged ProposalState = "merged"
	ProposalClosed ProposalState = "closed"
)
