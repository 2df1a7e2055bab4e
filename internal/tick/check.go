package tick

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/read"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// checkEvery is the minimum time between two checks of the levels in the cluster. A check
	// reads all levels of the site, and its alert waits for hours.
	checkEvery = time.Hour
	// checkWithin is the time limit of a check. A later answer is unknown, so that a slow API
	// server delays a tick only once an hour.
	checkWithin = 20 * time.Second
)

// Levels reads the levels in a cluster. A part that it cannot read is unknown in the result.
type Levels interface {
	ReadLevels(ctx context.Context) admission.Levels
}

// check compares the levels in git with the cluster if a check is due, and returns the new
// memory of the check. s is the state before this tick's level changes. A site that only
// observes is not checked, and a second cluster cannot be checked for the site.
func (t *Tick) check(ctx context.Context, s latch.State, f read.Found, stop policy.Stop) latch.Applied {
	was := s.Head.Applied
	now := f.Fleet.At
	ahead := was.At.After(now) // a clock was ahead
	switch {
	case !f.Set.Latch || t.Levels == nil:
		return latch.Applied{}
	case stop.Reason == policy.ReasonSecond, now.Sub(was.At) < checkEvery && !ahead:
		return was
	}
	ctx, cancel := context.WithTimeout(ctx, checkWithin)
	defer cancel()
	read := t.Levels.ReadLevels(ctx)
	return checked(was, admission.CompareLevels(t.Site, levelsOf(s.Latches), f.Set.Kinds, read), now)
}

// levelsOf returns the levels in git.
func levelsOf(latches latch.Latches) map[workload.ID]int32 {
	levels := map[workload.ID]int32{}
	for l := range latches.All() {
		if l.Declared.Replicas > 0 {
			levels[l.ID] = l.Declared.Replicas
		}
	}
	return levels
}

// checked returns the memory after a check. Unknown parts stay unchanged.
func checked(was latch.Applied, found admission.Applied, now time.Time) latch.Applied {
	supported, read := found.Supported.Value()
	if read && !supported {
		return latch.Applied{At: now, Unsupported: true}
	}
	next := latch.Applied{At: now}
	next.Other, read = found.Other.Value()
	if !read {
		next.Other = was.Other
		next.Unknown = append(next.Unknown, found.Other.Why())
	}
	known := lists.Index(was.Oldest, func(l latch.Lasting) object { return objectOf(l.Difference) })
	more := 0
	for _, subject := range admission.Subjects() {
		differences, read := found.Differences[subject].Value()
		if !read {
			more = was.More
			next.Unknown = append(next.Unknown, found.Differences[subject].Why())
			next.Oldest = append(next.Oldest, lists.Filter(was.Oldest, func(l latch.Lasting) bool { return l.Subject == subject })...)
		}
		for _, d := range differences {
			before, remembered := known[objectOf(d)]
			if !remembered && was.More > 0 && len(was.Oldest) > 0 {
				before = forgotten(was, d)
			}
			next.Oldest = append(next.Oldest, lasting(before, d, now))
		}
	}
	slices.Sort(next.Unknown)
	next.Unknown = slices.Compact(next.Unknown)
	slices.SortStableFunc(next.Oldest, func(a, b latch.Lasting) int { return a.Since().Compare(b.Since()) })
	most := min(len(next.Oldest), latch.MostDifferences)
	next.More = max(more, len(next.Oldest)-most)
	if most == 0 {
		next.More = 0
	}
	next.Oldest = next.Oldest[:most]
	return next
}

// forgotten returns a difference that the memory had no room for. It is as old as the youngest
// one in the memory: the alert then lasts until all differences are gone.
func forgotten(was latch.Applied, d admission.Difference) latch.Lasting {
	since := was.Oldest[len(was.Oldest)-1].Since()
	return latch.Lasting{Difference: d, GitSince: since, ClusterSince: since}
}

// An object is an object that can differ: a policy and a binding may have the same name.
type object struct {
	subject admission.Subject
	name    string
}

func objectOf(d admission.Difference) object { return object{d.Subject, d.Name} }

// lasting returns a difference with its age. was is the difference of the same object at the
// check before; the zero value if it did not differ.
func lasting(was latch.Lasting, d admission.Difference, now time.Time) latch.Lasting {
	l := latch.Lasting{Difference: d, GitSince: now, ClusterSince: now}
	if was.Git == d.Git && was.GitSince.Before(now) {
		l.GitSince = was.GitSince
	}
	if was.Cluster == d.Cluster && was.ClusterSince.Before(now) {
		l.ClusterSince = was.ClusterSince
	}
	l.Late = now.Sub(l.Since()) >= admission.ApplyWithin
	return l
}

// notApplied adds that the levels in git do not come into the cluster, or that it has the
// levels of another site.
func (n *conditions) notApplied(site string, a latch.Applied) {
	apply := fmt.Sprintf("run \"kubectl apply --server-side --force-conflicts -f checkpoints/admission -f checkpoints/%s\"", site)
	if a.Other != "" {
		n.Condition(alert.NotApplied, "site "+a.Other, fmt.Sprintf("the cluster has the levels of site %s: ConfigMap %s in namespace %s names it", a.Other, admission.Identity, admission.Namespace),
			fmt.Sprintf("a workload that is created now starts at its level of site %s, or without a level", a.Other),
			fmt.Sprintf("correct the path in the tool that applies checkpoints/%s to this cluster, or %s", a.Other, apply))
		return
	}
	late := lists.Filter(a.Oldest, func(l latch.Lasting) bool { return l.Late })
	if len(late) == 0 {
		return
	}
	names := lists.Map(late, func(l latch.Lasting) string { return l.String() })
	count := term.Count(len(late), "difference")
	if a.More > 0 {
		count = fmt.Sprintf("at least %d of %s", len(late), term.Count(len(a.Oldest)+a.More, "difference"))
	}
	n.Conditions = append(n.Conditions, alert.Condition{
		Kind:   alert.NotApplied,
		Title:  "levels not applied, " + count,
		Text:   alert.Brief(fmt.Sprintf("git and the cluster have differed since %s: %s", notes.Time(late[0].Since()), term.Among(names))),
		Effect: "the levels are in git, but nothing brings them into the cluster. A workload that is created now may start with too few pods",
		Fix: fmt.Sprintf("check that a tool applies checkpoints/%s to the cluster and prunes removed files, or %s. If the policy has no rule for a kind, run \"gitlatch init\" first",
			site, apply),
	})
}
