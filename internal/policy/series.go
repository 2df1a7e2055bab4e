package policy

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Series is an ascending row of preferred numbers: the levels that a latch can declare. The
// zero value has no levels and is not valid.
type Series struct {
	name string // "" for an explicit list
	list []float64
	// step is the distance between the levels after the list. Levels are at most
	// math.MaxInt32, so with this step no level follows the list.
	step float64
	// dense is true if a margin may skip levels of the series.
	dense bool
}

// The named series.
var (
	// Steps grow with about the square root of the number, and waste about half a step. So
	// over a site, few steps cost few surplus pods.
	Steps      = Series{name: "steps", list: steps(), step: math.MaxInt32, dense: true}
	OneTwoFive = Series{name: "1-2-5", list: decades(1, 2, 5), step: math.MaxInt32}
	Tens       = Series{name: "tens", list: []float64{10}, step: 10}
	Decades    = Series{name: "decades", list: decades(1), step: math.MaxInt32}
)

var named = []Series{Steps, OneTwoFive, Tens, Decades}

// steps returns the levels of Steps: fifties from 100, hundreds from 1,000, thousands from
// 10,000 and so on.
func steps() []float64 {
	levels := []float64{1, 2, 5, 10, 20, 30, 50, 70}
	step := 50.0
	for from := 100.0; from < math.MaxInt32; from *= 10 {
		for level := from; level < 10*from && level < math.MaxInt32; level += step {
			levels = append(levels, level)
		}
		step = from
	}
	return levels
}

// decades returns the multiples of numbers by powers of ten.
func decades(numbers ...float64) []float64 {
	var levels []float64
	for power := 1.0; power < math.MaxInt32; power *= 10 {
		for _, n := range numbers {
			levels = append(levels, n*power)
		}
	}
	return levels
}

// SeriesNames returns the names that ParseSeries accepts.
func SeriesNames() []string {
	return lists.Map(named, func(s Series) string { return s.name })
}

// ParseSeries returns the series of a name.
func ParseSeries(name string) (Series, error) {
	if s, ok := lists.First(named, func(s Series) bool { return s.name == name }); ok {
		return s, nil
	}
	return Series{}, fmt.Errorf("unknown series %q; want one of %s, or a list of levels", name, strings.Join(SeriesNames(), ", "))
}

// ListSeries returns the series of an explicit list of levels, which must
// ascend and start at 1 or above. A need beyond the last level is its own
// level, so that a list never declares less than was needed.
func ListSeries(levels []int32) (Series, error) {
	if len(levels) == 0 {
		return Series{}, fmt.Errorf("must have at least one level")
	}
	for i, l := range levels {
		switch {
		case l < 1:
			return Series{}, fmt.Errorf("level %d: must be at least 1", l)
		case i > 0 && l <= levels[i-1]:
			return Series{}, fmt.Errorf("level %d after %d: levels must ascend", l, levels[i-1])
		}
	}
	return Series{list: lists.Map(levels, func(l int32) float64 { return float64(l) }), step: 1}, nil
}

// String returns the series' name, or its list of levels.
func (s Series) String() string {
	if s.name != "" {
		return s.name
	}
	return "[" + strings.Join(lists.Map(s.list, func(l float64) string { return strconv.Itoa(int(l)) }), ", ") + "]"
}

// MaxMargin is the fraction below which a margin must be, so that a lowering skips no
// level: 1 - 1/r for the smallest ratio r of two neighbours in the list. For other levels it
// is 1.
func (s Series) MaxMargin() float64 {
	if s.dense {
		return 1
	}
	ratio := math.Inf(1)
	for i := 1; i < len(s.list); i++ {
		ratio = min(ratio, s.list[i]/s.list[i-1])
	}
	return 1 - 1/ratio
}

// Above returns the smallest level at or above x. It is at least the first
// level, and at most the largest int32.
func (s Series) Above(x float64) int32 {
	i, _ := slices.BinarySearch(s.list, x)
	if i < len(s.list) {
		return clampInt32(s.list[i])
	}
	last := s.list[i-1]
	return clampInt32(last + math.Ceil((x-last)/s.step)*s.step)
}

// Below returns the largest level below x; 0 if no level is below x.
func (s Series) Below(x int32) int32 {
	i, _ := slices.BinarySearch(s.list, float64(x))
	switch i {
	case 0:
		return 0
	case len(s.list):
		last := s.list[i-1]
		return clampInt32(last + math.Ceil((float64(x)-last)/s.step-1)*s.step)
	}
	return int32(s.list[i-1])
}

func clampInt32(x float64) int32 { return int32(min(x, math.MaxInt32)) }
