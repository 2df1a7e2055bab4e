package anomaly

import (
	"fmt"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
)

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func span(d time.Duration) string { return policy.Span(d) }

// span is how long an episode has lasted: "since 2026-03-02T08:00:00Z, for 2h".
func (c *candidate) span(was *latch.Episode) string {
	if was == nil || !was.Since.Before(c.Now) {
		return "since now"
	}
	return fmt.Sprintf("since %s, for %s", instant(was.Since), span(c.Now.Sub(was.Since)))
}

// times is a load as a person says it: "1.40".
func times(ratio float64) string { return strconv.FormatFloat(ratio, 'f', 2, 64) }

// figure is a number with three digits that count, or all of an integer's.
func figure(x float64) string {
	if x >= 100 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
