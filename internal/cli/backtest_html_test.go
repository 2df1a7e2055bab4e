package cli_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The page has the figures of the table, and stays small for any past.
func TestBacktestAsAPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(pastScale())
	for hour := range 24 * 14 {
		for w := range 60 {
			fmt.Fprintf(&b, "%d,shop/web-%d,%d,,\n", hour*3600, w, 1+(hour*7+w*w)%(10+w*9))
		}
	}
	past := file(t, "past.csv", b.String())
	got := run(time.Time{}, "backtest", past, "-o", "html", "--workload", "search/index")
	if got.status != 0 || got.err != "" || !strings.HasPrefix(got.out, "<!doctype html>") || strings.Contains(got.out, "<script") {
		t.Fatalf("%d %s %.100s", got.status, got.err, got.out)
	}
	if len(got.out) > 100<<10 {
		t.Errorf("it has %d bytes", len(got.out))
	}
	if !strings.Contains(got.out, "search/index with policy cope") {
		t.Error("the chart is not of the workload")
	}
	for _, p := range backtested(t, run(time.Time{}, "backtest", past, "-o", "json")).Policies {
		if want := fmt.Sprintf(`<th scope="row">%s</th>`, p.Name); !strings.Contains(got.out, want) {
			t.Errorf("no %q", want)
		}
	}
}
