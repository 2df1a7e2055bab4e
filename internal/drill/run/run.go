// Package run runs a drill. In this order, it flushes in a tick, reads the cluster, scores
// it, saves the report and sends a message.
package run

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/archive"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/ledger/history"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Run has the parts and settings of a drill. Archive, Alerts and Page are
// optional.
type Run struct {
	Tick    *tick.Tick // Run sets Flush; with DryRun the drill writes nothing
	Objects doctor.Lister
	// Standby lists the objects of the cluster in which the rebuild runs; nil is the
	// cluster of Objects. Account adds its AWS account to the room in it; nil adds nothing.
	Standby doctor.Lister
	Account doctor.Account
	// Creator tries the creation of each workload at its level; nil tries none.
	Creator doctor.Creator
	Branch  string // of the repository
	Policy  string // the path of the policy file on the branch

	MinCoverage float64
	// LeaseWithin is the longest time to wait while another tick has the lease.
	LeaseWithin time.Duration

	Archive archive.Archive
	Alerts  tick.Alerts
	// Page renders the HTML that is saved next to the document. Nil saves no page.
	Page func(drill.Document) ([]byte, error)
}

// every is the interval between two attempts to get the lease.
const every = 2 * time.Second

// commits is the number of commits to read for the age of checkpoints.
const commits = 100

// Drill runs the drill. It returns an error if it could not compute a score. If it could
// not save its report or send its message, it adds a problem to the document.
func (r *Run) Drill(ctx context.Context) (drill.Document, error) {
	flushed, err := r.flush(ctx)
	if err != nil {
		return drill.Document{}, err
	}
	look, err := r.look(ctx, flushed)
	if err != nil {
		return drill.Document{}, err
	}
	d := score.Document(look)
	worse := false
	if r.Archive != nil {
		last, err := r.Archive.Last(ctx, d.Site)
		d = d.Since(last).Problem(err)
		worse = err == nil && d.Fit.Refuses() && (last == nil || !last.Fit.Refuses())
	}
	if r.Tick.DryRun {
		return d, nil
	}
	if worse {
		d = r.alert(ctx, d, crowded(*d.Fit))
	}
	d = r.keep(ctx, d)
	notice, err := Notice(d)
	return r.tell(ctx, d, notice, err), nil
}

// flush runs the tick, and waits while another run has the lease.
func (r *Run) flush(ctx context.Context) (tick.Report, error) {
	r.Tick.Flush = true
	start := r.Tick.Clock()
	for {
		report, err := r.Tick.Run(ctx)
		waited := r.Tick.Clock().Sub(start)
		switch {
		case err != nil:
			return report, err
		case report.NotRun == "":
			return report, nil
		case ctx.Err() != nil:
			return report, context.Cause(ctx)
		case waited >= r.LeaseWithin || r.Tick.Wait == nil:
			return report, fmt.Errorf("%s; waited for %s. Run the drill again", report.NotRun, waited.Round(time.Second))
		}
		r.Tick.Wait(ctx, every)
	}
}

// look reads everything that is scored. It reads the commit that the flush published, or the
// tip of the branch if the flush published no commit.
func (r *Run) look(ctx context.Context, flushed tick.Report) (look score.Look, err error) {
	look = score.Look{Tick: flushed, Branch: r.Branch, MinCoverage: r.MinCoverage}
	if flushed.Commit != nil && flushed.Commit.ID != "" {
		look.Commit = flushed.Commit.ID
	} else {
		tip, _, err := r.Tick.Repository.Heads(ctx)
		if err != nil {
			return look, fmt.Errorf("find the commit to score: %w", err)
		}
		look.Commit = tip
	}
	if look.Tree, _, err = ledger.TreeAt(ctx, r.Tick.Repository, look.Commit, flushed.Site); err != nil {
		return look, fmt.Errorf("read %s: %w", checkpoint.Directory(flushed.Site), err)
	}
	seen := doctor.Case{
		Site: flushed.Site, Policy: r.Policy, Set: flushed.Set, Tree: look.Tree,
		Fleet: workload.Fleet{Site: flushed.Site, Cluster: flushed.Cluster, At: flushed.At,
			Unread: flushed.Unread, Kinds: flushed.Kinds, Samples: flushed.Samples},
	}
	if why := flushed.Stop.Reason; why != policy.ReasonOther && why != policy.ReasonSecond {
		seen.Tree.Site.Cluster = flushed.Cluster // an adoption is in git only after the site's next commit
	}
	seen.Cluster = doctor.ReadCluster(ctx, r.Objects, seen.Kinds())
	if r.Creator != nil {
		seen.Try(ctx, r.Objects, r.Creator)
	}
	seen.Admission, err = doctor.ReadAdmission(ctx, r.Tick.Repository, look.Commit)
	if err != nil {
		return look, err
	}
	seen.ReadRoom(ctx, r.Standby, r.Account)
	look.Ages, err = history.Ages(ctx, r.Tick.Repository, look.Commit, flushed.Site, commits)
	seen.Changed = history.Changed(look.Ages)
	if flushed.Commit != nil {
		for _, d := range flushed.Commit.Changes {
			seen.Changed[d.ID] = flushed.At
		}
	}
	look.Doctor = doctor.Examine(seen)
	if err != nil { // without an age, a level that the cluster does not have yet is unknown
		look.Tick.Problems = append(slices.Clone(flushed.Problems), fmt.Errorf("read the age of checkpoints: %w", err))
	}
	return look, nil
}

// keep saves the document and its page.
func (r *Run) keep(ctx context.Context, d drill.Document) drill.Document {
	if r.Archive == nil {
		return d
	}
	var page []byte
	var err error
	if r.Page != nil {
		page, err = r.Page(d)
	}
	links, failed := r.Archive.Save(ctx, d, page)
	d.Links = append(d.Links, links...)
	return d.Problem(errors.Join(err, failed))
}

// tell sends a message. If err is not nil, tell sends nothing and adds err to the
// problems.
func (r *Run) tell(ctx context.Context, d drill.Document, notice alert.Notice, err error) drill.Document {
	if r.Alerts == nil {
		return d
	}
	if err == nil {
		err = r.Alerts.Send(ctx, notice)
	}
	if err != nil {
		err = fmt.Errorf("send message %s: %w", notice.Kind, err)
	}
	return d.Problem(err)
}
