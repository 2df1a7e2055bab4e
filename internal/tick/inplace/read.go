// Package inplace is what people mark in files of their own, so that a count in
// them follows the record: read, written and reported.
package inplace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// MostBytes is how large a file that is edited in place may be. Files that people
// write by hand are far smaller, and each is parsed several times in a tick.
const MostBytes = 1 << 20

// Read reads files edited in place at a commit, and other paths beside
// them. A file that must not be followed is no error: its Object is Unsafe.
func Read(ctx context.Context, from ledger.Reader, commit string, known map[string]string, files []string, paths ...string) (map[string]repo.Object, error) {
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

// Look returns what a file edited in place holds of workloads of the kinds, by its
// path and what was read at it. before is what it held when it was last read: a
// mark that cannot be read now still says what it said, so that an edit of it
// shows once it can.
func Look(file string, o repo.Object, kinds workload.Kinds, before latch.Marks) latch.File {
	data, plain := o.Files[file]
	f := latch.File{ID: o.ID, Marks: latch.Marks{}, Kinds: sortedKinds(kinds)}
	refuse := func(line int, id workload.ID, text string) {
		f.Refused = append(f.Refused, latch.Refusal{Line: line, ID: id, Text: text})
	}
	switch why := o.Unsafe[file]; {
	case why != "":
		refuse(0, workload.ID{}, why+": name the file itself in inPlace of the policy")
	case o.ID == "":
		refuse(0, workload.ID{}, "is not on the branch: put it there, or take it out of inPlace of the policy")
		return f
	case !plain:
		refuse(0, workload.ID{}, "is a folder: name the files in it in inPlace of the policy")
	case len(data) > MostBytes:
		refuse(0, workload.ID{}, fmt.Sprintf("has %d bytes, and files of more than %d are not edited: mark a smaller one", len(data), MostBytes))
	default:
		marks, err := splice.Find(file, data, kinds)
		for _, m := range marks {
			f.Marks[m.ID] = append(f.Marks[m.ID], m.Value)
		}
		var refused *splice.Refused
		if errors.As(err, &refused) {
			for _, r := range refused.Problems {
				refuse(r.Line, r.ID, r.Text)
			}
		}
	}
	for id, counts := range before {
		if _, read := f.Marks[id]; !read && barred(f, id) {
			f.Marks[id] = counts
		}
	}
	return f
}

// sortedKinds are the custom kinds that a site names, sorted; nil if there are none.
func sortedKinds(kinds workload.Kinds) []workload.Kind { return slices.Sorted(maps.Keys(kinds)) }

// barred reports whether the marks of a workload in a file are not edited, since
// one of them or the whole file is refused.
func barred(f latch.File, id workload.ID) bool {
	return slices.ContainsFunc(f.Refused, func(r latch.Refusal) bool { return r.ID == id || r.ID == workload.ID{} })
}
