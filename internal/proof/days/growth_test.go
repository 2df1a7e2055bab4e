package days

import (
	"math"
	"slices"
	"testing"
)

const (
	// warm is the day from which on growth is measured: by then caches have been full.
	warm = 5
	// week is over how many days a peak is taken. What is kept of objects grows for
	// two to six days, 48 KB a commit, before it is let go: single days differ by a
	// quarter although nothing grows. Each week has days near the top.
	week = 7
	// mostGrowth is the growth that no process may have.
	mostGrowth = 1.05
)

// growth is the peak of the last week over that of the week from day warm on. known is
// false where the two are not apart.
func growth(peaks []int64) (ratio float64, known bool) {
	if len(peaks) < warm-1+2*week {
		return 0, false
	}
	return float64(slices.Max(peaks[len(peaks)-week:])) / float64(slices.Max(peaks[warm-1:][:week])), true
}

// Growth is told from a cache that fills and is let go, by the peaks of a month of
// ticks, in MiB: what leaks 256 KiB a day is seen, which is less than 1 KiB a tick.
func TestGrowthIsToldFromACache(t *testing.T) {
	t.Parallel()
	month := []int64{58, 66, 68, 55, 60, 64, 66, 68, 69, 69, 59, 63, 68, 70, 54, 55, 57, 62, 67, 69, 55, 60, 62, 63, 63, 70, 70, 59, 64, 66}
	leak := func(perDay float64) (peaks []int64) {
		for day, mib := range month {
			peaks = append(peaks, mib+int64(math.Round(perDay*float64(day))))
		}
		return peaks
	}
	for name, tt := range map[string]struct {
		peaks []int64
		grows bool
	}{
		"a month":                         {peaks: month},
		"begun on another day":            {peaks: month[6:]},
		"ended on a day that let go":      {peaks: month[:28]},
		"a leak of 256 KiB a day":         {peaks: leak(0.25), grows: true},
		"a leak that ends on such a day":  {peaks: leak(0.25)[:28], grows: true},
		"a leak of a mebibyte, by day 18": {peaks: leak(1)[:18], grows: true},
	} {
		t.Run(name, func(t *testing.T) {
			if ratio, known := growth(tt.peaks); !known || ratio > mostGrowth != tt.grows {
				t.Errorf("growth is %.3f, known: %v", ratio, known)
			}
		})
	}
	if _, known := growth(month[:warm-1+2*week-1]); known {
		t.Error("growth is known of weeks that overlap")
	}
}
