package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick/inplace"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// recall finds what files said when gitlatch last wrote to git, for a site whose state
// is lost. A mark that differs since then was edited, and a mark that was missing
// then is new.
func (p *pass) recall(ctx context.Context, tree checkpoint.Tree) error {
	if seeding := p.head.At.IsZero() && len(p.latches.loaded()) == 0; !seeding || len(p.named.InPlace) == 0 || len(tree.Records) == 0 {
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
	sight, err := p.past.commits.At(ctx, log[last].ID)
	if err != nil {
		return fmt.Errorf("state is new, and what files edited in place said at %s tells an edit from a new mark: %w", log[last].ID, err)
	}
	p.files.Recall(sight.Objects)
	return nil
}

// takeEdits treats a level that people set in place as an edit of the entry: the tree
// declares that level from here on, and the record is to follow. If people edited the
// record to another level as well, the record counts.
func (p *pass) takeEdits(tree *checkpoint.Tree, judged map[workload.ID]*ledger.Change) {
	for _, e := range p.files.Edits(tree, p.head.Edited) {
		c := judged[e.ID]
		if (c.Was.Replicas != e.From || p.past.authorsUnknown()) && !p.files.Agreed(e, e.From) {
			p.notice(NoticeOverruled, e.ID.String(), fmt.Sprintf("people set it to %d in the record and to %d in %s: the record counts", e.From, e.To, e.File))
			continue
		}
		tree.Revise(e.ID, e.From, e.To)
		if c.Was.Replicas, c.Now.Replicas = e.From, e.To; p.past.window.Cut {
			c.Was = c.Now // nobody can tell who set the level
		}
		p.git.edited[e.ID] = e.File
		p.head.Edited = inplace.AddPending(p.head.Edited, e)
	}
}

// cover says which workloads may be written to files that act on the live cluster.
func (p *pass) cover() inplace.Cover {
	c := inplace.Cover{Evidence: p.head.Agreed.Evidence, Risk: map[workload.ID]bool{}}
	for _, s := range p.fleet.Samples {
		if p.files.Marks(s.ID) {
			chosen, _, _ := p.set.Choose(s)
			c.Risk[s.ID] = chosen.AcceptRisk
		}
	}
	return c
}

// fileConditions are what people should know of what files edited in place hold.
func (f *findings) fileConditions(marks []inplace.Mark) {
	f.report.InPlace = marks
	var files []string
	refused := map[string][]string{}
	for _, m := range marks {
		if m.Refused {
			files, refused[m.File] = append(files, m.File), append(refused[m.File], m.Err().Error())
			f.problem(fmt.Errorf("in place: %w; what it marks is left as it is, the record is written all the same", m.Err()))
		}
	}
	for _, file := range slices.Compact(files) {
		f.condition(alert.Invalid, file, strings.Join(refused[file], "\n"),
			"leaves what it marks as it is, and commits the record all the same", "do as it says, or take the file out of inPlace of the policy")
	}
}
