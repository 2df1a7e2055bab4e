package days

import "testing"

const (
	// warm is the day with which the last one is compared: by then caches have been full.
	warm = 5
	// mostGrowth is the growth that no process may have.
	mostGrowth = 1.05
)

// growth is what the process was at most on the last day, over what it was at most on
// day warm. known is false where that is the same day.
func growth(peaks []int64) (ratio float64, known bool) {
	if len(peaks) <= warm {
		return 0, false
	}
	return float64(peaks[len(peaks)-1]) / float64(peaks[warm-1]), true
}

// A leak is seen, and days before the fifth are not looked at.
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
