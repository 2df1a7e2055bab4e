package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/split"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Seeder is a cluster in which seeds are made. Errors are those of its API
// server.
type Seeder interface {
	UID(ctx context.Context) (string, error)
	// Seeds returns those of a site, adopted ones among them.
	Seeds(ctx context.Context, site string) ([]split.Standing, error)
	// Try returns a Deployment as it would be created now, and creates nothing.
	Try(ctx context.Context, c split.Candidate) (json.RawMessage, error)
	// Seed makes a ReplicaSet, or with dry only tries to.
	Seed(ctx context.Context, s split.Seed, dry bool) error
	// Unseed deletes a seed as it was read; what changed since is a conflict.
	Unseed(ctx context.Context, s split.Standing) error
}

// A Splitting seeds what was lost in a rollout, or takes seeds back. All fields
// are required but Say.
type Splitting struct {
	Site    string
	Cluster Seeder
	Clock   func() time.Time
	Say     func(string) // takes a line of progress; nil is nobody
	Options split.Options
	DryRun  bool // writes nothing
}

// Run seeds what git declares of a site to be in a rollout, of what the sources
// create. An error means that it did not come to its end; a run after it goes on
// from there.
func (r *Splitting) Run(ctx context.Context, tree checkpoint.Tree, sources []split.Source) (SplitReport, error) {
	report := SplitReport{Head: Head{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Declared: tree.Site.Cluster}, Problems: unreadable(tree, r.Options.Namespaces)}
	found, left, err := split.Find(tree.Entries(), sources, r.Options)
	if err != nil {
		return report, err
	}
	report.Left = left
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	standing, err := r.standing(ctx)
	if err != nil {
		return report, err
	}
	for _, c := range found {
		if s, ok := standing[c.ID.Namespace+"/"+split.Name(c)]; ok {
			report.Standing = append(report.Standing, s)
			continue
		}
		switch s, left, err := r.seed(ctx, c); {
		case ends(ctx, err):
			return report, err
		case err != nil:
			report.Problems = append(report.Problems, err)
		case left.Reason != "":
			report.Left = append(report.Left, left)
		default:
			report.Seeded = append(report.Seeded, s)
		}
	}
	slices.SortFunc(report.Left, func(a, b split.Left) int { return workload.Compare(a.ID, b.ID) })
	return report, nil
}

func (r *Splitting) standing(ctx context.Context) (map[string]split.Standing, error) {
	all, err := r.Cluster.Seeds(ctx, r.Site)
	return each.By(all, func(s split.Standing) string { return s.Namespace + "/" + s.Name }), err
}

// seed makes one seed, of a Deployment that does not exist yet.
func (r *Splitting) seed(ctx context.Context, c split.Candidate) (split.Seed, split.Left, error) {
	none := split.Seed{}
	created, err := r.Cluster.Try(ctx, c)
	switch {
	case apierrors.IsAlreadyExists(err):
		return none, split.Left{ID: c.ID, Reason: split.There, Text: "is there already, and nothing of it was seeded: a seed comes before its Deployment; delete that and hold what creates it, or let it roll out anew"}, nil
	case apierrors.IsNotFound(err):
		return none, split.Left{ID: c.ID, Reason: split.NoNamespace, Text: "has no namespace yet: create that first, from git, since its labels decide how pods run"}, nil
	case err != nil:
		return none, split.Left{}, err
	}
	s, left, err := split.Judge(c, created, r.Site)
	if err != nil || left.Reason != "" {
		return none, left, err
	}
	err = r.Cluster.Seed(ctx, s, r.DryRun)
	switch {
	case apierrors.IsAlreadyExists(err):
		return none, split.Left{ID: c.ID, Reason: split.Taken, Text: "has a ReplicaSet " + s.Name + " already that is no seed of this site: delete it, or let it be"}, nil
	case err != nil:
		return none, split.Left{}, err
	}
	if r.Say != nil && !r.DryRun {
		r.Say(fmt.Sprintf("%s: seeded as %s, with %s", term.Name(c.ID), s.Name, term.Count(int(s.Pods), "pod")))
	}
	return s, split.Left{}, nil
}

// Release takes the seeds back that nothing adopted, with their pods.
func (r *Splitting) Release(ctx context.Context) (report SplitReport, err error) {
	report = SplitReport{Head: Head{Site: r.Site, At: r.Clock().UTC(), DryRun: r.DryRun, Releasing: true}}
	if report.Cluster, err = r.Cluster.UID(ctx); err != nil {
		return report, err
	}
	for range patience { // status and owners of seeds change at any time
		changed, err := r.takeBack(ctx, &report)
		if err != nil || changed == nil {
			return report, err
		}
		report.Problems = append(report.Problems, changed)
	}
	return report, nil
}

// takeBack deletes seeds as they are now; changed is of one that was written at
// the same time, and is to be looked at again.
func (r *Splitting) takeBack(ctx context.Context, report *SplitReport) (changed, err error) {
	report.Standing, report.Problems = nil, nil
	all, err := r.Cluster.Seeds(ctx, r.Site)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Adopter != "" {
			report.Standing = append(report.Standing, s)
			continue
		}
		if !r.DryRun {
			err = r.Cluster.Unseed(ctx, s)
		}
		switch {
		case apierrors.IsConflict(err):
			changed = err
		case ends(ctx, err):
			return nil, err
		case err != nil:
			report.Problems = append(report.Problems, err)
		default:
			report.Taken = append(report.Taken, s)
		}
	}
	return changed, nil
}

// ends reports whether an error is of all that could still be asked.
func ends(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || errors.Is(err, kube.ErrUnauthorized) || errors.Is(err, kube.ErrUnreachable))
}
