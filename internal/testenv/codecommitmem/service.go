// Package codecommitmem is CodeCommit in memory, for tests of many ticks: the part of the API
// that the adapter uses. It enforces the conditions of writes, and closes the pull requests
// of a removed branch.
package codecommitmem

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"
	"github.com/aws/smithy-go"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
)

// base is the base in the requests of the adapter. The repository in memory calls it "".
const base = "main"

// A Service is CodeCommit's API over a repository in memory. All fields are required. It is
// safe for concurrent use.
type Service struct {
	Memory *repomem.Repository
	// Write performs each write. It may fail instead, or act before.
	Write func(write func() error) error
	// Read returns the error of each read; nil answers it.
	Read func() error
	// Now is the time of commits.
	Now func() time.Time

	mu    sync.Mutex
	blobs map[string]string // contents of files, by id
}

var _ codecommit.API = (*Service)(nil)

// Adapter returns the adapter of a new process.
func (s *Service) Adapter() *codecommit.Repository {
	r, err := codecommit.Open(codecommit.Options{Repository: "shop", Branch: base, Client: s, Region: "eu-west-1"})
	if err != nil {
		panic(err) // the options are valid
	}
	return r
}

func refuse(code, about string) error {
	return &smithy.GenericAPIError{Code: code, Message: about, Fault: smithy.FaultClient}
}

// writes performs a write, and returns its output.
func writes[Out any](s *Service, write func() (Out, error)) (out Out, err error) {
	failed := s.Write(func() error {
		out, err = write()
		return err
	})
	return out, failed
}

func branch(name *string) string {
	short := strings.TrimPrefix(aws.ToString(name), "refs/heads/")
	if short == base {
		return ""
	}
	return short
}

func (s *Service) head(of *string) string {
	tip, others, err := s.Memory.Heads(context.Background(), branch(of))
	if err != nil {
		panic(err) // in memory
	}
	if branch(of) == "" {
		return tip
	}
	return others[0]
}

// GetBranch implements the operation.
func (s *Service) GetBranch(ctx context.Context, in *api.GetBranchInput, _ ...func(*api.Options)) (*api.GetBranchOutput, error) {
	head := s.head(in.BranchName)
	if err := cmp.Or(s.Read(), ctx.Err()); err != nil || head == "" {
		return nil, cmp.Or(err, refuse("BranchDoesNotExistException", *in.BranchName))
	}
	return &api.GetBranchOutput{Branch: &types.BranchInfo{BranchName: in.BranchName, CommitId: &head}}, nil
}

// GetCommit implements the operation.
func (s *Service) GetCommit(ctx context.Context, in *api.GetCommitInput, _ ...func(*api.Options)) (*api.GetCommitOutput, error) {
	log, _, absent := s.Memory.History(ctx, *in.CommitId, "", 1)
	if err := cmp.Or(s.Read(), ctx.Err()); err != nil || absent != nil {
		return nil, cmp.Or(err, refuse("CommitIdDoesNotExistException", *in.CommitId))
	}
	c := log[0]
	date := aws.String(fmt.Sprintf("%d +0000", c.When.Unix()))
	user := func(name string) *types.UserInfo {
		return &types.UserInfo{Name: aws.String(name), Email: aws.String(name + "@example.com"), Date: date}
	}
	return &api.GetCommitOutput{Commit: &types.Commit{
		CommitId: &c.ID, Parents: c.Parents, Message: &c.Message, Author: user(c.Author), Committer: user(c.Committer),
	}}, nil
}

// GetFolder implements the operation.
func (s *Service) GetFolder(ctx context.Context, in *api.GetFolderInput, _ ...func(*api.Options)) (*api.GetFolderOutput, error) {
	if err := cmp.Or(s.Read(), ctx.Err()); err != nil {
		return nil, err
	}
	folder := strings.Trim(aws.ToString(in.FolderPath), "/")
	below := map[string]map[string]string{} // the files of each folder, by their path in it
	out := &api.GetFolderOutput{CommitId: in.CommitSpecifier, FolderPath: in.FolderPath}
	s.mu.Lock()
	defer s.mu.Unlock()
	files := s.Memory.Show(*in.CommitSpecifier)
	for _, file := range slices.Sorted(maps.Keys(files)) {
		rest, is := strings.CutPrefix(file, folder+"/")
		if folder == "" {
			rest, is = file, true
		}
		name, inside, deeper := strings.Cut(rest, "/")
		switch {
		case !is:
		case deeper:
			if below[name] == nil {
				below[name] = map[string]string{}
			}
			below[name][inside] = files[file]
		default:
			id := plumbing.ComputeHash(plumbing.BlobObject, []byte(files[file])).String()
			if s.blobs == nil {
				s.blobs = map[string]string{}
			}
			s.blobs[id] = files[file]
			out.Files = append(out.Files, types.File{AbsolutePath: aws.String(file), BlobId: &id, FileMode: types.FileModeTypeEnumNormal})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(below)) {
		at, id := path.Join(folder, name), treeOf(below[name])
		out.SubFolders = append(out.SubFolders, types.Folder{AbsolutePath: &at, TreeId: &id})
	}
	return out, nil
}

// treeOf returns an id for the content of a folder.
func treeOf(files map[string]string) string {
	sum := sha1.New()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(sum, "%q %q\n", file, files[file])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// GetBlob implements the operation.
func (s *Service) GetBlob(ctx context.Context, in *api.GetBlobInput, _ ...func(*api.Options)) (*api.GetBlobOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, known := s.blobs[*in.BlobId]
	if err := cmp.Or(s.Read(), ctx.Err()); err != nil || !known {
		return nil, cmp.Or(err, refuse("BlobIdDoesNotExistException", *in.BlobId))
	}
	return &api.GetBlobOutput{Content: []byte(text)}, nil
}

// CreateCommit implements the operation.
func (s *Service) CreateCommit(ctx context.Context, in *api.CreateCommitInput, _ ...func(*api.Options)) (*api.CreateCommitOutput, error) {
	return writes(s, func() (*api.CreateCommitOutput, error) {
		switch head := s.head(in.BranchName); {
		case head == "":
			return nil, refuse("BranchDoesNotExistException", *in.BranchName)
		case head != *in.ParentCommitId:
			return nil, refuse("ParentCommitIdOutdatedException", *in.ParentCommitId)
		}
		files := map[string][]byte{}
		for _, put := range in.PutFiles {
			files[*put.FilePath] = put.FileContent
		}
		for _, gone := range in.DeleteFiles {
			files[*gone.FilePath] = nil
		}
		id, err := s.Memory.Commit(ctx, repo.Commit{
			Branch: branch(in.BranchName), Expect: *in.ParentCommitId, Parent: *in.ParentCommitId,
			Files: files, Message: *in.CommitMessage, When: s.Now(),
		})
		return &api.CreateCommitOutput{CommitId: &id}, err
	})
}

// CreateBranch implements the operation.
func (s *Service) CreateBranch(_ context.Context, in *api.CreateBranchInput, _ ...func(*api.Options)) (*api.CreateBranchOutput, error) {
	return writes(s, func() (*api.CreateBranchOutput, error) {
		if !s.Memory.Point(branch(in.BranchName), *in.CommitId) {
			return nil, refuse("BranchNameExistsException", *in.BranchName)
		}
		return &api.CreateBranchOutput{}, nil
	})
}

// DeleteBranch implements the operation.
func (s *Service) DeleteBranch(_ context.Context, in *api.DeleteBranchInput, _ ...func(*api.Options)) (*api.DeleteBranchOutput, error) {
	return writes(s, func() (*api.DeleteBranchOutput, error) {
		head := s.Memory.Remove(branch(in.BranchName))
		if head == "" {
			return &api.DeleteBranchOutput{}, nil
		}
		return &api.DeleteBranchOutput{DeletedBranch: &types.BranchInfo{BranchName: in.BranchName, CommitId: &head}}, nil
	})
}

// ListPullRequests implements the operation.
func (s *Service) ListPullRequests(ctx context.Context, in *api.ListPullRequestsInput,
	_ ...func(*api.Options)) (*api.ListPullRequestsOutput, error) {
	out := &api.ListPullRequestsOutput{}
	for _, p := range s.Memory.All() {
		if (p.State == repo.ProposalOpen) == (in.PullRequestStatus == types.PullRequestStatusEnumOpen) {
			out.PullRequestIds = append(out.PullRequestIds, p.ID)
		}
	}
	return out, cmp.Or(s.Read(), ctx.Err())
}

// pull returns a pull request; nil if it does not exist.
func (s *Service) pull(id *string) *types.PullRequest {
	all := s.Memory.All()
	i := slices.IndexFunc(all, func(p repo.Proposal) bool { return p.ID == *id })
	if i < 0 {
		return nil
	}
	p := all[i]
	status := types.PullRequestStatusEnumClosed
	if p.State == repo.ProposalOpen {
		status = types.PullRequestStatusEnumOpen
	}
	title, body, _ := s.Memory.Words(p.ID)
	target := types.PullRequestTarget{
		SourceReference: aws.String("refs/heads/" + p.Branch), DestinationReference: aws.String("refs/heads/" + base),
		SourceCommit: &p.Head, DestinationCommit: aws.String(s.head(aws.String(base))),
		MergeMetadata: &types.MergeMetadata{IsMerged: p.State == repo.ProposalMerged},
	}
	return &types.PullRequest{
		PullRequestId: &p.ID, Title: &title, Description: &body,
		PullRequestStatus: status, PullRequestTargets: []types.PullRequestTarget{target},
	}
}

// GetPullRequest implements the operation.
func (s *Service) GetPullRequest(ctx context.Context, in *api.GetPullRequestInput,
	_ ...func(*api.Options)) (*api.GetPullRequestOutput, error) {
	p := s.pull(in.PullRequestId)
	if err := cmp.Or(s.Read(), ctx.Err()); err != nil || p == nil {
		return nil, cmp.Or(err, refuse("PullRequestDoesNotExistException", *in.PullRequestId))
	}
	return &api.GetPullRequestOutput{PullRequest: p}, nil
}

// CreatePullRequest implements the operation.
func (s *Service) CreatePullRequest(ctx context.Context, in *api.CreatePullRequestInput,
	_ ...func(*api.Options)) (*api.CreatePullRequestOutput, error) {
	return writes(s, func() (*api.CreatePullRequestOutput, error) {
		of := in.Targets[0].SourceReference
		if s.head(of) == "" {
			return nil, refuse("ReferenceDoesNotExistException", *of)
		}
		p, err := s.Memory.Ensure(ctx, repo.Draft{Branch: branch(of), Title: *in.Title, Body: *in.Description})
		return &api.CreatePullRequestOutput{PullRequest: s.pull(&p.ID)}, err
	})
}

// opened returns an error unless the pull request is open.
func (s *Service) opened(id *string) error {
	if p := s.pull(id); p == nil || p.PullRequestStatus != types.PullRequestStatusEnumOpen {
		return refuse("PullRequestAlreadyClosedException", *id)
	}
	return nil
}

// UpdatePullRequestTitle implements the operation.
func (s *Service) UpdatePullRequestTitle(_ context.Context, in *api.UpdatePullRequestTitleInput,
	_ ...func(*api.Options)) (*api.UpdatePullRequestTitleOutput, error) {
	return writes(s, func() (*api.UpdatePullRequestTitleOutput, error) {
		if err := s.opened(in.PullRequestId); err != nil {
			return nil, err
		}
		_, body, _ := s.Memory.Words(*in.PullRequestId)
		s.Memory.Entitle(*in.PullRequestId, *in.Title, body)
		return &api.UpdatePullRequestTitleOutput{}, nil
	})
}

// UpdatePullRequestDescription implements the operation.
func (s *Service) UpdatePullRequestDescription(_ context.Context, in *api.UpdatePullRequestDescriptionInput,
	_ ...func(*api.Options)) (*api.UpdatePullRequestDescriptionOutput, error) {
	return writes(s, func() (*api.UpdatePullRequestDescriptionOutput, error) {
		if err := s.opened(in.PullRequestId); err != nil {
			return nil, err
		}
		title, _, _ := s.Memory.Words(*in.PullRequestId)
		s.Memory.Entitle(*in.PullRequestId, title, *in.Description)
		return &api.UpdatePullRequestDescriptionOutput{}, nil
	})
}

// UpdatePullRequestStatus implements the operation.
func (s *Service) UpdatePullRequestStatus(_ context.Context, in *api.UpdatePullRequestStatusInput,
	_ ...func(*api.Options)) (*api.UpdatePullRequestStatusOutput, error) {
	return writes(s, func() (*api.UpdatePullRequestStatusOutput, error) {
		if err := s.opened(in.PullRequestId); err != nil {
			return nil, err
		}
		s.Memory.Decline(*in.PullRequestId)
		return &api.UpdatePullRequestStatusOutput{}, nil
	})
}

// PostCommentForPullRequest implements the operation.
func (s *Service) PostCommentForPullRequest(_ context.Context, in *api.PostCommentForPullRequestInput,
	_ ...func(*api.Options)) (*api.PostCommentForPullRequestOutput, error) {
	return writes(s, func() (*api.PostCommentForPullRequestOutput, error) {
		s.Memory.Comment(*in.PullRequestId, *in.Content)
		return &api.PostCommentForPullRequestOutput{}, nil
	})
}
