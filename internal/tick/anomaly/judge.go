package anomaly

import (
	"cmp"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Look is the samples of one tick, with the decisions and latches that follow from them.
type Look struct {
	Now    time.Time
	Last   time.Time     // time of the previous sample; zero for the first one
	Period time.Duration // planned time from one sample to the next

	Site    string
	Set     policy.Set
	Samples []workload.Sample
	// Decisions are the decisions of the tick. Latches are the latches after the tick.
	// Samples and Decisions are in the order of workload.Compare.
	Decisions []policy.Decision
	Latches   latch.Latches

	// Whole is true if the tick could list every object, and in the site's own cluster.
	// If it is false, missing pods and missing workloads prove nothing.
	Whole bool
	// Open are the conditions that were open before the tick.
	Open []alert.Open
}

// Judge returns the open conditions of the workloads, and the new watch state of each
// latch whose watch state changed. A repeated sample changes nothing.
func Judge(l Look) ([]alert.Condition, map[workload.ID]latch.Watch) {
	var found []alert.Condition
	changed := map[workload.ID]latch.Watch{}
	var c candidate // reused: a new one for each workload was a tenth of a tick's garbage
	for _, s := range l.Samples {
		c = newCandidate(&l, s)
		found = append(found, c.judge()...)
		if !c.watch.Equal(c.latch.Watch) {
			changed[s.ID] = c.watch
		}
	}
	for _, was := range l.absent() {
		if l.Whole {
			changed[was.ID] = latch.Watch{}
		} else {
			found = append(found, l.lasting(was)...)
		}
	}
	return group(found, l.Open), changed
}

// absent returns the latches that have a watch state and no sample, in the order of
// workload.Compare.
func (l *Look) absent() (all []latch.Latch) {
	for one := range l.Latches.All() {
		if one.Watch.Equal(latch.Watch{}) {
			continue
		}
		byID := func(s workload.Sample, id workload.ID) int { return workload.Compare(s.ID, id) }
		_, sampled := slices.BinarySearchFunc(l.Samples, one.ID, byID)
		if !sampled {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b latch.Latch) int { return workload.Compare(a.ID, b.ID) })
	return all
}

// lasting returns the raised conditions of a workload without a sample.
func (l *Look) lasting(of latch.Latch) (all []alert.Condition) {
	for _, e := range of.Watch.Episodes {
		if e.Raised {
			all = append(all, l.again(of.ID, e, level(of.Declared)))
		}
	}
	return all
}

// again returns a raised condition if the sample does not show whether it continues. The
// condition has the text of the last sample that showed it.
func (l *Look) again(id workload.ID, e latch.Episode, effect string) alert.Condition {
	r, _ := lists.First(rules, func(r rule) bool { return r.kind == e.Kind })
	c := alert.Condition{
		Kind: e.Kind, Subject: id.String(), Effect: effect, Fix: l.fixOf(r.fix, id),
		Text: "it started at " + instant(e.Since) + ", and this tick could not check it",
	}
	for _, o := range l.Open {
		if o.Kind == c.Kind && o.Subject == c.Subject {
			c.Text = o.Text
			c.Fix = o.Fix
		}
	}
	return c
}

// gap reports whether the time since the previous sample is too long to count as
// observed: more than three periods, as in the holds of a policy.
func (l *Look) gap() bool { return !l.Last.IsZero() && l.Now.Sub(l.Last) > 3*l.Period }

// decision returns the decision about the scale of a workload; ok is false if the tick
// made none. It drops the decisions about earlier workloads, because Judge asks in order.
func (l *Look) decision(id workload.ID) (_ policy.Decision, ok bool) {
	for _, d := range l.Decisions {
		order := workload.Compare(d.ID, id)
		switch {
		case order > 0:
			return policy.Decision{}, false
		case order == 0 && d.Reading == policy.ReadingScale:
			return d, true
		}
		l.Decisions = l.Decisions[1:]
	}
	return policy.Decision{}, false
}

// A candidate is a workload to judge.
type candidate struct {
	*Look
	sample   workload.Sample
	scale    workload.Scale // the zero value if it is unknown
	policy   policy.Policy
	decision policy.Decision
	latch    latch.Latch
	watch    latch.Watch // after this sample
	// judged is false for a workload that gitlatch leaves out.
	judged bool
}

func newCandidate(l *Look, s workload.Sample) candidate {
	c := candidate{Look: l, sample: s, latch: l.Latches.Get(s.ID)}
	c.watch = c.latch.Watch
	if s.Scale != nil {
		c.scale = *s.Scale
	}
	c.policy, _, _ = l.Set.Choose(s)
	decision, decided := l.decision(s.ID)
	c.decision = decision
	c.judged = decided && decision.Verdict != policy.Skip && !s.Terminating && !c.latch.OptedOut
	return c
}

// judge applies every rule, updates the watch state and returns the open conditions.
func (c *candidate) judge() (found []alert.Condition) {
	if !c.judged {
		c.watch = latch.Watch{}
		return nil
	}
	c.learn()
	var episodes []latch.Episode
	for _, r := range rules {
		was := c.episode(r.kind)
		now := unknown
		if c.sample.Scale != nil {
			now = r.see(c, was)
		}
		next := c.step(r, now, was)
		if next == nil {
			continue
		}
		episodes = append(episodes, *next)
		switch {
		case !next.Raised:
		case !now.known:
			found = append(found, c.again(c.sample.ID, *next, c.effect()))
		default:
			fix := c.fixOf(cmp.Or(now.fix, r.fix), c.sample.ID)
			found = append(found, alert.Condition{Kind: r.kind, Subject: c.sample.ID.String(), Text: now.text, Effect: c.effect(), Fix: fix})
		}
	}
	c.watch.Episodes = episodes
	return found
}

// episode returns the running episode of a kind; nil if no episode runs.
func (c *candidate) episode(kind alert.Kind) *latch.Episode {
	for i, e := range c.watch.Episodes {
		if e.Kind == kind {
			return &c.watch.Episodes[i]
		}
	}
	return nil
}

// step returns the episode after this sample; nil if no episode runs.
func (c *candidate) step(r rule, now sight, was *latch.Episode) *latch.Episode {
	if !now.known {
		return was
	}
	if !now.matches {
		return nil
	}
	next := latch.Episode{Kind: r.kind, Since: c.Now, From: now.from}
	if was != nil && was.From == now.from {
		next = *was
	}
	if !next.Raised && (c.gap() || next.Since.After(c.Now)) { // a clock was ahead
		next.Since = c.Now
	}
	next.Raised = next.Raised || c.Now.Sub(next.Since) >= r.hold
	return &next
}
