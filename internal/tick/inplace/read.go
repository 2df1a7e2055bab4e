// Package inplace edits the files in which users mark numbers that follow the checkpoint.
// Markers are one-way: a number in a file never changes an entry. gitlatch stores nothing
// about markers. All functions except Read and At are pure.
package inplace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// MostBytes is the size limit of a file that is edited in place. Files that users write by
// hand are far smaller, and a tick parses each several times.
const MostBytes = 1 << 20

// A File is a file that is edited in place, at some commit.
type File struct {
	Path string
	ID   string // of the file's object; "" if the commit does not have the file
	Data []byte
	// Marks are the marked numbers by workload, in pods and by line.
	Marks map[workload.ID][]int32
	// Refused are the reasons why the file, or some of its markers, cannot be edited, by
	// line.
	Refused []splice.Problem
}

// Read reads files edited in place at a commit, and other paths. A file that must not be
// followed is not an error: its Object is Unsafe.
func Read(
	ctx context.Context, from ledger.Reader, commit string, known map[string]string, files []string, paths ...string,
) (map[string]repo.Object, error) {
	why := map[string]string{}
	for {
		remaining := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return why[file] != "" })
		objects, err := from.Read(ctx, commit, known, slices.Concat(paths, remaining)...)
		var unsafe *repo.UnsafeError
		if !errors.As(err, &unsafe) {
			for file, text := range why {
				if objects != nil {
					objects[file] = repo.Object{Unsafe: map[string]string{file: text}}
				}
			}
			return objects, err
		}
		before := len(why)
		for _, file := range remaining {
			if file == unsafe.Path {
				why[file] = unsafe.Why
			} else if strings.HasPrefix(file, unsafe.Path+"/") {
				why[file] = "leads through " + unsafe.Error()
			}
		}
		if len(why) == before {
			return nil, err
		}
	}
}

// At returns the markers of files at a commit. kinds are the kinds of the site.
func At(ctx context.Context, from ledger.Reader, commit string, paths []string, kinds workload.Kinds) ([]File, error) {
	objects, err := Read(ctx, from, commit, nil, paths)
	if err != nil {
		return nil, err
	}
	return Look(paths, objects, kinds), nil
}

// Look returns the markers of files from the objects at their paths. kinds are the kinds
// of the site.
func Look(paths []string, objects map[string]repo.Object, kinds workload.Kinds) []File {
	return lists.Map(paths, func(path string) File { return look(path, objects[path], kinds) })
}

func look(path string, o repo.Object, kinds workload.Kinds) File {
	data, plain := o.Files[path]
	f := File{Path: path, ID: o.ID, Data: data, Marks: map[workload.ID][]int32{}}
	refuse := func(text string) File {
		f.Refused = []splice.Problem{{File: path, Text: text}}
		return f
	}
	switch why := o.Unsafe[path]; {
	case why != "":
		return refuse(why + ". Give the file itself in inPlace of the policy")
	case o.ID == "":
		return refuse("is not on the branch. Commit it, or remove it from inPlace of the policy")
	case !plain:
		return refuse("is a folder. List its files in inPlace of the policy")
	case len(data) > MostBytes:
		return refuse(fmt.Sprintf("has %d bytes, and gitlatch edits files of at most %d. Use a smaller file", len(data), MostBytes))
	}
	marks, err := splice.Find(path, data, kinds)
	var refused *splice.Refused
	if errors.As(err, &refused) {
		f.Refused = refused.Problems
	}
	for _, m := range marks {
		if !f.bars(m.ID) {
			f.Marks[m.ID] = append(f.Marks[m.ID], m.Value)
		}
	}
	return f
}

// bars reports whether the markers of a workload cannot be edited, because one of them or
// the file is refused.
func (f File) bars(id workload.ID) bool {
	return slices.ContainsFunc(f.Refused, func(r splice.Problem) bool { return r.ID == id || r.ID == workload.ID{} })
}
