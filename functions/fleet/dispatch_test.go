package fleet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/internal/config"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func member(site string) config.Member {
	return config.Member{Site: site, EKS: config.EKS{Name: site + "-blue"}}
}

// With a thousand sites, each tenth of the period has its share of turns within a
// quarter, and no second has a crowd. Each site has its turn at the same time, whether
// or not there are other sites.
func TestTurnsAreSpreadOverThePeriodAndStay(t *testing.T) {
	t.Parallel()
	const n, period = 1000, 5 * time.Minute
	var members []config.Member
	for i := range n {
		members = append(members, member(fmt.Sprintf("prod-%d", i)))
	}
	tenths, seconds := map[time.Duration]int{}, map[time.Duration]int{}
	turns := fleet.Turns(members, noon, period)
	for i, turn := range turns {
		after := turn.At.Sub(noon)
		if after < 0 || after >= period || after%time.Second != 0 || turn.Site != members[i].Site {
			t.Fatalf("turn %d: %s after %s", i, turn.Site, after)
		}
		tenths[after/(period/10)]++
		seconds[after]++
		alone := fleet.Turns(members[i:i+1], noon.Add(period), period)
		if got := alone[0].At.Sub(turn.At); got != period {
			t.Errorf("%s: the next turn is %s later", turn.Site, got)
		}
	}
	for tenth := range time.Duration(10) {
		if got := tenths[tenth]; got < 75 || got > 125 {
			t.Errorf("tenth %d of the period has %d turns of %d", tenth, got, n)
		}
	}
	for at, got := range seconds {
		if got > 15 {
			t.Errorf("%d turns %s after the begin", got, at)
		}
	}
}

func TestNoTurnIsLaterThanSQSCanDelay(t *testing.T) {
	t.Parallel()
	for _, turn := range fleet.Turns([]config.Member{member("a"), member("b"), member("c"), member("d")}, noon, time.Hour) {
		if after := turn.At.Sub(noon); after >= 15*time.Minute {
			t.Errorf("%s after %s", turn.Site, after)
		}
	}
}

func TestATurnIsOverOnceTheNextIsDue(t *testing.T) {
	t.Parallel()
	turn := fleet.Turn{Site: "prod-eu", At: noon}
	for after, want := range map[time.Duration]bool{-time.Second: false, 0: false, 299 * time.Second: false, 300 * time.Second: true, time.Hour: true} {
		if got := turn.Over(noon.Add(after), 5*time.Minute); got != want {
			t.Errorf("after %s: over is %v", after, got)
		}
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	turn := fleet.Turn{Site: "edge-1", At: noon}
	good := turn.Body()
	if got, err := fleet.Parse(good); err != nil || got != turn {
		t.Errorf("%s is read as %+v, error %v", good, got, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, "", "message: EOF; want {"},
		{good, `"prod-eu"`, "message: "},
		{`"turn":"2026-03-02T12:00:00Z",`, "", "message: turn: is required"},
		{`2026-03-02T12`, "noon", "message: "},
		{`"turn"`, `"when"`, `unknown field "when"`},
		{`"edge-1"`, `""`, "message: site: is required"},
		{`"edge-1"`, `{"site":"edge-1","eks":{"name":"other"}}`, "message: json: cannot unmarshal object"},
		{`"edge-1"`, `"edge-1","branch":"other"`, `unknown field "branch"`},
	} {
		body := strings.Replace(good, c.old, c.new, 1)
		if turn, err := fleet.Parse(body); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: read as %+v, error %v, want %q", body, turn, err, c.want)
		}
	}
}
