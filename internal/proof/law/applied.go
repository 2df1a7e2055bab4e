package law

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

const (
	appliesWithin = 2 * time.Hour
	checksEvery   = time.Hour + 2*story.Period // the most between two checks
)

// applications are the objects of the cluster that differ from git.
type applications struct {
	last time.Time      // the instant of the last tick
	fine time.Time      // the first of the latest judged ticks without a difference; zero if the last had one
	off  map[string]off // by object
}

// An off is an object that differs from git.
type off struct {
	values string
	since  time.Time // the first tick with a difference; zero if it may be older
	steady time.Time // the first of the latest judged ticks with these values; zero if no tick was judged
	right  time.Time // since when it is right again; zero while it differs
}

// applied compares the objects in the cluster with git in every tick, without the product's
// comparison. An alert is open after a difference that lasted, and only then.
func applied(s *Seen) string {
	if s.Told.NotRun != "" || s.Told.At.IsZero() {
		return ""
	}
	w := &s.Witness.applications
	at := s.Told.At
	jumped := !at.After(w.last) || at.Sub(w.last) > 3*story.Period
	w.last = at
	judged := !jumped && s.checks()
	wrong := s.notApplied()
	for object := range union(w.off, wrong) {
		o, known := w.off[object]
		values, differs := wrong[object]
		switch {
		case !differs && o.right.IsZero():
			o.right = at
			o.steady = time.Time{}
		case !differs && judged && at.Sub(o.right) >= checksEvery:
			delete(w.off, object)
			continue
		case differs:
			o.right = time.Time{}
			if !known {
				o.since = at
			}
			if o.values != values || o.steady.IsZero() {
				o.steady = at
			}
			o.values = values
		}
		if !judged {
			o.steady = time.Time{}
		}
		if jumped {
			o.since = time.Time{}
		}
		w.off[object] = o
	}
	switch {
	case !judged || len(wrong) > 0:
		w.fine = time.Time{}
	case w.fine.IsZero():
		w.fine = at
	}
	if !judged {
		return ""
	}
	return w.misjudged(s)
}

// misjudged returns a text if the alert is missing, is late to end, or came too early.
func (w *applications) misjudged(s *Seen) string {
	at := s.Told.At
	open := opens(s.After.Head)
	early := open && !opens(s.Before.Head)
	for _, object := range slices.Sorted(maps.Keys(w.off)) {
		o := w.off[object]
		limit := appliesWithin
		if object == identity {
			limit = 0
		}
		if !o.steady.IsZero() && at.Sub(o.steady) >= limit+checksEvery && !open {
			return fmt.Sprintf("%s is %s since %s, and no alert is open", object, o.values, o.steady.Format(time.DateTime))
		}
		early = early && at.Sub(o.since) < limit
	}
	switch {
	case early:
		return fmt.Sprintf("an alert is raised, and nothing differed for %s: %v", appliesWithin, w.off)
	case open && !w.fine.IsZero() && at.Sub(w.fine) >= checksEvery:
		return fmt.Sprintf("an alert is open, and the cluster equals git since %s", w.fine.Format(time.DateTime))
	}
	return ""
}

func opens(h latch.Head) bool {
	return slices.ContainsFunc(h.Open, func(o alert.Open) bool { return o.Kind == alert.NotApplied })
}

// checks reports whether a tick of this kind checks the cluster, if a check is due.
func (s *Seen) checks() bool {
	return s.Calm && s.settled() && s.latches && !s.Told.Observe && s.Told.Stop.Reason != policy.ReasonSecond &&
		len(s.unread(s.Before.Tip)) == 0 && len(s.World.Levels.Forbidden) == 0 && s.World.Levels.Minor >= 36
}

// identity is the object with the name of the site.
const identity = "the identity"

// notApplied returns the objects of the cluster that differ from git, and how.
func (s *Seen) notApplied() map[string]string {
	wrong := map[string]string{}
	c := s.World.InCluster()
	if c.Site != s.World.Site {
		wrong[identity] = c.Site
	}
	used := false
	for id := range union(s.Before.Entries, c.Levels) {
		git, live := s.Before.Entries[id].Replicas, c.Levels[id]
		if c.Lost[id.String()] {
			live = 0
		}
		if git != live {
			wrong[id.String()] = fmt.Sprintf("%d in git and %d in the cluster", git, live)
		}
		if git > 0 && !c.Binds(id.Namespace) {
			wrong["the binding of "+id.Namespace] = "lost"
		}
		used = used || git > 0
	}
	for object, lost := range map[string]bool{"policy": c.Lost["policy"], "watch": c.Lost["watch"]} {
		if used && (lost || c.Levels == nil) {
			wrong["the object "+object] = "lost"
		}
	}
	return wrong
}
