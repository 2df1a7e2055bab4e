package codecommit

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"
	"golang.org/x/sync/errgroup"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// An entry is what a name in a folder stands for.
type entry struct {
	kind repo.Kind
	id   string // of the tree or blob; of the root, that of its commit
	mode types.FileModeTypeEnum
}

// A folder is the entries of one, by name.
type folder map[string]entry

// A place is an entry and where it is.
type place struct {
	path string // "" is the root
	entry
}

func root(commit string) place { return place{"", entry{kind: repo.Folder, id: commit}} }

// below are the places in a folder that is at a path.
func (f folder) below(at string) map[string]place {
	places := make(map[string]place, len(f))
	for name, e := range f {
		places[name] = place{path.Join(at, name), e}
	}
	return places
}

// list returns what is in each of several folders of a commit, by their ids. What
// is the same is asked for once.
func (r *Repository) list(ctx context.Context, commit string, at []place) (map[string]folder, error) {
	one := slices.CompactFunc(slices.SortedFunc(slices.Values(at), byID), func(a, b place) bool { return a.id == b.id })
	found, list := map[string]folder{}, make([]folder, len(one))
	err := repeat(ctx, len(one), func(ctx context.Context, i int) (err error) {
		list[i], err = r.folder(ctx, commit, one[i])
		return err
	})
	for i, p := range one {
		found[p.id] = list[i]
	}
	return found, err
}

func byID(a, b place) int { return cmp.Compare(a.id, b.id) }

func (r *Repository) folder(ctx context.Context, commit string, at place) (folder, error) {
	return once(&r.seen, at.id, func() (folder, error) {
		out, err := r.Client.GetFolder(ctx, &codecommit.GetFolderInput{
			RepositoryName: &r.Repository, CommitSpecifier: &commit, FolderPath: aws.String("/" + at.path),
		})
		if err != nil {
			return nil, r.explain(err)
		}
		f := folder{}
		for _, e := range out.Files {
			f[path.Base(aws.ToString(e.AbsolutePath))] = entry{repo.File, aws.ToString(e.BlobId), e.FileMode}
		}
		for _, e := range out.SubFolders {
			f[path.Base(aws.ToString(e.AbsolutePath))] = entry{repo.Folder, aws.ToString(e.TreeId), ""}
		}
		for _, e := range out.SymbolicLinks {
			f[path.Base(aws.ToString(e.AbsolutePath))] = entry{repo.Symlink, aws.ToString(e.BlobId), e.FileMode}
		}
		for _, e := range out.SubModules {
			f[path.Base(aws.ToString(e.AbsolutePath))] = entry{repo.Submodule, aws.ToString(e.CommitId), ""}
		}
		return f, nil
	}, func(f folder) int { return 100 * len(f) })
}

// blob returns the content of a file.
func (r *Repository) blob(ctx context.Context, id string) ([]byte, error) {
	return once(&r.seen, id, func() ([]byte, error) {
		out, err := r.Client.GetBlob(ctx, &codecommit.GetBlobInput{RepositoryName: &r.Repository, BlobId: &id})
		switch {
		case is(err, tooLarge), err == nil && len(out.Content) > repo.MostBytes:
			return nil, errTooLarge
		case err != nil:
			return nil, r.explain(err)
		}
		return append([]byte{}, out.Content...), nil // nil is what is not held
	}, func(content []byte) int { return len(content) })
}

// errTooLarge says that a blob is not read. One larger than 6 MB CodeCommit does
// not hand out.
var errTooLarge = errors.New(repo.TooLarge)

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
