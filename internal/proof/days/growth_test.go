package days

import "testing"

const (
	// warm is the day that the last day is compared with. The caches are full by then.
	warm = 5
	// mostGrowth is the growth that no process may have.
	mostGrowth = 1.05
)

// growth returns the ratio of the process's peak on the last day to its peak on day
// warm. known is false if there is no later day.
func growth(peaks []int64) (ratio float64, known bool) {
	if len(peaks) <= warm {
		return 0, false
	}
	return float64(peaks[len(peaks)-1]) / float64(peaks[warm-1]), true
}

// The test detects a leak, and ignores the days before the fifth.
func TestGrowthIsTold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		peaks []int64
		grows bool
	}{
		"a month that settles": {peaks: []int64{40, 50, 52, 52, 52, 53, 52, 52, 53}},
		"a leak":               {peaks: []int64{50, 50, 50, 50, 50, 51, 52, 53}, grows: true},
	} {
		if ratio, known := growth(tt.peaks); !known || ratio > mostGrowth != tt.grows {
			t.Errorf("%s: growth is %.3f, known: %v", name, ratio, known)
		}
	}
	if _, known := growth(make([]int64, warm)); known {
		t.Error("growth is known of one day")
	}
}
