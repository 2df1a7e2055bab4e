package cli_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
)

// shown returns the document in a page.
func shown(t *testing.T, got outcome) (d backtest.Document) {
	t.Helper()
	if got.status != 0 || got.err != "" || !strings.HasPrefix(got.out, "<!doctype html>") {
		t.Fatalf("%d %s %.100s", got.status, got.err, got.out)
	}
	_, rest, _ := strings.Cut(got.out, `id="document">`)
	data, _, ok := strings.Cut(rest, "</script>")
	if !ok {
		t.Fatal("the page has no data")
	}
	must(t, json.Unmarshal([]byte(data), &d))
	return d
}

func TestBacktestAsAPage(t *testing.T) {
	t.Parallel()
	past := file(t, "past.csv", pastScale())
	d := shown(t, run(time.Time{}, "backtest", past, "-o", "html", "--workload", "search/index"))
	p := d.Pictures
	if p == nil || p.OtherWorkloads != 0 || p.BucketSeconds != 540 {
		t.Fatalf("%+v", p)
	}
	if !slices.Equal(p.Workloads, []string{"search/statefulset/index", "shop/deployment/web"}) || len(p.Levels) != 2 {
		t.Errorf("%v, %d candidates", p.Workloads, len(p.Levels))
	}
	// The buckets contain the peak and the hours without samples.
	highest, dark := int32(0), false
	for _, s := range p.Needs[1] {
		highest = max(highest, s[2])
	}
	for _, s := range p.Needs[0] {
		dark = dark || s[2] == backtest.Unobserved
	}
	if highest != 1000 || !dark {
		t.Errorf("highest %d, dark %v", highest, dark)
	}
	for i, levels := range p.Levels {
		if len(levels) != 2 || len(levels[1]) < 2 || levels[1][len(levels[1])-1][2] < 100 {
			t.Errorf("levels of %s: %v", d.Candidates[i].Name, levels)
		}
	}
	// The other fields equal the JSON output.
	var machines backtest.Document
	must(t, json.Unmarshal([]byte(run(time.Time{}, "backtest", past, "-o", "json").out), &machines))
	d.Pictures = nil
	if !reflect.DeepEqual(d, machines) {
		t.Errorf("the page has\n%+v, and machines get\n%+v", d, machines)
	}
	if machines.Wants.Coverage != 0.95 || machines.Wants.Commits != 4 {
		t.Errorf("%+v", machines.Wants)
	}
}

// A page stays small for any number of workloads, and states how many it leaves out.
func TestAPageOfABacktestIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("time,workload,replicas\n")
	for hour := range 24 * 14 {
		for w := range 60 {
			fmt.Fprintf(&b, "%d,shop/web-%d,%d\n", hour*3600, w, 1+(hour*7+w*w)%(10+w*9))
		}
	}
	got := run(time.Time{}, "backtest", file(t, "past.csv", b.String()), "-o", "html", "--max-commits", "100", "--workload", "shop/web-1")
	d := shown(t, got)
	if p := d.Pictures; len(p.Workloads) != 20 || p.OtherWorkloads != 40 || len(p.Levels) != len(d.Candidates) || p.Buckets > 481 {
		t.Errorf("%v, %d of %d, %d buckets", p.Workloads, len(p.Levels), len(d.Candidates), p.Buckets)
	}
	if p := d.Pictures; p.Workloads[0] != "shop/deployment/web-1" {
		t.Errorf("%s comes first", p.Workloads[0])
	}
	if len(got.out) > 2<<20 {
		t.Errorf("it has %d bytes", len(got.out))
	}
	for _, s := range d.Pictures.Needs[0] {
		if s[0] >= d.Pictures.Buckets {
			t.Errorf("%v is beyond the last of %d buckets", s, d.Pictures.Buckets)
		}
	}
}
