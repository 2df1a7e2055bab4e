package policy_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/policy"
)

func series(t *testing.T, name string) policy.Series {
	t.Helper()
	s, err := policy.ParseSeries(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func list(t *testing.T, levels ...int32) policy.Series {
	t.Helper()
	s, err := policy.ListSeries(levels)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNamedSeriesHaveTheirLevels(t *testing.T) {
	t.Parallel()
	for _, name := range policy.SeriesNames() {
		s, want := series(t, name), levelsOf(name)
		if s.String() != name {
			t.Errorf("%s calls itself %q", name, s)
		}
		var up, down []int32
		for x := int32(0); x < highest; {
			x = s.Above(float64(x) + 0.5)
			up = append(up, x)
		}
		for x := int32(highest + 1); ; {
			if x = s.Below(x); x == 0 {
				break
			}
			down = append(down, x)
		}
		slices.Reverse(down)
		if !slices.Equal(up, want) || !slices.Equal(down, want) {
			t.Errorf("series %s\nupwards   %v\ndownwards %v\nwant      %v", name, up, down, want)
		}
	}
}

func TestAboveIsTheSmallestLevelThatSuffices(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		s    policy.Series
		x    float64
		want int32
	}{
		{"a level is its own", policy.OneTwoFive, 200, 200},
		{"a trifle more needs the next", policy.OneTwoFive, 200.0001, 500},
		{"nothing needs the first", policy.OneTwoFive, 0, 1},
		{"less than nothing needs the first", policy.OneTwoFive, -3, 1},
		{"the first of tens is 10", policy.Tens, 0, 10},
		{"a whole ten is its own", policy.Tens, 30, 30},
		{"steps have no 15", policy.Steps, 11, 20},
		{"steps of fifties", policy.Steps, 101, 150},
		{"fifties end at a thousand", policy.Steps, 951, 1000},
		{"then come hundreds", policy.Steps, 1001, 1100},
		{"then thousands", policy.Steps, 10_001, 11_000},
		{"the last of the steps", policy.Steps, 2_100_000_000, 2_100_000_000},
		{"beyond the last of the steps", policy.Steps, 2_100_000_001, math.MaxInt32},
		{"below the list is its first", list(t, 7, 20), 1, 7},
		{"within the list", list(t, 7, 20), 7.5, 20},
		{"beyond the list a need is its own level", list(t, 7, 20), 21, 21},
		{"beyond the list a part needs a whole", list(t, 7, 20), 20.2, 21},
		{"the largest number of pods", policy.OneTwoFive, math.MaxInt32, math.MaxInt32},
		{"more than the largest number of pods", policy.Steps, 1e12, math.MaxInt32},
		{"more than the largest number of tens", policy.Tens, 1e12, math.MaxInt32},
		{"the last ten but one", policy.Tens, 2147483640, 2147483640},
		{"the last ten does not fit", policy.Tens, 2147483641, math.MaxInt32},
		{"more than the largest of a list", list(t, 7), 1e12, math.MaxInt32},
		{"the last level of decades that fits", policy.Decades, 1e9, 1_000_000_000},
		{"the next decade does not fit", policy.Decades, 1e9 + 1, math.MaxInt32},
	}
	for _, tt := range tests {
		if got := tt.s.Above(tt.x); got != tt.want {
			t.Errorf("%s: %s above %v is %d, want %d", tt.name, tt.s, tt.x, got, tt.want)
		}
	}
}

func TestBelowIsTheLargestLevelThatIsLess(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		s       policy.Series
		x, want int32
	}{
		{"a level is not below itself", policy.OneTwoFive, 200, 100},
		{"between two levels", policy.OneTwoFive, 201, 200},
		{"nothing is below the first", policy.OneTwoFive, 1, 0},
		{"nothing is below nothing", policy.OneTwoFive, 0, 0},
		{"nothing is below ten", policy.Tens, 10, 0},
		{"ten is below eleven", policy.Tens, 11, 10},
		{"nothing is below a list's first", list(t, 7, 20), 7, 0},
		{"a list's last is below what follows it", list(t, 7, 20), 21, 20},
		{"beyond the list each number is a level", list(t, 7, 20), 22, 21},
		{"the largest number of pods", policy.OneTwoFive, math.MaxInt32, 2_000_000_000},
		{"the largest number of pods in tens", policy.Tens, math.MaxInt32, 2147483640},
		{"the largest number of pods in decades", policy.Decades, math.MaxInt32, 1_000_000_000},
		{"the largest number of pods in steps", policy.Steps, math.MaxInt32, 2_100_000_000},
	}
	for _, tt := range tests {
		if got := tt.s.Below(tt.x); got != tt.want {
			t.Errorf("%s: %s below %d is %d, want %d", tt.name, tt.s, tt.x, got, tt.want)
		}
	}
}

func TestMaxMarginIsWhereLevelsWouldBeSkipped(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s    policy.Series
		want float64
	}{
		{policy.OneTwoFive, 0.5},
		{policy.Decades, 0.9},
		{policy.Steps, 1}, // a margin may skip levels
		{policy.Tens, 1},
		{list(t, 3, 4), 0.25},
		{list(t, 10, 100, 120), 1 - 100.0/120},
		{list(t, 5), 1},
	}
	for _, tt := range tests {
		if got := tt.s.MaxMargin(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%s: margin must stay below %v, got %v", tt.s, tt.want, got)
		}
	}
}

func TestListsMustAscendFromOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		levels []int32
		want   string // part of the error; "" if there is no error
	}{
		{"one level", []int32{5}, ""},
		{"ascending", []int32{1, 2, 30}, ""},
		{"up to the largest number", []int32{1, math.MaxInt32}, ""},
		{"none", nil, "must have at least one level"},
		{"zero", []int32{0, 5}, "level 0: must be at least 1"},
		{"negative", []int32{-4}, "level -4: must be at least 1"},
		{"descending", []int32{5, 3}, "level 3 after 5: levels must ascend"},
		{"twice the same", []int32{5, 5}, "level 5 after 5: levels must ascend"},
	}
	for _, tt := range tests {
		s, err := policy.ListSeries(tt.levels)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		case tt.want == "" && s.Above(0) != tt.levels[0]:
			t.Errorf("%s: starts at %d", tt.name, s.Above(0))
		}
	}
	if s := list(t, 7, 20, 90); s.String() != "[7, 20, 90]" {
		t.Errorf("a list calls itself %q", s)
	}
	levels := []int32{1, 2}
	s := list(t, levels...)
	if levels[0] = 9; s.Above(0) != 1 {
		t.Error("a series changes with the list that it was made from")
	}
	if s := list(t, 5, math.MaxInt32); s.Above(6) != math.MaxInt32 || s.Below(math.MaxInt32) != 5 {
		t.Error("the largest number of pods is no level of a list that ends with it")
	}
}

func TestSeriesAreKnownByName(t *testing.T) {
	t.Parallel()
	_, err := policy.ParseSeries("Steps")
	if err == nil {
		t.Fatal("the names of series are not spelled at will")
	}
	for _, name := range append(policy.SeriesNames(), "Steps") {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error does not name %s: %v", name, err)
		}
	}
}
