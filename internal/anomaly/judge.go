package anomaly

import (
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Look is what a tick saw of a site, decided and did.
type Look struct {
	Now    time.Time
	Last   time.Time     // of the look before; zero where there was none
	Period time.Duration // from one look to the next, as planned

	Set     policy.Set
	Samples []workload.Sample
	// Latches are those after the tick, Decisions what it decided, and of these
	// Committed what it committed. Samples and Decisions are in the order of
	// workload.Compare.
	Latches   map[workload.ID]latch.Latch
	Decisions []policy.Decision
	Committed []policy.Decision

	// Whole is set where all of the site's own cluster was read. Without it
	// nothing is said of what is missing.
	Whole bool
	// Dropped is set while much of the fleet has lost its scale: that is said
	// once, not once for each workload.
	Dropped bool
	// Open are the conditions that people know of.
	Open []alert.Open
}

// Judge returns what people should know of the workloads now, and what their
// latches are to remember, for those of which that changed. A second look at the
// same instant changes nothing.
func Judge(l Look) ([]alert.Condition, map[workload.ID]latch.Watch) {
	var found []alert.Condition
	changed := map[workload.ID]latch.Watch{}
	decisions := l.Decisions
	var c candidate // one for all: a new one for each was a tenth of what a tick leaves behind
	for _, s := range l.Samples {
		for len(decisions) > 0 && workload.Compare(decisions[0].ID, s.ID) < 0 {
			decisions = decisions[1:]
		}
		c = newCandidate(&l, s, decisions)
		found = append(found, c.judge()...)
		if !c.watch.Equal(c.latch.Watch) {
			changed[s.ID] = c.watch
		}
	}
	for _, id := range l.absent() {
		was := l.Latches[id]
		switch {
		case !l.Whole:
			found = append(found, l.lasting(was)...)
		case !was.Watch.Equal(latch.Watch{}): // it is gone, and all about it over
			changed[id] = latch.Watch{}
		}
	}
	return group(found, l.Open), changed
}

// absent are the workloads that have a latch and were not seen, in order.
func (l *Look) absent() (all []workload.ID) {
	for id := range l.Latches {
		if _, seen := slices.BinarySearchFunc(l.Samples, id, func(s workload.Sample, id workload.ID) int { return workload.Compare(s.ID, id) }); !seen {
			all = append(all, id)
		}
	}
	slices.SortFunc(all, workload.Compare)
	return all
}

// lasting are the conditions of a workload that was not seen, and may be there.
func (l *Look) lasting(of latch.Latch) (all []alert.Condition) {
	for _, e := range of.Watch.Episodes {
		if e.Raised {
			all = append(all, l.again(of.ID, e, says(ruleOf(e.Kind).of, of.Declared)))
		}
	}
	return all
}

// again is a condition that was raised before and cannot be told just now: in
// the words of when it could, but for what is done about it.
func (l *Look) again(id workload.ID, e latch.Episode, did string) alert.Condition {
	c := alert.Condition{
		Kind: e.Kind, Subject: id.String(), Did: did, Do: ruleOf(e.Kind).do,
		Text: "it was so since " + instant(e.Since) + ", and cannot be told just now",
	}
	for _, o := range l.Open {
		if o.Kind == c.Kind && o.Subject == c.Subject {
			c.Text = o.Text
		}
	}
	return c
}

// A candidate is one workload that is looked at.
type candidate struct {
	*Look
	sample workload.Sample
	scale  workload.Scale // the zero value where it is unknown
	policy policy.Policy
	latch  latch.Latch
	watch  latch.Watch // as it will be
	// decisions begin with its own; those of others follow.
	decisions []policy.Decision
	// judgesScale and judgesRollout say which of its readings are judged.
	judgesScale, judgesRollout bool
	// fell is set where it fell just now, as it is not in the habit of.
	fell bool
}

func newCandidate(l *Look, s workload.Sample, decisions []policy.Decision) candidate {
	c := candidate{Look: l, sample: s, latch: l.Latches[s.ID], decisions: decisions}
	c.watch = c.latch.Watch
	if s.Scale != nil {
		c.scale = *s.Scale
	}
	c.policy, _, _ = l.Set.Choose(s)
	d, decided := c.decided(policy.ReadingScale)
	there := !s.Terminating && !c.latch.OptedOut
	c.judgesScale = there && decided && d.Verdict != policy.Skip
	c.judgesRollout = there && l.Set.ChooseRollout(s).Rollout != policy.ModeIgnore
	return c
}

// decided is what the tick decided of a reading; ok is false where that is nothing.
func (c *candidate) decided(of policy.Reading) (d policy.Decision, ok bool) {
	for _, d := range c.decisions {
		if d.ID != c.sample.ID {
			break
		}
		if d.Reading == of {
			return d, true
		}
	}
	return policy.Decision{}, false
}

// judges reports whether a reading is judged.
func (c *candidate) judges(of policy.Reading) bool {
	return of == policy.ReadingScale && c.judgesScale || of == policy.ReadingRollout && c.judgesRollout
}

// judge goes through the table, and leaves in watch what is to be remembered.
func (c *candidate) judge() (found []alert.Condition) {
	if !c.judgesScale && !c.judgesRollout {
		c.watch = latch.Watch{}
		return nil
	}
	if c.watch.Since.IsZero() {
		c.watch.Since = c.Now
	}
	if c.judgesScale && c.sample.Scale != nil {
		c.learn()
	}
	var episodes []latch.Episode
	for _, r := range rules {
		was := c.episode(r.kind)
		now := c.see(r, was)
		next, goes := c.step(r, now, was)
		if !goes {
			continue
		}
		episodes = append(episodes, next)
		switch {
		case !next.Raised:
		case now.seen == unknown:
			found = append(found, c.again(c.sample.ID, next, c.did(r.of)))
		default:
			found = append(found, alert.Condition{
				Kind: r.kind, Subject: c.sample.ID.String(), Text: now.text, Did: c.did(r.of), Do: r.do,
			})
		}
	}
	c.watch.Episodes = episodes
	return found
}

// see is what a rule sees of the workload.
func (c *candidate) see(r rule, was *latch.Episode) sight {
	switch {
	case !c.judges(r.of):
		return sight{seen: nothing}
	case r.of == policy.ReadingScale && c.sample.Scale == nil, r.of == policy.ReadingRollout && c.sample.Rollout == nil,
		r.whole && !c.Whole:
		return sight{seen: unknown}
	}
	return r.see(c, was)
}

// step takes an episode from one look to the next; goes is false where there is
// none any more.
func (c *candidate) step(r rule, now sight, was *latch.Episode) (next latch.Episode, goes bool) {
	switch {
	case now.seen == nothing:
		return latch.Episode{}, false
	case now.seen == unknown || now.seen == less:
		if was == nil {
			return latch.Episode{}, false
		}
		return *was, true
	case was == nil || was.About != now.about || was.From != now.from:
		next = latch.Episode{Kind: r.kind, Since: c.Now, From: now.from, About: now.about}
	default:
		next = *was
	}
	if !next.Raised && c.gap() {
		next.Since = c.Now // what was between was not seen
	}
	next.Raised = next.Raised || c.Now.Sub(next.Since) >= max(r.hold, now.hold)
	return next, true
}

// gap reports whether too much time passed since the look before to have been
// seen: more than three periods, as for the holds of a policy.
func (l *Look) gap() bool { return !l.Last.IsZero() && l.Now.Sub(l.Last) > 3*l.Period }

// episode is the one of a kind that goes on; nil where there is none.
func (c *candidate) episode(kind alert.Kind) *latch.Episode {
	for i, e := range c.watch.Episodes {
		if e.Kind == kind {
			return &c.watch.Episodes[i]
		}
	}
	return nil
}
