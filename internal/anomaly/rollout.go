package anomaly

import (
	"github.com/gitlatch/gitlatch/internal/latch"
)

// failed sees a rollout that failed.
func (c *candidate) failed(*latch.Episode) sight {
	r := c.sample.Rollout
	if r.Failure == "" {
		return sight{seen: nothing}
	}
	s := yes("its rollout failed: %s", r.Failure)
	if len(r.Templates) > 0 {
		t := r.Templates[0]
		s = yes("its rollout to %s failed with %d of %d pods available: %s", t.Hash, t.Available, r.Desired, r.Failure)
		s.about = t.Hash
	}
	return s
}

// stalled sees a rollout of which no further tenth gets available, although
// nothing says that it failed. One that somebody halted has longer, and one that is
// held all the time there is: that is how a template is staged.
func (c *candidate) stalled(was *latch.Episode) sight {
	r := c.sample.Rollout
	switch {
	case !r.InFlight || r.Failure != "" || r.Desired <= 0, r.Held():
		return sight{seen: nothing}
	case len(r.Templates) == 0 || r.Templates[0].Hash == "":
		return sight{seen: unknown}
	}
	t := r.Templates[0]
	s := yes("its rollout to %s is at %d of %d pods, and got no further %s", t.Hash, t.Available, r.Desired, c.span(was))
	if r.Halted != "" {
		s = yes("its rollout to %s is at %d of %d pods, %s, %s", t.Hash, t.Available, r.Desired, r.Halted, c.span(was))
		s.hold = halted
	}
	s.about, s.from = t.Hash, tenths(t.Available, r.Desired)
	return s
}

// tenths is how many tenths of the pods are available.
func tenths(available, desired int32) int32 { return int32(10 * int64(available) / int64(desired)) }
