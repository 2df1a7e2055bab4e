package codecommit

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// API is the part of CodeCommit's API that the adapter calls, and that the role must
// allow. The first five calls read and commit. Proposals need all of them.
type API interface {
	GetBranch(context.Context, *codecommit.GetBranchInput, ...func(*codecommit.Options)) (*codecommit.GetBranchOutput, error)
	GetCommit(context.Context, *codecommit.GetCommitInput, ...func(*codecommit.Options)) (*codecommit.GetCommitOutput, error)
	GetFolder(context.Context, *codecommit.GetFolderInput, ...func(*codecommit.Options)) (*codecommit.GetFolderOutput, error)
	GetBlob(context.Context, *codecommit.GetBlobInput, ...func(*codecommit.Options)) (*codecommit.GetBlobOutput, error)
	CreateCommit(context.Context, *codecommit.CreateCommitInput, ...func(*codecommit.Options)) (*codecommit.CreateCommitOutput, error)

	CreateBranch(context.Context, *codecommit.CreateBranchInput, ...func(*codecommit.Options)) (*codecommit.CreateBranchOutput, error)
	DeleteBranch(context.Context, *codecommit.DeleteBranchInput, ...func(*codecommit.Options)) (*codecommit.DeleteBranchOutput, error)
	ListPullRequests(context.Context, *codecommit.ListPullRequestsInput,
		...func(*codecommit.Options)) (*codecommit.ListPullRequestsOutput, error)
	GetPullRequest(context.Context, *codecommit.GetPullRequestInput, ...func(*codecommit.Options)) (*codecommit.GetPullRequestOutput, error)
	CreatePullRequest(context.Context, *codecommit.CreatePullRequestInput,
		...func(*codecommit.Options)) (*codecommit.CreatePullRequestOutput, error)
	UpdatePullRequestTitle(context.Context, *codecommit.UpdatePullRequestTitleInput,
		...func(*codecommit.Options)) (*codecommit.UpdatePullRequestTitleOutput, error)
	UpdatePullRequestDescription(context.Context, *codecommit.UpdatePullRequestDescriptionInput,
		...func(*codecommit.Options)) (*codecommit.UpdatePullRequestDescriptionOutput, error)
	UpdatePullRequestStatus(context.Context, *codecommit.UpdatePullRequestStatusInput,
		...func(*codecommit.Options)) (*codecommit.UpdatePullRequestStatusOutput, error)
	PostCommentForPullRequest(context.Context, *codecommit.PostCommentForPullRequestInput,
		...func(*codecommit.Options)) (*codecommit.PostCommentForPullRequestOutput, error)
}

var _ API = (*codecommit.Client)(nil)

// Options are the settings to open a repository.
type Options struct {
	Repository string // name
	Branch     string // the base, "main"
	Client     API    // must retry throttled requests and server errors

	// Region is the region in the console URLs of pull requests.
	Region string
	// Author is the author and committer of commits; the zero value is
	// repo.DefaultAuthor.
	Author repo.Author
}

// A Repository is a repo.Repository and a repo.Proposals. Goroutines may share it: it
// serializes their calls. Later calls use the objects that earlier calls read.
type Repository struct {
	Options

	turns   repo.Turns
	objects *pack.Objects            // folders and files
	commits map[string]repo.LogEntry // by their ids
}

var (
	_ repo.Repository = (*Repository)(nil)
	_ repo.Proposals  = (*Repository)(nil)
)

// Open checks the options and returns the repository. It sends no request.
func Open(o Options) (*Repository, error) {
	problems := []error{repo.CheckBranch(o.Branch)}
	if o.Repository == "" {
		problems = append(problems, errors.New("repository: want its name"))
	}
	if o.Client == nil {
		problems = append(problems, errors.New("client: want one"))
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	o.Author = cmp.Or(o.Author, repo.DefaultAuthor)
	return &Repository{Options: o, objects: pack.NewObjects(), commits: map[string]repo.LogEntry{}}, nil
}

// String names the repository.
func (r *Repository) String() string { return "codecommit repository " + r.Repository }

// Heads sends one request for each branch. See repo.Repository.
func (r *Repository) Heads(ctx context.Context, also ...string) (_ string, _ []string, err error) {
	defer r.turns.Take(&err, "read the branch of %s", r)()
	heads := make([]string, 1+len(also))
	err = repeat(ctx, len(heads), func(ctx context.Context, i int) (err error) {
		branch := r.Branch
		if i > 0 {
			branch = also[i-1]
		}
		heads[i], err = r.head(ctx, branch)
		return err
	})
	if err == nil && heads[0] == "" {
		err = fmt.Errorf("branch %q: %w", r.Branch, repo.ErrNoBranch)
	}
	if err != nil {
		return "", nil, err
	}
	return heads[0], heads[1:], nil
}

// head returns the commit of a branch, or "" if the branch does not exist.
func (r *Repository) head(ctx context.Context, branch string) (string, error) {
	if err := repo.CheckBranch(branch); err != nil {
		return "", err
	}
	out, err := r.Client.GetBranch(ctx, &codecommit.GetBranchInput{RepositoryName: &r.Repository, BranchName: &branch})
	switch {
	case is(err, noBranch):
		return "", nil
	case err != nil:
		return "", r.explain(err)
	case out.Branch == nil:
		return "", nil
	}
	return aws.ToString(out.Branch.CommitId), nil
}
