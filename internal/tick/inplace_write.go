package tick

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/splice"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A followed is a workload's marks in one file that follow its level.
type followed struct {
	file  string
	id    workload.ID
	says  []int32
	level int32
}

// behind reports whether any of them is not at the level.
func (f followed) behind() bool {
	return slices.ContainsFunc(f.says, func(n int32) bool { return n != f.level })
}

// marked are all marks that follow the tree that was read, by file and workload.
func (p *pass) marked() []followed {
	var all []followed
	entries := p.git.tree.Entries()
	for _, file := range p.InPlace {
		f := p.git.files[file]
		for _, id := range slices.SortedFunc(maps.Keys(f.Marks), workload.Compare) {
			if level := entries[id].Replicas; p.left(f, id, level) == "" {
				all = append(all, followed{file, id, f.Marks[id], level})
			}
		}
	}
	return all
}

// left says why the marks of a workload in a file are left as they are, "" where
// they follow its level.
func (p *pass) left(f latch.File, id workload.ID, level int32) string {
	_, covered := p.head.Agreed.Evidence.Covers(id)
	switch {
	case inplace.Barred(f, id):
		return "refused"
	case level == 0:
		return "nothing is declared of it, so that it is left as it is"
	case slices.Contains(f.Marks[id], 0):
		return "0 stands for suspended, and is left as it is: write 1 or more to have it follow"
	case !covered && !p.acceptsRisk(id):
		return "nothing is known to keep it from acting on the live cluster, so that it is left as it is: gitlatch doctor --write looks for what does, acceptRisk of its policy does without"
	}
	return ""
}

// acceptsRisk reports whether the policy of a workload that runs does without
// evidence.
func (p *pass) acceptsRisk(id workload.ID) bool {
	i, runs := slices.BinarySearchFunc(p.fleet.Samples, id, func(s workload.Sample, id workload.ID) int { return workload.Compare(s.ID, id) })
	if !runs {
		return false
	}
	chosen, _, _ := p.set.Choose(p.fleet.Samples[i])
	return chosen.AcceptRisk
}

// waiting reports whether a mark is behind its level while a part of the cluster
// is unread: a workload that was not seen may be one that does without evidence.
func (p *pass) waiting() bool {
	entries := p.git.tree.Entries()
	for file, f := range p.git.files {
		for id, says := range f.Marks {
			level := entries[id].Replicas
			if len(p.fleet.Unread) > 0 && level > 0 && (followed{file, id, says, level}).behind() {
				return true
			}
		}
	}
	return false
}

// A held is a file edited in place as the tip of the branch holds it.
type held struct {
	data []byte
	file latch.File
}

// readMarked reads the files edited in place at the tip.
func (p *pass) readMarked(ctx context.Context) (map[string]held, error) {
	if len(p.InPlace) == 0 {
		return nil, nil
	}
	objects, err := p.read(ctx, p.git.tip, nil)
	all := map[string]held{}
	for file, o := range objects {
		all[file] = held{o.Files[file], inplace.Look(file, o, p.fleet.Kinds, nil)}
	}
	return all, err
}

// unmoved are the changes of whose workloads no mark was edited since the branch
// was reconciled, and the others: what people set is not written over.
func (p *pass) unmoved(changes []checkpoint.Change, in map[string]held) (kept []checkpoint.Change, moved []workload.ID) {
	for _, c := range changes {
		if slices.ContainsFunc(p.InPlace, func(file string) bool {
			to, ok := edited(p.git.files[file].Marks[c.ID], in[file].file.Marks[c.ID])
			return ok && (c.To.IsZero() || to != c.To.Replicas)
		}) {
			moved = append(moved, c.ID)
			continue
		}
		kept = append(kept, c)
	}
	return kept, moved
}

// targets are the levels that marks are to say once changes are made, and namespaces
// follow their records.
func targets(tree checkpoint.Tree, changes []checkpoint.Change, mended []string) map[workload.ID]int32 {
	to := map[workload.ID]int32{}
	for _, namespace := range mended {
		for id, e := range tree.Records[namespace].Entries {
			to[id] = e.Replicas
		}
	}
	for _, c := range changes {
		to[c.ID] = c.To.Replicas
	}
	return to
}

// splice adds to the files of a commit those edited in place whose marks are to
// say other levels, and returns what they then say. A file that is refused after
// all is left as it is.
func (p *pass) splice(files map[string][]byte, in map[string]held, to map[workload.ID]int32) map[string]latch.Marks {
	var all map[string]latch.Marks
	for _, file := range p.InPlace {
		h, want, say := in[file], map[workload.ID]int32{}, latch.Marks{}
		for id, says := range h.file.Marks {
			if level := to[id]; p.left(h.file, id, level) == "" && (followed{says: says, level: level}).behind() {
				want[id], say[id] = level, slices.Repeat([]int32{level}, len(says))
			}
		}
		data, err := splice.Edit(file, h.data, want)
		if err != nil {
			f := p.git.files[file]
			f.Refused = append(f.Refused[:len(f.Refused):len(f.Refused)], latch.Refusal{Text: err.Error()})
			p.git.files[file] = f
			continue
		}
		if !bytes.Equal(data, h.data) {
			if all == nil {
				all = map[string]latch.Marks{}
			}
			files[file], all[file] = data, say
		}
	}
	return all
}

// wrote notes what a push to the base made of files.
func (p *pass) wrote(w writing) {
	for file, marks := range w.marks {
		f := p.git.files[file]
		f.ID, f.Marks = "", maps.Clone(f.Marks)
		if f.Marks == nil {
			f.Marks = latch.Marks{}
		}
		maps.Copy(f.Marks, marks)
		p.git.files[file] = f
	}
	p.head.Edited = slices.DeleteFunc(slices.Clone(p.head.Edited), func(e latch.Edit) bool {
		_, written := w.files[checkpoint.RecordPath(p.Site, e.ID.Namespace)]
		return written
	})
}

// edits are what people set in place and records are to say, in some
// namespaces, as crossings to be told of.
func (p *pass) edits(in []string) (told []policy.Decision) {
	for _, e := range p.head.Edited {
		if slices.Contains(in, e.ID.Namespace) {
			told = append(told, policy.Decision{
				ID: e.ID, Reading: policy.ReadingScale, Text: "a person set it in " + e.File,
				From: checkpoint.Entry{Replicas: e.From}, To: checkpoint.Entry{Replicas: e.To},
			})
		}
	}
	return told
}

// editsIn are those that a commit has records say.
func (p *pass) editsIn(w writing) []policy.Decision {
	var in []string
	for _, e := range p.head.Edited {
		if _, written := w.files[checkpoint.RecordPath(p.Site, e.ID.Namespace)]; written {
			in = append(in, e.ID.Namespace)
		}
	}
	return p.edits(in)
}

// beside is what a commit does besides its crossings.
func (p *pass) beside(w writing) ledger.Beside {
	return ledger.Beside{Files: slices.Sorted(maps.Keys(w.marks)), Components: slices.DeleteFunc(slices.Clone(w.mended), func(namespace string) bool {
		_, written := w.files[checkpoint.ComponentPath(p.Site, namespace)]
		return !written
	})}
}

// components are those of the namespaces whose Component is stale, as far as is
// known.
func (p *pass) components(of []string) []string {
	if p.git.tree == nil {
		return of
	}
	stale := p.git.tree.Stale()
	return slices.DeleteFunc(of, func(namespace string) bool { return !slices.Contains(stale, namespace) })
}
