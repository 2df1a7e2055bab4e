package codecommit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/codecommit/types"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
	"github.com/gitlatch/gitlatch/internal/repo/sight"
)

// An edit is the part of a CreateCommit request that changes files.
type edit struct {
	put    []types.PutFileEntry
	remove []types.DeleteFileEntry
}

func (e edit) empty() bool { return len(e.put)+len(e.remove) == 0 }

// edit returns the changes that give files of a commit the wanted content; nil removes a
// file. It omits unchanged files, and a file keeps its mode.
func (r *Repository) edit(ctx context.Context, commit string, files map[string][]byte) (e edit, err error) {
	err = r.look(ctx, commit, func(s *sight.Sight, root plumbing.Hash) (err error) {
		e, err = editOf(s, root, files)
		return err
	})
	return e, err
}

func editOf(s *sight.Sight, root plumbing.Hash, files map[string][]byte) (e edit, err error) {
	for _, path := range slices.Sorted(maps.Keys(files)) {
		old, err := oldFile(s, root, path, files)
		if err != nil {
			return edit{}, err
		}
		content := files[path]
		switch {
		case content == nil && old.Mode != "":
			e.remove = append(e.remove, types.DeleteFileEntry{FilePath: &path})
		case content != nil && old.ID != plumbing.ComputeHash(plumbing.BlobObject, content):
			e.put = append(e.put, types.PutFileEntry{FilePath: &path, FileContent: content, FileMode: modeOf(old)})
		}
	}
	return e, nil
}

// oldFile returns the file that a change of a path replaces, or zero if there is no such
// file. It returns an error if the path must not be replaced.
func oldFile(s *sight.Sight, root plumbing.Hash, path string, files map[string][]byte) (pack.Entry, error) {
	old, at, there, err := s.Find(root, path)
	content, named := files[at]
	switch {
	case err != nil:
		return pack.Entry{}, err
	case there && old.Kind() == repo.Folder:
		return pack.Entry{}, &repo.UnsafeError{Path: path, Why: "is a directory"}
	case there:
		return old, nil
	case at != "" && files[path] != nil && !(named && content == nil):
		return pack.Entry{}, &repo.UnsafeError{Path: at, Why: "is a file, but must be a directory"}
	}
	return pack.Entry{}, nil
}

func modeOf(old pack.Entry) types.FileModeTypeEnum {
	if old.Mode == executable {
		return types.FileModeTypeEnumExecutable
	}
	return types.FileModeTypeEnumNormal
}

// The limits of CreateCommit, in bytes.
const (
	mostMessage = 256 << 10
	mostFile    = 6 << 20
	mostFiles   = 7 << 20
)

// fits returns an error if CodeCommit would refuse the size of the edit or the message.
func (e edit) fits(message string) error {
	if len(message) > mostMessage {
		return &repo.RefusedError{Why: fmt.Sprintf("the message has %d KiB, and CodeCommit accepts at most 256", len(message)>>10), TooLarge: true}
	}
	all := 0
	for _, file := range e.put {
		all += len(file.FileContent)
		if len(file.FileContent) > mostFile {
			return &repo.RefusedError{Why: fmt.Sprintf("%s has %d MiB, and CodeCommit accepts at most 6", *file.FilePath, len(file.FileContent)>>20)}
		}
	}
	if all > mostFiles {
		return &repo.RefusedError{Why: fmt.Sprintf("the changed files have %d MiB together, and CodeCommit accepts at most 7", all>>20), TooLarge: true}
	}
	return nil
}
