package grammar

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// MustShare is what a share is, as a phrase after "must be".
const MustShare = "a share such as 10% or 0.1"

// ErrShare is what is wrong with a text that is no share.
var ErrShare = errors.New("must be " + MustShare)

// ParseShare reads a part of a whole, from 0 to 1: 10% or 0.1.
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

// FormatShare writes a share in percent, to the ten thousandth of it.
func FormatShare(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e6)/1e4, 'f', -1, 64) + "%"
}

// A Share is the value of a flag.
type Share float64

// Set reads a share.
func (s *Share) Set(text string) error {
	read, err := ParseShare(text)
	*s = Share(read)
	return err
}

// String writes the share in percent.
func (s *Share) String() string { return FormatShare(float64(*s)) }

// Type is what help calls the value.
func (s *Share) Type() string { return "share" }
