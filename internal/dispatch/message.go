package dispatch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
)

// A Turn is when a site is due.
type Turn struct {
	config.Member
	At time.Time
}

// Turns are those of a period that begins at an instant, in the order of the
// members.
func Turns(members []config.Member, begin time.Time, period time.Duration) []Turn {
	turns := make([]Turn, len(members))
	for i, m := range members {
		turns[i] = Turn{m, begin.Add(Delay(m.Site, Spread(period)))}
	}
	return turns
}

// Over reports whether the turn is over at an instant: the next one is due.
func (t Turn) Over(now time.Time, period time.Duration) bool { return !now.Before(t.At.Add(period)) }

type message struct {
	Turn time.Time       `json:"turn"`
	Site json.RawMessage `json:"site"`
}

type site struct {
	Site   string  `json:"site"`
	EKS    cluster `json:"eks"`
	Branch string  `json:"branch,omitzero"`
}

type cluster struct {
	Name       string `json:"name"`
	Region     string `json:"region,omitzero"`
	RoleARN    string `json:"roleArn,omitzero"`
	ExternalID string `json:"externalId,omitzero"`
}

// Body is the turn as a message says it: JSON, with the site as it would stand in
// the list of the fleet.
func (t Turn) Body() string {
	of, err := json.Marshal(site{t.Site, cluster(t.EKS), t.Branch})
	if err == nil {
		of, err = json.Marshal(message{t.At.UTC(), of})
	}
	if err != nil {
		panic(err) // plain values only
	}
	return string(of)
}

// Parse reads a message. What is wrong with it names the field.
func Parse(body string) (Turn, error) {
	var m message
	d := json.NewDecoder(bytes.NewReader([]byte(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return Turn{}, fmt.Errorf(`message: %w; want {"turn": "2006-01-02T15:04:05Z", "site": {"site": ..., "eks": {"name": ...}}}`, err)
	}
	if m.Turn.IsZero() {
		return Turn{}, fmt.Errorf("message: turn: is required: the instant at which the site is due")
	}
	if len(m.Site) == 0 {
		return Turn{}, fmt.Errorf("message: site: is required, as in the list of the fleet")
	}
	of, err := config.ParseMember("message: site", m.Site)
	return Turn{of, m.Turn}, err
}
