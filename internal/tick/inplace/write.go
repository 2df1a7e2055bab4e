package inplace

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Following is a workload's marks in one file that follow its level.
type Following struct {
	File   string
	ID     workload.ID
	Counts []int32 // in pods, by line
	Level  int32   // in pods
}

// Behind reports whether any of them is not at the level.
func (m Following) Behind() bool { return behind(m.Counts, m.Level) }

func behind(counts []int32, level int32) bool {
	return slices.ContainsFunc(counts, func(n int32) bool { return n != level })
}

// A Cover says which workloads may be written to files that act on the live cluster.
type Cover struct {
	Evidence checkpoint.Evidence
	Risk     map[workload.ID]bool // whose policy does without
}

// whyLeft says why the marks of a workload in a file are left as they are; "" if they
// follow its level.
func (c Cover) whyLeft(f latch.File, id workload.ID, level int32) string {
	_, covered := c.Evidence.Covers(id)
	switch {
	case barred(f, id):
		return "refused"
	case level == 0:
		return "nothing is declared of it, so that it is left as it is"
	case slices.Contains(f.Marks[id], 0):
		return "0 stands for suspended, and is left as it is: write 1 or more to have it follow"
	case !covered && !c.Risk[id]:
		return "nothing is known to keep it from acting on the live cluster, so that it is left as it is: gitlatch doctor --write looks for what does, acceptRisk of its policy does without"
	}
	return ""
}

// Following are all marks that follow what is declared, by file and workload.
func (f Files) Following(cover Cover, declared map[workload.ID]checkpoint.Entry) (all []Following) {
	for _, path := range f.Paths {
		file := f.Now[path]
		for _, id := range slices.SortedFunc(maps.Keys(file.Marks), workload.Compare) {
			if level := declared[id].Replicas; cover.whyLeft(file, id, level) == "" {
				all = append(all, Following{path, id, file.Marks[id], level})
			}
		}
	}
	return all
}

// Behind reports whether any mark is not at the level that is declared, whether or
// not it may follow.
func (f Files) Behind(declared map[workload.ID]checkpoint.Entry) bool {
	for _, file := range f.Now {
		for id, counts := range file.Marks {
			if level := declared[id].Replicas; level > 0 && behind(counts, level) {
				return true
			}
		}
	}
	return false
}

// Texts are what files hold at some commit, by path, to be edited.
type Texts map[string]text

type text struct {
	data []byte
	file latch.File
}

// At reads what the files hold at a commit.
func (f Files) At(ctx context.Context, from ledger.Reader, commit string) (Texts, error) {
	if len(f.Paths) == 0 {
		return nil, nil
	}
	objects, err := Read(ctx, from, commit, nil, f.Paths)
	all := Texts{}
	for path, o := range objects {
		all[path] = text{o.Files[path], Look(path, o, f.kinds, nil)}
	}
	return all, err
}

// Unmoved splits off the changes whose workload's marks people edited between Take and
// the texts. An edit to the level of the change is no conflict. What people set is not
// written over.
func (f Files) Unmoved(in Texts, changes []checkpoint.Change) (unmoved []checkpoint.Change, moved []workload.ID) {
	for _, c := range changes {
		if slices.ContainsFunc(f.Paths, func(path string) bool {
			to, ok := edited(f.Now[path].Marks[c.ID], in[path].file.Marks[c.ID])
			return ok && (c.To.IsZero() || to != c.To.Replicas)
		}) {
			moved = append(moved, c.ID)
			continue
		}
		unmoved = append(unmoved, c)
	}
	return unmoved, moved
}

// Splice adds to the files of a commit those whose marks are to say other levels,
// and returns what they then say. A file that is refused after all is left as it
// is.
func (f Files) Splice(files map[string][]byte, in Texts, cover Cover, levels map[workload.ID]int32) map[string]latch.Marks {
	var all map[string]latch.Marks
	for _, path := range f.Paths {
		t, want, marks := in[path], map[workload.ID]int32{}, latch.Marks{}
		for id, counts := range t.file.Marks {
			if level := levels[id]; cover.whyLeft(t.file, id, level) == "" && behind(counts, level) {
				want[id], marks[id] = level, slices.Repeat([]int32{level}, len(counts))
			}
		}
		data, err := splice.Edit(path, t.data, want)
		if err != nil {
			file := f.Now[path]
			file.Refused = append(slices.Clone(file.Refused), latch.Refusal{Text: err.Error()})
			f.Now[path] = file
			continue
		}
		if !bytes.Equal(data, t.data) {
			if all == nil {
				all = map[string]latch.Marks{}
			}
			files[path], all[path] = data, marks
		}
	}
	return all
}
