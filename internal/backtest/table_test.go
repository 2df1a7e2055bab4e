package backtest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Coverage below 100 % is not printed as 100 %.
func TestTheTableRoundsNothingUpToWhole(t *testing.T) {
	t.Parallel()
	c := cope()
	past := of(t, map[workload.ID][]backtest.Sample{web: every(period, monday, times(12, 40)...)})
	one := backtest.Result{Candidate: c, Days: 1, Declared: 1, Workloads: 1, Coverage: 0.99985, Need: 100, Waste: 31,
		Worst: backtest.Worst{Share: 0.998, Workload: web, Need: 1000, Declared: 998}}
	v := backtest.Verdict{Past: past, Results: []backtest.Result{one}, Front: []bool{true}, Best: -1, Period: period}
	var out bytes.Buffer
	if err := v.Table(&out, term.Style{}, web); err != nil {
		t.Fatal(err)
	}
	row := ""
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, c.Name) {
			row = line
		}
	}
	for _, want := range []string{" 99.9 % ", " 99.8 % ", " 31 %"} {
		if !strings.Contains(row, want) {
			t.Errorf("no %q in %q", want, row)
		}
	}
	if strings.Contains(row, "100") {
		t.Errorf("it is rounded up: %q", row)
	}
}
