package tick

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/latch"
)

// A check that could not read a part keeps the number of differences without their names. A
// later difference is new, and the number is not kept without a difference.
func TestACheckWithoutAnOldestDifference(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	found := admission.Applied{Supported: admission.Observed(true), Other: admission.Observed(""),
		Differences: map[admission.Subject]admission.Part[[]admission.Difference]{}}
	for _, subject := range admission.Subjects() {
		found.Differences[subject] = admission.Observed([]admission.Difference{{Subject: subject, Name: "shop", Git: "present", Cluster: "absent"}})
	}
	next := checked(latch.Applied{At: now.Add(-time.Hour), More: 5}, found, now)
	if len(next.Oldest) != len(admission.Subjects()) || next.Oldest[0].Since() != now || next.More != 0 {
		t.Errorf("%+v", next)
	}
	for _, subject := range admission.Subjects() {
		found.Differences[subject] = admission.Unread[[]admission.Difference]("forbidden")
	}
	if next := checked(latch.Applied{At: now.Add(-time.Hour), More: 5}, found, now); next.More != 0 {
		t.Errorf("%+v", next)
	}
}
