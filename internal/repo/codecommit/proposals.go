package codecommit

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"

	"github.com/gitlatch/gitlatch/internal/repo"
)

const pullRequest = "pull request"

// The maximum lengths of a pull request's texts, in characters.
const (
	mostTitle = 150
	mostBody  = 10240
)

// replacedBy is the start of the title of a pull request that CodeCommit closed because
// its branch was made again. No user declined it.
const replacedBy = "Replaced: "

// mostClosed is the maximum number of closed pull requests that newest checks, the newest
// first. Each costs one request.
const mostClosed = 100

// Find checks all open pull requests, then the 100 newest closed ones. See
// repo.Proposals.
func (r *Repository) Find(ctx context.Context, branch string) (_ *repo.Proposal, err error) {
	defer r.turns.Take(&err, "find the pull request of %q in %s", branch, r)()
	for _, status := range []types.PullRequestStatusEnum{types.PullRequestStatusEnumOpen, types.PullRequestStatusEnumClosed} {
		found, err := r.newest(ctx, branch, status)
		if err != nil {
			return nil, err
		}
		if found != nil {
			p := r.proposal(*found)
			return &p, nil
		}
	}
	return nil, nil
}

// newest returns the newest pull request of a branch to the base with the status. If
// the host has no such request, or gitlatch replaced the newest one, newest returns nil.
func (r *Repository) newest(ctx context.Context, branch string, status types.PullRequestStatusEnum) (*types.PullRequest, error) {
	ids, err := r.ids(ctx, status)
	if err != nil {
		return nil, err
	}
	if status == types.PullRequestStatusEnumClosed && len(ids) > mostClosed {
		ids = ids[:mostClosed]
	}
	for chunk := range slices.Chunk(ids, atOnce) {
		got := make([]*types.PullRequest, len(chunk))
		err := repeat(ctx, len(chunk), func(ctx context.Context, i int) (err error) {
			got[i], err = r.pull(ctx, chunk[i])
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, p := range got {
			t := target(*p)
			if short(t.SourceReference) != branch || short(t.DestinationReference) != r.Branch {
				continue
			}
			if status == types.PullRequestStatusEnumClosed && strings.HasPrefix(aws.ToString(p.Title), replacedBy) {
				return nil, nil // an older one has another outcome
			}
			return p, nil
		}
	}
	return nil, nil
}

// ids returns the ids of all pull requests with a status, the newest first.
func (r *Repository) ids(ctx context.Context, status types.PullRequestStatusEnum) (ids []string, err error) {
	in := &codecommit.ListPullRequestsInput{RepositoryName: &r.Repository, PullRequestStatus: status}
	for {
		out, err := r.Client.ListPullRequests(ctx, in)
		if err != nil {
			return nil, r.explain(err)
		}
		ids = append(ids, out.PullRequestIds...)
		in.NextToken = out.NextToken
		if aws.ToString(in.NextToken) == "" {
			break
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(number(b), number(a)), cmp.Compare(b, a)) })
	return ids, nil
}

func number(id string) int {
	n, _ := strconv.Atoi(id)
	return n
}

func (r *Repository) pull(ctx context.Context, id string) (*types.PullRequest, error) {
	out, err := r.Client.GetPullRequest(ctx, &codecommit.GetPullRequestInput{PullRequestId: &id})
	if err != nil {
		return nil, r.explain(err)
	}
	if out.PullRequest == nil {
		return nil, fmt.Errorf("pull request %s: the answer is empty", id)
	}
	return out.PullRequest, nil
}

// Ensure shortens the title to 150 characters and the body to 10,240. See repo.Proposals.
func (r *Repository) Ensure(ctx context.Context, d repo.Draft) (_ repo.Proposal, err error) {
	defer r.turns.Take(&err, "propose %q in %s", d.Branch, r)()
	d = d.Fit(mostTitle, mostBody)
	p, err := r.newest(ctx, d.Branch, types.PullRequestStatusEnumOpen)
	switch {
	case err != nil:
	case p == nil:
		p, err = open(ctx, r, d)
	default:
		err = r.update(ctx, p, d)
	}
	if err != nil {
		return repo.Proposal{}, err
	}
	return r.proposal(*p), nil
}

func open(ctx context.Context, r *Repository, d repo.Draft) (*types.PullRequest, error) {
	out, err := r.Client.CreatePullRequest(ctx, &codecommit.CreatePullRequestInput{
		Title:       &d.Title,
		Description: &d.Body,
		Targets:     []types.Target{{RepositoryName: &r.Repository, SourceReference: &d.Branch, DestinationReference: &r.Branch}},
	})
	if err != nil {
		return nil, r.refused(pullRequest, err)
	}
	return out.PullRequest, nil
}

func (r *Repository) update(ctx context.Context, p *types.PullRequest, d repo.Draft) error {
	if aws.ToString(p.Title) != d.Title {
		if err := r.entitle(ctx, p, d.Title); err != nil {
			return err
		}
	}
	if aws.ToString(p.Description) == d.Body {
		return nil
	}
	_, err := r.Client.UpdatePullRequestDescription(ctx,
		&codecommit.UpdatePullRequestDescriptionInput{PullRequestId: p.PullRequestId, Description: &d.Body})
	return r.refused(pullRequest, err)
}

func (r *Repository) entitle(ctx context.Context, p *types.PullRequest, title string) error {
	_, err := r.Client.UpdatePullRequestTitle(ctx, &codecommit.UpdatePullRequestTitleInput{PullRequestId: p.PullRequestId, Title: &title})
	return r.refused(pullRequest, err)
}

// replaced marks the open pull request of a branch as replaced, in its title.
func (r *Repository) replaced(ctx context.Context, branch string) error {
	p, err := r.newest(ctx, branch, types.PullRequestStatusEnumOpen)
	if err != nil || p == nil || strings.HasPrefix(aws.ToString(p.Title), replacedBy) {
		return err
	}
	return r.entitle(ctx, p, repo.Draft{Title: replacedBy + aws.ToString(p.Title)}.Fit(mostTitle, mostBody).Title)
}

// Close comments, closes, and removes the branch, in this order. See repo.Proposals.
func (r *Repository) Close(ctx context.Context, closing repo.Proposal, why string) (err error) {
	defer r.turns.Take(&err, "close pull request %s of %s", closing.ID, r)()
	p, err := r.pull(ctx, closing.ID)
	if err != nil || p.PullRequestStatus != types.PullRequestStatusEnumOpen {
		return err
	}
	t := target(*p)
	branch := short(t.SourceReference)
	head, err := r.head(ctx, branch)
	if err != nil {
		return err
	}
	if head != closing.Head {
		return repo.ErrMoved
	}
	_, err = r.Client.PostCommentForPullRequest(ctx, &codecommit.PostCommentForPullRequestInput{
		RepositoryName: &r.Repository, PullRequestId: p.PullRequestId, Content: &why,
		BeforeCommitId: t.DestinationCommit, AfterCommitId: t.SourceCommit,
	})
	if err != nil {
		return r.refused("comment", err)
	}
	_, err = r.Client.UpdatePullRequestStatus(ctx, &codecommit.UpdatePullRequestStatusInput{
		PullRequestId: p.PullRequestId, PullRequestStatus: types.PullRequestStatusEnumClosed,
	})
	if err != nil && !is(err, closed) {
		return r.refused("closing it", err)
	}
	removed, err := r.remove(ctx, branch)
	switch {
	case err != nil:
		return r.refused("removing the branch", err)
	case removed != "" && removed != closing.Head:
		return r.point(ctx, branch, removed) // someone else pushed in the meantime
	}
	return nil
}

// proposal converts a pull request to a repo.Proposal.
func (r *Repository) proposal(p types.PullRequest) repo.Proposal {
	t := target(p)
	id := aws.ToString(p.PullRequestId)
	state := repo.ProposalOpen
	if p.PullRequestStatus == types.PullRequestStatusEnumClosed {
		state = repo.ProposalClosed
		if t.MergeMetadata != nil && t.MergeMetadata.IsMerged {
			state = repo.ProposalMerged
		}
	}
	console := url.URL{
		Scheme: "https", Host: r.Region + ".console.aws.amazon.com",
		Path:     "/codesuite/codecommit/repositories/" + r.Repository + "/pull-requests/" + id + "/details",
		RawQuery: "region=" + url.QueryEscape(r.Region),
	}
	return repo.Proposal{ID: id, URL: console.String(), Branch: short(t.SourceReference), State: state, Head: aws.ToString(t.SourceCommit)}
}

// target returns the first target of a pull request, or the zero value.
func target(p types.PullRequest) types.PullRequestTarget {
	return append(p.PullRequestTargets, types.PullRequestTarget{})[0]
}

func short(ref *string) string { return strings.TrimPrefix(aws.ToString(ref), "refs/heads/") }
