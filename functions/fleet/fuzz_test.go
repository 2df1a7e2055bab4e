package fleet_test

import (
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/functions/fleet"
)

// For any message in the queue: if it contains a turn, the turn has a site and an
// instant, and is the same after it was sent again.
func FuzzParse(f *testing.F) {
	f.Add(fleet.Turn{Site: "prod-eu", At: time.Date(2026, 11, 20, 12, 0, 0, 1, time.UTC)}.Body())
	f.Add(`{"turn": "2026-11-20T12:00:00+23:59", "site": "\u0000"}`)
	f.Add(`{"Site": "a", "site": "b", "TURN": "9999-12-31T23:59:59-23:59"}`)
	f.Add(`{"turn": "0001-01-01T00:00:00Z", "site": "a", "more": {}}{}`)
	f.Fuzz(func(t *testing.T, body string) {
		turn, err := fleet.Parse(body)
		if err != nil {
			return
		}
		if turn.Site == "" || turn.At.IsZero() {
			t.Errorf("%q reads as %+v", body, turn)
		}
		if again, err := fleet.Parse(turn.Body()); err != nil || again.Site != turn.Site || !again.At.Equal(turn.At) {
			t.Errorf("%q reads as %+v, and that as %+v, %v", body, turn, again, err)
		}
	})
}
