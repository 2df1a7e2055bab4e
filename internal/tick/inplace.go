package tick

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// read reads paths and the files edited in place at a commit. One of those that
// must not be followed has an Object that says why.
func (p *pass) read(ctx context.Context, commit string, known map[string]string, paths ...string) (map[string]repo.Object, error) {
	return inplace.Read(ctx, p.Repository, commit, known, p.InPlace, paths...)
}

// openFiles takes what files edited in place said when they were last read;
// known is false where one never was, or was by other kinds.
func (p *pass) openFiles() (known bool) {
	p.git.said, p.git.files = map[string]latch.Marks{}, map[string]latch.File{}
	known = true
	for _, file := range p.InPlace {
		f, read := p.stored.Agreed.Files[file]
		if !read {
			known = false
			continue
		}
		if !slices.Equal(f.Kinds, inplace.Named(p.fleet.Kinds)) {
			f.ID, known = "", false
		}
		p.git.said[file], p.git.files[file] = f.Marks, f
	}
	p.head.Agreed.Files = p.git.files
	return known
}

// readFiles takes what the files edited in place hold at the tip.
func (p *pass) readFiles(objects map[string]repo.Object) {
	for _, file := range p.InPlace {
		if o := objects[file]; o.ID == "" || o.Files != nil {
			p.git.files[file] = inplace.Look(file, o, p.fleet.Kinds, p.git.said[file])
		}
	}
}

// recall finds what files said when gitlatch last wrote to git, or as far back as
// is looked: of a site whose state is lost, what says something else since was
// edited, and what was not there is new.
func (p *pass) recall(ctx context.Context, tree checkpoint.Tree) error {
	if !p.seeding() || len(p.InPlace) == 0 || len(tree.Records) == 0 {
		return nil
	}
	log, whole, err := p.Repository.History(ctx, p.git.tip, "", ancestry)
	if err != nil {
		return err
	}
	last := slices.IndexFunc(log, func(c repo.LogEntry) bool { return ledger.Ours(p.Site, c.Message) })
	switch {
	case last < 0 && whole:
		return nil
	case last < 0:
		last = len(log) - 1
	}
	objects, err := p.read(ctx, log[last].ID, nil)
	if err != nil {
		return fmt.Errorf("state is new, and what files edited in place said at %s tells an edit from a new mark: %w", log[last].ID, err)
	}
	for _, file := range p.InPlace {
		p.git.said[file] = inplace.Look(file, objects[file], p.fleet.Kinds, nil).Marks
	}
	return nil
}

// edited returns what a person set the marks of a workload in one file to, the
// highest of it; ok is false where they set nothing. What stands in marks that
// were added is no edit.
func edited(said, says []int32) (to int32, ok bool) {
	left, other := slices.Clone(said), []int32(nil)
	for _, n := range says {
		if i := slices.Index(left, n); i >= 0 {
			left = slices.Delete(left, i, i+1)
		} else {
			other = append(other, n)
		}
	}
	if len(said) == 0 || len(other) <= max(0, len(says)-len(said)) {
		return 0, false
	}
	return slices.Max(other), true
}

// takeEdits takes what people set in place since for an edit of the entry: the
// tree declares it from here on, and the record is to say so. Of several files
// the highest counts. Where the record was edited as well, and did not agree with
// the marks before, it counts, since it is what all else goes by. 0 is nobody's
// level, and left alone.
func (p *pass) takeEdits(tree *checkpoint.Tree, judged map[workload.ID]*ledger.Change) {
	set := map[workload.ID]latch.Edit{}
	for _, file := range p.InPlace {
		f := p.git.files[file]
		for id, says := range f.Marks {
			to, ok := edited(p.git.said[file][id], says)
			switch {
			case ok && tree.Broken[id.Namespace] != nil:
				f.ID, f.Marks[id] = "", p.git.said[file][id] // seen again once the record can be read
				p.git.files[file] = f
			case ok && to > set[id].To:
				set[id] = latch.Edit{ID: id, File: file, To: to}
			}
		}
	}
	entries := tree.Entries()
	for _, id := range slices.SortedFunc(maps.Keys(set), workload.Compare) {
		e, c := set[id], judged[id]
		e.From = entries[id].Replicas
		switch {
		case e.From == 0 || e.From == e.To:
			continue
		case (c.Was.Replicas != e.From || p.past.dark()) && !slices.Contains(p.git.said[e.File][id], e.From):
			p.notice(NoticeOverruled, id.String(), fmt.Sprintf("people set it to %d in the record and to %d in %s: the record counts", e.From, e.To, e.File))
			continue
		}
		tree.Revise(id, e.From, e.To)
		if c.Now.Replicas = e.To; p.past.window.Cut {
			c.Was = c.Now // it cannot be told whose doing it is
		}
		p.git.edited[id] = e.File
		p.pend(e)
	}
}

// pend notes an edit that the record does not say yet.
func (p *pass) pend(e latch.Edit) {
	pending := slices.Clone(p.head.Edited)
	if i := slices.IndexFunc(pending, func(o latch.Edit) bool { return o.ID == e.ID }); i >= 0 {
		e.From = pending[i].From // what the record says
		pending = slices.Delete(pending, i, i+1)
	}
	if e.From != e.To {
		pending = append(pending, e)
	}
	slices.SortFunc(pending, func(a, b latch.Edit) int { return workload.Compare(a.ID, b.ID) })
	p.head.Edited = pending
}

// revise has a tree declare what people set in place and its records do not say
// yet, and returns what still waits for that.
func (p *pass) revise(tree *checkpoint.Tree) (pending []latch.Edit) {
	for _, e := range p.head.Edited {
		if tree.Revise(e.ID, e.From, e.To) || tree.Broken[e.ID.Namespace] != nil {
			pending = append(pending, e)
		}
	}
	return pending
}
