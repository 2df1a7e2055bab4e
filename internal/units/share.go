package units

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MustShare describes a share, as a phrase after "must be".
const MustShare = "a share such as 10% or 0.1"

// ErrShare is the error of a text that is not a share.
var ErrShare = errors.New("must be " + MustShare)

// ParseShare parses a share from 0 to 1: 10% or 0.1.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	read, err := strconv.ParseFloat(number, 64)
	if percent {
		read /= 100
	}
	switch {
	case err != nil || math.IsNaN(read):
		return 0, fmt.Errorf("%w, got %q", ErrShare, text)
	case read > 1 && read <= 100 && !percent:
		return 0, fmt.Errorf("%w, got %s. For percent, write %s%%", ErrShare, text, text)
	case read < 0 || read > 1:
		return 0, fmt.Errorf("must be from 0 to 100 %%, got %s", text)
	}
	return read, nil
}

// FormatShare returns a share in percent, rounded to 0.0001 %.
func FormatShare(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + "%"
}

// A Share is the value of a flag.
type Share float64

// Set parses a share.
func (s *Share) Set(text string) error {
	read, err := ParseShare(text)
	*s = Share(read)
	return err
}

// String returns the share in percent.
func (s *Share) String() string { return FormatShare(float64(*s)) }

// Type returns the name of the type in help.
func (s *Share) Type() string { return "share" }
