package term

import (
	"math"
	"strconv"
)

// wide is the ratio of highest to lowest from which an axis is logarithmic.
const wide = 20

// axis maps values to heights, in rows above the bottom.
type axis struct {
	low, high float64 // low is below what is shown; 0 makes the axis linear
	rows      int
}

// axisFor returns the axis that shows values from the lowest above 0 to the
// highest.
func axisFor(lowest, highest float64, rows int) axis {
	a := axis{high: roundUp(max(highest, 1)), rows: rows}
	if lowest > 0 && highest/lowest >= wide {
		a.low = roundDown(lowest) / 2
	}
	return a
}

// height returns how many rows high a value stands. The highest ends in the
// middle of the top row, so that a line drawn at it is seen.
func (a axis) height(v float64) float64 {
	full := float64(a.rows) - 0.5
	switch {
	case a.low == 0:
		return v / a.high * full
	case v <= a.low:
		return 0
	}
	return math.Log(v/a.low) / math.Log(a.high/a.low) * full
}

// row returns the row, from the bottom, in which a value lies.
func (a axis) row(v float64) int {
	return min(max(int(a.height(v)), 0), a.rows-1)
}

// labels returns what is written beside the rows: powers of ten first, then
// what else there is room for.
func (a axis) labels() map[int]string {
	at := map[int]string{}
	add := func(v float64) {
		r := a.row(v)
		if at[r-1] == "" && at[r] == "" && at[r+1] == "" {
			at[r] = count(v)
		}
	}
	if a.low == 0 {
		at[0] = "0"
		for _, part := range []float64{1, 0.5, 0.25, 0.75} {
			if v := a.high * part; v == math.Trunc(v) {
				add(v)
			}
		}
		return at
	}
	for power := a.high; power > a.low; power /= 10 {
		add(power)
	}
	for v := roundUp(a.low * 1.01); v < a.high; v = roundUp(v * 1.01) {
		add(v)
	}
	return at
}

func roundUp(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

func roundDown(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)+1e-9))
	for _, m := range []float64{5, 2} {
		if m*power <= v*(1+1e-9) {
			return m * power
		}
	}
	return power
}

func count(v float64) string { return Number(int64(math.Round(v))) }

// Number writes a number with its thousands apart: 10,000.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
