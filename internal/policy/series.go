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
	name string
	// decade has the levels from 1 to below 10. The other levels are multiples of it by powers
	// of ten. Fractions round half up to an integer.
	decade []float64
	// list is an explicit list of levels. A need beyond the last level is a level.
	list []float64
	// step is the distance between evenly spaced levels, and the first of them.
	step int32
}

// The named series. The Renard series are from ISO 3, rounded to full pods.
var (
	OneTwoFive = Series{name: "1-2-5", decade: []float64{1, 2, 5}}
	R5         = Series{name: "R5", decade: []float64{1, 1.6, 2.5, 4, 6.3}}
	R10        = Series{name: "R10", decade: []float64{1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8}}
	Decades    = Series{name: "decades", decade: []float64{1}}
	Tens       = Series{name: "tens", step: 10}
)

var named = []Series{OneTwoFive, R5, R10, Decades, Tens}

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
	return Series{list: lists.Map(levels, func(l int32) float64 { return float64(l) })}, nil
}

// String returns the series' name, or its list of levels.
func (s Series) String() string {
	if s.list == nil {
		return s.name
	}
	return "[" + strings.Join(lists.Map(s.list, func(l float64) string { return strconv.Itoa(int(l)) }), ", ") + "]"
}

// MaxMargin is the fraction below which a margin must be, so that a lowering skips no
// level: 1 - 1/r for the smallest ratio r of two neighbours. The ratios of evenly spaced
// levels approach 1, so their margin must only be below 1.
func (s Series) MaxMargin() float64 {
	levels := s.list
	if s.decade != nil {
		levels = slices.Concat(s.decade, []float64{10})
	}
	ratio := math.Inf(1)
	for i := 1; i < len(levels); i++ {
		ratio = min(ratio, levels[i]/levels[i-1])
	}
	return 1 - 1/ratio
}

// Above returns the smallest level at or above x. It is at least the first
// level, and at most the largest int32.
func (s Series) Above(x float64) int32 {
	switch {
	case s.step > 0:
		return clampInt32(max(1, math.Ceil(x/float64(s.step))) * float64(s.step))
	case s.list != nil:
		i, _ := slices.BinarySearch(s.list, x)
		if i < len(s.list) {
			return int32(s.list[i])
		}
		return clampInt32(math.Ceil(x))
	}
	for power := 1.0; ; power *= 10 {
		for _, l := range s.decade {
			if level := wholePods(l * power); level >= x {
				return clampInt32(level)
			}
		}
	}
}

// Below returns the largest level below x; 0 if no level is below x.
func (s Series) Below(x int32) int32 {
	switch {
	case s.step > 0:
		return (x - 1) / s.step * s.step
	case s.list != nil:
		i, _ := slices.BinarySearch(s.list, float64(x))
		switch {
		case i == 0:
			return 0
		case i == len(s.list): // beyond the list each number is a level
			return x - 1
		}
		return int32(s.list[i-1])
	}
	below := int32(0)
	for power := 1.0; ; power *= 10 {
		for _, l := range s.decade {
			level := wholePods(l * power)
			if level >= float64(x) {
				return below
			}
			below = int32(level)
		}
	}
}

func wholePods(x float64) float64 { return math.Floor(x + 0.5) }

func clampInt32(x float64) int32 { return int32(min(x, math.MaxInt32)) }
