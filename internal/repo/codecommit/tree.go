package codecommit

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"
	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sync/errgroup"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

// look runs read until no folder and no file of a commit is missing, and fetches the
// missing ones in between. The root of a commit has the id of the commit.
func (r *Repository) look(ctx context.Context, commit string, read func(s *sight.Sight, root plumbing.Hash) error) error {
	root := plumbing.NewHash(commit)
	var held sync.Mutex
	fetch := func(ctx context.Context, id plumbing.Hash, at sight.Place) error {
		obj, err := r.object(ctx, commit, id, at)
		held.Lock()
		defer held.Unlock()
		switch {
		case errors.Is(err, pack.ErrLarge):
			r.objects.Large[id] = true
		case err != nil:
			return err
		default:
			r.objects.Hold(id, obj)
		}
		return nil
	}
	return sight.Look(ctx, r.objects, func(s *sight.Sight) error { return read(s, root) }, func(s *sight.Sight) error {
		ids := slices.Collect(maps.Keys(s.Missing))
		return repeat(ctx, len(ids), func(ctx context.Context, i int) error { return fetch(ctx, ids[i], s.Missing[ids[i]]) })
	})
}

// object requests a folder or a file.
func (r *Repository) object(ctx context.Context, commit string, id plumbing.Hash, at sight.Place) (pack.Object, error) {
	if at.Kind == plumbing.TreeObject {
		return r.folder(ctx, commit, at.Path)
	}
	return r.file(ctx, id)
}

// folder returns a folder in the form of a git tree.
func (r *Repository) folder(ctx context.Context, commit, at string) (pack.Object, error) {
	out, err := r.Client.GetFolder(ctx, &codecommit.GetFolderInput{
		RepositoryName: &r.Repository, CommitSpecifier: &commit, FolderPath: aws.String("/" + at),
	})
	if err != nil {
		return pack.Object{}, r.explain(err)
	}
	var entries []pack.Entry
	add := func(mode string, at, id *string) {
		entries = append(entries, pack.NewEntry(mode, path.Base(aws.ToString(at)), plumbing.NewHash(aws.ToString(id))))
	}
	for _, e := range out.Files {
		mode := "100644"
		if e.FileMode == types.FileModeTypeEnumExecutable {
			mode = executable
		}
		add(mode, e.AbsolutePath, e.BlobId)
	}
	for _, e := range out.SubFolders {
		add("40000", e.AbsolutePath, e.TreeId)
	}
	for _, e := range out.SymbolicLinks {
		add("120000", e.AbsolutePath, e.BlobId)
	}
	for _, e := range out.SubModules {
		add("160000", e.AbsolutePath, e.CommitId)
	}
	return pack.TreeObject(entries), nil
}

// executable is git's mode of an executable file.
const executable = "100755"

// file returns the content of a file. CodeCommit does not return files larger than 6 MB.
func (r *Repository) file(ctx context.Context, id plumbing.Hash) (pack.Object, error) {
	out, err := r.Client.GetBlob(ctx, &codecommit.GetBlobInput{RepositoryName: &r.Repository, BlobId: aws.String(id.String())})
	switch {
	case is(err, tooLarge), err == nil && len(out.Content) > repo.MostBytes:
		return pack.Object{}, pack.ErrLarge
	case err != nil:
		return pack.Object{}, r.explain(err)
	}
	return pack.Object{Kind: plumbing.BlobObject, Data: append([]byte{}, out.Content...)}, nil // never nil: nil content removes a file
}

// atOnce is the maximum number of requests at a time.
const atOnce = 8

// repeat calls f for every index below n, for at most atOnce of them at a time. An error
// ends the context of the others.
func repeat(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() error { return f(ctx, i) })
	}
	return group.Wait()
}
