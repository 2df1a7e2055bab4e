package grammar

import (
	"fmt"
	"time"
)

// A Moment is an instant, or a span away from now: 2026-03-02T18:00:00Z, 3h, 2d, or
// now itself. Whether the span is to come or has passed is its command's to say.
// The zero value was not given.
type Moment struct {
	text string
	at   time.Time
	away time.Duration
}

// Set reads a moment.
func (m *Moment) Set(text string) (err error) {
	read := Moment{text: text}
	if read.at, err = time.Parse(time.RFC3339, text); err != nil && text != "now" {
		read.at = time.Time{}
		if read.away, err = ParseSpan(text); err != nil {
			return fmt.Errorf("must be a time such as 2026-03-02T18:00:00Z, %s, or now; got %q", MustSpan, text)
		}
	}
	*m = read
	return nil
}

// String is the moment as it was read; "" was not given.
func (m *Moment) String() string { return m.text }

// Type is what help calls the value.
func (m *Moment) Type() string { return "time" }

// Now reports whether now itself is meant.
func (m *Moment) Now() bool { return m.text == "now" }

// After returns the instant, or the one that is the span after now.
func (m *Moment) After(now time.Time) time.Time { return m.from(now, m.away) }

// Before returns the instant, or the one that is the span before now.
func (m *Moment) Before(now time.Time) time.Time { return m.from(now, -m.away) }

func (m *Moment) from(now time.Time, away time.Duration) time.Time {
	if !m.at.IsZero() {
		return m.at
	}
	return now.Add(away)
}
