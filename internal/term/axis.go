package term

import (
	"math"
	"strconv"
)

// wide is the smallest ratio of the highest to the lowest value on a logarithmic axis.
const wide = 20

// axis maps values to heights, in rows above the bottom.
type axis struct {
	low, high float64 // low is below the lowest shown value; 0 makes the axis linear
	rows      int
}

// axisFor returns an axis for the values from lowest to highest. lowest is the lowest
// value above 0.
func axisFor(lowest, highest float64, rows int) axis {
	a := axis{high: RoundUp(max(highest, 1)), rows: rows}
	if lowest > 0 && highest/lowest >= wide {
		a.low = roundDown(lowest) / 2
	}
	return a
}

// height returns the height of a value in rows. The highest value ends in the middle of
// the top row, so a line at this value is visible.
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

// row returns the row of a value, counted from the bottom.
func (a axis) row(v float64) int {
	return min(max(int(a.height(v)), 0), a.rows-1)
}

// labels returns the labels of the rows: powers of ten first, then other values in free
// rows.
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
	for v := RoundUp(a.low * 1.01); v < a.high; v = RoundUp(v * 1.01) {
		add(v)
	}
	return at
}

// RoundUp returns the next of 1, 2, 5 and their multiples by powers of ten.
func RoundUp(v float64) float64 {
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

// Number formats a number with separators: 10,000.
func Number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
