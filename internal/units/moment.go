package units

import (
	"fmt"
	"time"
)

// A Moment is an instant, or a span from now: 2026-03-02T18:00:00Z, 3h, 2d, or now. The
// command decides whether the span is before or after now. The zero value means that the
// flag is not set.
type Moment struct {
	text string
	at   time.Time
	away time.Duration
}

// Set parses a moment.
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

// String returns the text of the moment; "" if it is not set.
func (m *Moment) String() string { return m.text }

// Type returns the name of the type in help.
func (m *Moment) Type() string { return "time" }

// Now reports whether the moment is "now".
func (m *Moment) Now() bool { return m.text == "now" }

// After returns the instant, or now plus the span.
func (m *Moment) After(now time.Time) time.Time { return m.from(now, m.away) }

// Before returns the instant, or now minus the span.
func (m *Moment) Before(now time.Time) time.Time { return m.from(now, -m.away) }

func (m *Moment) from(now time.Time, away time.Duration) time.Time {
	if !m.at.IsZero() {
		return m.at
	}
	return now.Add(away)
}
