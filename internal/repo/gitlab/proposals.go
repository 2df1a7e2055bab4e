package gitlab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

// Proposals are the merge requests between branches of one project. Goroutines may share
// it.
type Proposals struct {
	project, base string

	api    string // URL of the project in the API
	token  func(context.Context) (string, error)
	client *http.Client
	git    *gitwire.Repository
}

var _ repo.Proposals = (*Proposals)(nil)

// The maximum lengths of a merge request's texts, in characters.
const (
	mostTitle = 255
	mostBody  = 1 << 20
)

// pageSize is the number of merge requests in one answer.
const pageSize = 20

// A mergeRequest has the fields of a merge request that gitlatch uses.
type mergeRequest struct {
	IID             int    `json:"iid"`
	State           string `json:"state"`
	Title           string `json:"title"`
	Description     string `json:"description"`
	SHA             string `json:"sha"` // of its branch, some time after a push
	WebURL          string `json:"web_url"`
	SourceBranch    string `json:"source_branch"`
	TargetBranch    string `json:"target_branch"`
	SourceProjectID int    `json:"source_project_id"`
	TargetProjectID int    `json:"target_project_id"`
}

// Find reads the list of merge requests, and the head of an open one from git. See
// repo.Proposals.
func (p *Proposals) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	found, err := p.newest(ctx, branch, "all")
	if err != nil || found == nil {
		return nil, wrap(err, "find the merge request of %q", branch)
	}
	heads := []string{""}
	if state(found) == repo.ProposalOpen {
		if _, heads, err = p.git.Heads(ctx, branch); err != nil {
			return nil, wrap(err, "find the merge request of %q", branch)
		}
	}
	proposal := proposalOf(found, heads[0])
	return &proposal, nil
}

func wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(doing, args...), err)
}

// newest returns the newest merge request of a branch of this project, and not of a fork.
// It returns nil if no merge request was found.
func (p *Proposals) newest(ctx context.Context, branch, state string) (*mergeRequest, error) {
	if err := repo.CheckBranch(branch); err != nil {
		return nil, err
	}
	query := url.Values{
		"state": {state}, "source_branch": {branch}, "target_branch": {p.base},
		"order_by": {"created_at"}, "sort": {"desc"}, "per_page": {strconv.Itoa(pageSize)},
	}
	for page := 1; ; page++ {
		query.Set("page", strconv.Itoa(page))
		var all []*mergeRequest
		if err := p.call(ctx, http.MethodGet, "/merge_requests?"+query.Encode(), nil, &all); err != nil {
			return nil, err
		}
		found, _ := lists.First(all, func(m *mergeRequest) bool {
			return m.SourceBranch == branch && m.TargetBranch == p.base && m.SourceProjectID == m.TargetProjectID
		})
		if found != nil || len(all) < pageSize {
			return found, nil
		}
	}
}

// Ensure opens a merge request, or edits the open one. See repo.Proposals.
func (p *Proposals) Ensure(ctx context.Context, d repo.Draft) (repo.Proposal, error) {
	_, heads, err := p.git.Heads(ctx, d.Branch)
	if err == nil && heads[0] == "" {
		err = fmt.Errorf("branch %q: %w", d.Branch, repo.ErrNoBranch)
	}
	if err != nil {
		return repo.Proposal{}, wrap(err, "propose %q", d.Branch)
	}
	found, err := p.ensure(ctx, d.Fit(mostTitle, mostBody))
	if err != nil {
		return repo.Proposal{}, wrap(refused("merge request", err), "propose %q", d.Branch)
	}
	return proposalOf(found, heads[0]), nil
}

func (p *Proposals) ensure(ctx context.Context, d repo.Draft) (*mergeRequest, error) {
	open, err := p.newest(ctx, d.Branch, "opened")
	texts := map[string]string{"title": d.Title, "description": d.Body}
	var written mergeRequest
	switch {
	case err != nil:
		return nil, err
	case open == nil:
		texts["source_branch"] = d.Branch
		texts["target_branch"] = p.base
		return &written, p.call(ctx, http.MethodPost, "/merge_requests", texts, &written)
	case open.Title == d.Title && open.Description == d.Body:
		return open, nil
	}
	return &written, p.edit(ctx, open.IID, texts, &written)
}

func (p *Proposals) edit(ctx context.Context, iid int, fields map[string]string, written *mergeRequest) error {
	return p.call(ctx, http.MethodPut, fmt.Sprintf("/merge_requests/%d", iid), fields, written)
}

// Close comments, closes, and removes the branch, in this order. GitLab removes the
// branch even if it has moved: a push between the check and the removal is then only in
// the merge request. See repo.Proposals.
func (p *Proposals) Close(ctx context.Context, closing repo.Proposal, why string) error {
	return wrap(p.close(ctx, closing, why), "close merge request %s", closing.ID)
}

func (p *Proposals) close(ctx context.Context, closing repo.Proposal, why string) error {
	open, err := p.newest(ctx, closing.Branch, "opened")
	if err != nil || open == nil || strconv.Itoa(open.IID) != closing.ID {
		return err
	}
	_, heads, err := p.git.Heads(ctx, closing.Branch)
	if err != nil {
		return err
	}
	if heads[0] != closing.Head {
		return repo.ErrMoved
	}
	err = p.call(ctx, http.MethodPost, fmt.Sprintf("/merge_requests/%d/notes", open.IID), map[string]string{"body": why}, nil)
	if err != nil {
		return refused("comment", err)
	}
	if err := p.edit(ctx, open.IID, map[string]string{"state_event": "close"}, open); err != nil {
		return refused("closing it", err)
	}
	err = p.call(ctx, http.MethodDelete, "/repository/branches/"+url.PathEscape(closing.Branch), nil, nil)
	var answer *statusError
	if errors.As(err, &answer) && answer.status == http.StatusNotFound {
		return nil // the branch is gone
	}
	return refused("removing the branch", err)
}

// states are GitLab's states. A locked merge request is about to be merged.
var states = map[string]repo.ProposalState{
	"opened": repo.ProposalOpen, "locked": repo.ProposalOpen, "merged": repo.ProposalMerged, "closed": repo.ProposalClosed,
}

func state(m *mergeRequest) repo.ProposalState { return states[m.State] }

// proposalOf returns a merge request as a proposal. head is the present head of its
// branch, or "" for the head that GitLab noted.
func proposalOf(m *mergeRequest, head string) repo.Proposal {
	return repo.Proposal{ID: strconv.Itoa(m.IID), URL: m.WebURL, Branch: m.SourceBranch, State: state(m), Head: cmp.Or(head, m.SHA)}
}
