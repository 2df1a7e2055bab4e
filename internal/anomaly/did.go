package anomaly

import (
	"fmt"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// did says what gitlatch did, by what it decided of the reading and what became
// of that.
func (c *candidate) did(of policy.Reading) string {
	d, decided := c.decided(of)
	declared := c.declared(of)
	_, proposed := c.latch.Change()
	switch {
	case !decided:
		return declared
	case d.Crosses() && slices.ContainsFunc(c.Committed, func(o policy.Decision) bool { return o.ID == d.ID && o.Reading == of }):
		return fmt.Sprintf("%s, by this tick: %s", says(of, d.To), d.Text)
	case proposed:
		return fmt.Sprintf("%s, and people are asked for another: %s", declared, d.Text)
	case d.Crosses():
		return fmt.Sprintf("%s, since no commit could be made: %s", declared, d.Text)
	case d.Reason == policy.ReasonReport:
		return fmt.Sprintf("%s, since its policy only reports: %s", declared, d.Text)
	case d.Text == "":
		return declared
	}
	return declared + ": " + d.Text
}

// declared says what git declares of a reading after the tick.
func (c *candidate) declared(of policy.Reading) string { return says(of, c.latch.Declared) }

// says is what an entry says of a reading; zero is none.
func says(of policy.Reading, e checkpoint.Entry) string {
	switch {
	case of == policy.ReadingRollout && e.Rollout == checkpoint.Rollout{}:
		return "its record says nothing of the rollout"
	case of == policy.ReadingRollout:
		return fmt.Sprintf("its record says %d %% of the rollout", e.Rollout.Milestone)
	case e.Replicas == 0:
		return "nothing is declared for it"
	}
	return fmt.Sprintf("its checkpoint is %d", e.Replicas)
}
