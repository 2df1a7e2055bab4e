package inplace

import (
	"context"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Files are the files of a site that are edited in place, during one tick. The
// zero value is a site that has none.
type Files struct {
	Paths []string // as configured, without duplicates
	kinds workload.Kinds
	// Now is what they hold at the tip, by path. One that is missing was never read.
	Now map[string]latch.File
	// before is what their marks said when git was agreed with, and what pushes made
	// them say since, by path.
	before map[string]latch.Marks
}

// Open takes what files held when git was agreed with. known is false where one was
// never read, or was by other kinds.
func Open(paths []string, kinds workload.Kinds, agreed map[string]latch.File) (f Files, known bool) {
	f, known = Files{paths, kinds, map[string]latch.File{}, map[string]latch.Marks{}}, true
	for _, path := range paths {
		file, read := agreed[path]
		if !read {
			known = false
			continue
		}
		if !slices.Equal(file.Kinds, sortedKinds(kinds)) {
			file.ID, known = "", false
		}
		f.before[path], f.Now[path] = file.Marks, file
	}
	return f, known
}

// Take takes what the files hold at the tip.
func (f Files) Take(objects map[string]repo.Object) {
	for _, path := range f.Paths {
		if o := objects[path]; o.ID == "" || o.Files != nil {
			f.Now[path] = Look(path, o, f.kinds, f.before[path])
		}
	}
}

// Marks reports whether any of the files marks a workload.
func (f Files) Marks(id workload.ID) bool {
	for _, file := range f.Now {
		if len(file.Marks[id]) > 0 {
			return true
		}
	}
	return false
}

// Recall sets what marks said before to what they said at some commit.
func (f Files) Recall(objects map[string]repo.Object) {
	for _, path := range f.Paths {
		f.before[path] = Look(path, objects[path], f.kinds, nil).Marks
	}
}

// AddPush adds to what marks said before the counts that a push wrote, and those that
// it had records follow.
func (f Files) AddPush(parent, pushed ledger.Snapshot, follows []workload.ID) {
	for _, path := range f.Paths {
		from, to := Look(path, parent.Objects[path], f.kinds, nil).Marks, Look(path, pushed.Objects[path], f.kinds, nil).Marks
		maps.DeleteFunc(to, func(id workload.ID, counts []int32) bool {
			followed := slices.Contains(follows, id) && !behind(counts, pushed.Entries[id].Replicas)
			return slices.Equal(counts, from[id]) && !followed
		})
		f.before[path] = with(f.before[path], to)
	}
}

// Wrote adds the counts that a push wrote to what marks say now.
func (f Files) Wrote(marks map[string]latch.Marks) {
	for path, counts := range marks {
		file := f.Now[path]
		file.ID, file.Marks = "", with(file.Marks, counts)
		f.Now[path] = file
	}
}

func with(marks, more latch.Marks) latch.Marks {
	all := latch.Marks{}
	maps.Copy(all, marks)
	maps.Copy(all, more)
	return all
}

// Edits are the levels that people set in the marks of workloads that are declared,
// in the order of workload.Compare: of several files the highest. In a namespace
// whose record is broken they are seen again once it can be read. A mark with a pending
// edit said the level of that edit, even if the mark was removed since.
func (f Files) Edits(tree *checkpoint.Tree, pending []latch.Edit) (edits []latch.Edit) {
	entries, highest := tree.Entries(), map[workload.ID]latch.Edit{}
	for _, path := range f.Paths {
		file := f.Now[path]
		for id, counts := range file.Marks {
			before := f.before[path][id]
			i := slices.IndexFunc(pending, func(e latch.Edit) bool { return e.ID == id && e.File == path })
			if len(before) == 0 && i >= 0 {
				before = []int32{pending[i].To}
			}
			to, ok := edited(before, counts)
			switch {
			case ok && tree.Broken[id.Namespace] != nil:
				file.ID, file.Marks[id] = "", f.before[path][id]
				f.Now[path] = file
			case ok && to > highest[id].To:
				highest[id] = latch.Edit{ID: id, File: path, From: entries[id].Replicas, To: to}
			}
		}
	}
	for _, id := range slices.SortedFunc(maps.Keys(highest), workload.Compare) {
		if e := highest[id]; e.From != 0 && e.From != e.To {
			edits = append(edits, e)
		}
	}
	return edits
}

// edited returns what a person set the marks of a workload in one file to, the
// highest of it; ok is false where they set nothing. What stands in marks that
// were added is no edit.
func edited(before, now []int32) (to int32, ok bool) {
	same, other := slices.Clone(before), []int32(nil)
	for _, n := range now {
		if i := slices.Index(same, n); i >= 0 {
			same = slices.Delete(same, i, i+1)
		} else {
			other = append(other, n)
		}
	}
	if len(before) == 0 || len(other) <= max(0, len(now)-len(before)) {
		return 0, false
	}
	return slices.Max(other), true
}

// Agreed reports whether the marks that a person edited agreed with a level before.
func (f Files) Agreed(e latch.Edit, level int32) bool {
	return slices.Contains(f.before[e.File][e.ID], level)
}

// AddPending adds an edit to those that records do not hold yet, in the order of
// workload.Compare.
func AddPending(pending []latch.Edit, e latch.Edit) []latch.Edit {
	pending = slices.Clone(pending)
	if i := slices.IndexFunc(pending, func(o latch.Edit) bool { return o.ID == e.ID }); i >= 0 {
		e.From = pending[i].From // what the record says
		pending = slices.Delete(pending, i, i+1)
	}
	if e.From != e.To {
		pending = append(pending, e)
	}
	slices.SortFunc(pending, func(a, b latch.Edit) int { return workload.Compare(a.ID, b.ID) })
	return pending
}

// Standing returns the edits that still stand at a commit. An edit is over once its
// record says another level, or all marks of its file say what the record says.
func (f Files) Standing(s ledger.Snapshot, pending []latch.Edit) []latch.Edit {
	marks := map[string]latch.Marks{}
	for _, path := range f.Paths {
		marks[path] = Look(path, s.Objects[path], f.kinds, nil).Marks
	}
	return slices.DeleteFunc(standing(marks, pending), func(e latch.Edit) bool {
		return s.Entries[e.ID].Replicas != e.From && !s.Broken[e.ID.Namespace]
	})
}

func standing(marks map[string]latch.Marks, pending []latch.Edit) []latch.Edit {
	return slices.DeleteFunc(slices.Clone(pending), func(e latch.Edit) bool {
		counts := marks[e.File][e.ID]
		return len(counts) > 0 && !behind(counts, e.From)
	})
}

// StandingNow returns the edits that still stand by what the files hold now.
func (f Files) StandingNow(pending []latch.Edit) []latch.Edit {
	marks := map[string]latch.Marks{}
	for path, file := range f.Now {
		marks[path] = file.Marks
	}
	return standing(marks, pending)
}

// Revise has a tree of the tip declare the edits that its records do not say yet, and
// returns those that still wait for that.
func (f Files) Revise(tree *checkpoint.Tree, pending []latch.Edit) (waiting []latch.Edit) {
	for _, e := range f.StandingNow(pending) {
		if tree.Revise(e.ID, e.From, e.To) || tree.Broken[e.ID.Namespace] != nil {
			waiting = append(waiting, e)
		}
	}
	return waiting
}

// A Reader reads the files with all else that is read of a repository.
type Reader struct {
	ledger.Reader
	Paths []string
}

// Read reads paths and the files. See Read, the function.
func (r Reader) Read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	return Read(ctx, r.Reader, commit, known, r.Paths, paths...)
}
