package units

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// SpanShape is the pattern of a span: days, then a duration of Go.
const SpanShape = `^([0-9]{1,5}d)?([0-9]+(\.[0-9]+)?(ms|s|m|h))*$`

// MustSpan describes a span, as a phrase after "must be".
const MustSpan = "a duration such as 5m, 26h or 8d"

// ErrSpan is the error of a text that is not a span.
var ErrSpan = errors.New("must be " + MustSpan)

var spanShape = regexp.MustCompile(SpanShape)

// ParseSpan parses a span: 90s, 26h, 8d, 1d12h. It is never negative. 0 does not need a
// unit.
func ParseSpan(text string) (time.Duration, error) {
	if _, err := strconv.Atoi(text); err == nil && text != "0" {
		return 0, fmt.Errorf("%w, got %s. Add the unit", ErrSpan, text)
	}
	clock := text
	if days, rest, found := strings.Cut(text, "d"); found {
		count, _ := strconv.Atoi(days)
		clock = fmt.Sprintf("%dh%s", 24*count, rest)
	}
	read, err := time.ParseDuration(clock)
	if err != nil || text != "0" && !spanShape.MatchString(text) {
		return 0, fmt.Errorf("%w, got %q", ErrSpan, text)
	}
	return read, nil
}

// A Span is the value of a flag.
type Span time.Duration

// Set parses a span.
func (s *Span) Set(text string) error {
	read, err := ParseSpan(text)
	*s = Span(read)
	return err
}

var zeros = regexp.MustCompile(`([hm])(0[ms])+$`)

// String returns the span without its zeros: "10m", "1h30m"; "" for 0.
func (s *Span) String() string {
	if *s == 0 {
		return ""
	}
	return zeros.ReplaceAllString(time.Duration(*s).String(), "$1")
}

// Type returns the name of the type in help.
func (s *Span) Type() string { return "duration" }
