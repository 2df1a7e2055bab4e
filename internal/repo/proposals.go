package repo

import "context"

// Proposals is where people are asked to take a branch into the base: pull
// requests, on most hosts. Each method may be repeated after any error.
type Proposals interface {
	// Find returns the newest proposal of a branch to the base, whatever became
	// of it; nil where there never was one.
	Find(ctx context.Context, branch string) (*Proposal, error)

	// Ensure opens a proposal of a branch, or gives the one that is open the
	// title and the body. A branch or a base that does not exist is ErrNoBranch.
	// A host that takes no proposal, because the branch adds nothing to the base
	// or the credentials do not allow it, is a RefusedError.
	Ensure(ctx context.Context, d Draft) (Proposal, error)

	// Close closes an open proposal with a comment that says why, and removes its
	// branch. Where the branch does not hold p.Head any more, another pushed to
	// it: nothing is done, and the error is ErrMoved. One that is not open is
	// left as it is, without an error. Credentials that do not allow it are a
	// RefusedError.
	Close(ctx context.Context, p Proposal, why string) error
}

// A Draft is what is proposed.
type Draft struct {
	Branch string
	Title  string // one line
	Body   string // Markdown
}

// Fit returns a draft of at most so many characters, of which a host takes no
// more.
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

// A Proposal is one that was made.
type Proposal struct {
	ID     string // the host's, unique in its repository
	URL    string // where people see it
	Branch string
	State  ProposalState
	// Head is the commit at its branch while it is open, and the one that the
	// branch had at the end once it is not.
	Head string
}

// A ProposalState is what became of a proposal.
type ProposalState string

// A proposal that was merged in any way that the host offers, squashed
// included, is ProposalMerged; closed without is ProposalClosed.
const (
	ProposalOpen   ProposalState = "open"
	ProposalMerged ProposalState = "merged"
	ProposalClosed ProposalState = "closed"
)
