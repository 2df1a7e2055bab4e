package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

// Proposals are the pull requests between branches of one repository. Goroutines may
// share it.
type Proposals struct {
	owner, name, base string

	api *api.Client
	git *gitwire.Repository
}

var _ repo.Proposals = (*Proposals)(nil)

const pullRequest = "pull request"

// The maximum lengths of a pull request's texts, in characters.
const (
	mostTitle = 256
	mostBody  = 65536
)

// Find sends one request. See repo.Proposals.
func (p *Proposals) Find(ctx context.Context, branch string) (*repo.Proposal, error) {
	found, err := p.newest(ctx, branch, "all")
	if err != nil {
		return nil, fmt.Errorf("find the pull request of %q: %w", branch, p.explain(err))
	}
	if found == nil {
		return nil, nil
	}
	proposal := proposalOf(found)
	return &proposal, nil
}

func (p *Proposals) newest(ctx context.Context, branch, state string) (*api.PullRequest, error) {
	if err := repo.CheckBranch(branch); err != nil {
		return nil, err
	}
	found, _, err := p.api.PullRequests.List(ctx, p.owner, p.name, &api.PullRequestListOptions{
		State: state, Head: p.owner + ":" + branch, Base: p.base, Sort: "created", Direction: "desc",
		ListOptions: api.ListOptions{PerPage: 5},
	})
	if err != nil {
		return nil, err
	}
	pull, _ := lists.First(found, func(pull *api.PullRequest) bool {
		return pull.GetHead().GetRef() == branch && pull.GetBase().GetRef() == p.base
	})
	return pull, nil
}

// Ensure opens a pull request, or edits the open one. See repo.Proposals.
func (p *Proposals) Ensure(ctx context.Context, d repo.Draft) (repo.Proposal, error) {
	pull, err := p.ensure(ctx, d.Fit(mostTitle, mostBody))
	if err != nil {
		return repo.Proposal{}, fmt.Errorf("propose %q: %w", d.Branch, p.refused(pullRequest, err))
	}
	return proposalOf(pull), nil
}

func (p *Proposals) ensure(ctx context.Context, d repo.Draft) (*api.PullRequest, error) {
	open, err := p.newest(ctx, d.Branch, "open")
	switch {
	case err != nil:
		return nil, err
	case open == nil:
		pull, _, err := p.api.PullRequests.Create(ctx, p.owner, p.name, &api.NewPullRequest{
			Title: &d.Title, Head: &d.Branch, Base: &p.base, Body: &d.Body,
		})
		return pull, err
	case open.GetTitle() == d.Title && open.GetBody() == d.Body:
		return open, nil
	}
	pull, _, err := p.api.PullRequests.Edit(ctx, p.owner, p.name, open.GetNumber(), &api.PullRequest{Title: &d.Title, Body: &d.Body})
	return pull, err
}

// Close comments, closes, and removes the branch, in this order. GitHub removes the
// branch even if it has moved: a push between the check and the removal is then only in
// the pull request. See repo.Proposals.
func (p *Proposals) Close(ctx context.Context, closing repo.Proposal, why string) error {
	number, err := strconv.Atoi(closing.ID)
	if err != nil {
		return fmt.Errorf("close pull request %q: its id is not a number", closing.ID)
	}
	if err := p.close(ctx, number, closing, why); err != nil {
		return fmt.Errorf("close pull request %d: %w", number, p.refused("closing it", err))
	}
	return nil
}

func (p *Proposals) close(ctx context.Context, number int, closing repo.Proposal, why string) error {
	pull, _, err := p.api.PullRequests.Get(ctx, p.owner, p.name, number)
	if err != nil || pull.GetState() != "open" {
		return err
	}
	branch := pull.GetHead().GetRef()
	_, heads, err := p.git.Heads(ctx, branch)
	if err != nil {
		return err
	}
	if heads[0] != closing.Head {
		return repo.ErrMoved
	}
	if _, _, err := p.api.Issues.CreateComment(ctx, p.owner, p.name, number, &api.IssueComment{Body: &why}); err != nil {
		return err
	}
	closed := "closed"
	if _, _, err := p.api.PullRequests.Edit(ctx, p.owner, p.name, number, &api.PullRequest{State: &closed}); err != nil {
		return err
	}
	_, err = p.api.Git.DeleteRef(ctx, p.owner, p.name, "heads/"+branch)
	if answer := answerOf(err); answer != nil && answer.Response.StatusCode == http.StatusUnprocessableEntity {
		if _, heads, gone := p.git.Heads(ctx, branch); gone == nil && heads[0] == "" {
			return nil
		}
	}
	return err
}

func proposalOf(pull *api.PullRequest) repo.Proposal {
	state := repo.ProposalOpen
	switch {
	case pull.MergedAt != nil || pull.GetMerged():
		state = repo.ProposalMerged
	case pull.GetState() != "open":
		state = repo.ProposalClosed
	}
	return repo.Proposal{
		ID: strconv.Itoa(pull.GetNumber()), URL: pull.GetHTMLURL(), Branch: pull.GetHead().GetRef(),
		State: state, Head: pull.GetHead().GetSHA(),
	}
}

// answerOf returns GitHub's error response, or nil if the error is another.
func answerOf(err error) *api.ErrorResponse {
	var answer *api.ErrorResponse
	if errors.As(err, &answer) && answer.Response != nil {
		return answer
	}
	return nil
}

// refused returns a RefusedError or ErrNoBranch if GitHub refused a write, and otherwise
// the explained error.
func (p *Proposals) refused(what string, err error) error {
	answer := answerOf(err)
	if answer == nil {
		return p.explain(err)
	}
	switch status := answer.Response.StatusCode; {
	case status == http.StatusUnprocessableEntity && slices.ContainsFunc(answer.Errors, noBranch):
		return fmt.Errorf("%w: %s", repo.ErrNoBranch, words(answer))
	case status == http.StatusForbidden, status == http.StatusUnprocessableEntity:
		return &repo.RefusedError{What: what, Why: fmt.Sprintf("GitHub answers %d%s: %s", status, advice[status], words(answer))}
	}
	return p.explain(err)
}

func noBranch(e api.Error) bool {
	return (e.Field == "head" || e.Field == "base") && e.Code == "invalid"
}

var advice = map[int]string{
	http.StatusUnauthorized: ", the token is wrong, expired or revoked",
	http.StatusForbidden:    ", the credentials do not allow it (pull requests need pull requests: write, and contents: write)",
}

// explain adds advice to an error, if it has advice for it.
func (p *Proposals) explain(err error) error {
	var login *loginError
	if errors.As(err, &login) {
		return login
	}
	var moved *api.RedirectionError
	if errors.As(err, &moved) {
		return fmt.Errorf("GitHub answers %d, the repository %s/%s has moved. Set its new name in the configuration", moved.StatusCode, p.owner, p.name)
	}
	answer := answerOf(err)
	if answer == nil {
		return err
	}
	status := answer.Response.StatusCode
	what := advice[status]
	if status == http.StatusNotFound {
		what = fmt.Sprintf(", the repository %s/%s does not exist, or the credentials have no access to it", p.owner, p.name)
	}
	return fmt.Errorf("GitHub answers %d%s: %s", status, what, words(answer))
}

// words returns GitHub's message on one line.
func words(answer *api.ErrorResponse) string {
	said := []string{answer.Message}
	for _, e := range answer.Errors {
		switch {
		case e.Message != "":
			said = append(said, e.Message)
		case e.Field != "":
			said = append(said, e.Field+" is "+e.Code)
		}
	}
	return sanitize.Answer(strings.Join(said, ": "))
}
