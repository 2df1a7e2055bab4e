package fleet

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Turn is the time at which a site is due. It does not contain the settings of the
// site, which are in the list in git.
type Turn struct {
	At   time.Time `json:"turn"`
	Site string    `json:"site"` // name of the site
}

// Turns returns the turns of a period that starts at begin, in the order of the members.
func Turns(members []config.Member, begin time.Time, period time.Duration) []Turn {
	return lists.Map(members, func(m config.Member) Turn { return Turn{begin.Add(Delay(m.Site, Spread(period))), m.Site} })
}

// Over reports whether the turn has expired, because the next one is due.
func (t Turn) Over(now time.Time, period time.Duration) bool { return !now.Before(t.At.Add(period)) }

// Body returns the message about the turn, in JSON.
func (t Turn) Body() string {
	text, err := json.Marshal(Turn{t.At.UTC(), t.Site})
	if err != nil {
		panic(err) // plain values only
	}
	return string(text)
}

// Parse reads a message. An error names the invalid field.
func Parse(body string) (t Turn, err error) {
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Turn{}, fmt.Errorf(`message: %w; want {"turn": "2006-01-02T15:04:05Z", "site": "prod-eu"}`, err)
	}
	if year := t.At.UTC().Year(); t.At.IsZero() || year < 1 || year > 9999 { // JSON has no format for other years
		return Turn{}, fmt.Errorf("message: turn: is required: the instant at which the site is due")
	}
	if t.Site == "" {
		return Turn{}, fmt.Errorf("message: site: is required: the name of a site on the list of the fleet")
	}
	return t, nil
}
