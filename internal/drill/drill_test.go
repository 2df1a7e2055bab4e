package drill_test

import (
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
)

// The model is compared with the measurements in the rebuild bench, as the handbook
// shows them, for pods that never fail. In the bench, half of the pods serve the load,
// because their target is 50 %. The largest workload has 45 % of the fleet.
func TestTheModelIsNearWhatTheBenchMeasured(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile(`(?m)^\| ([0-9,]+) \| [^|]*\| (?:(\d+) min )?(?:(\d+) s )?\|`)
	found := row.FindAllStringSubmatch(docs.Text("measured"), -1)
	if len(found) != 3 {
		t.Fatalf("the handbook shows %d rows of the bench", len(found))
	}
	for _, m := range found {
		pods := number(t, strings.ReplaceAll(m[1], ",", ""))
		measured := float64(60*number(t, m[2]) + number(t, m[3]))
		serves := int32(math.Ceil(0.45 * float64(pods) / 2))
		if e := drill.Takes(1, serves, true, 1, 10000); math.Abs(float64(e.Seconds)-measured) > 0.05*measured {
			t.Errorf("%d pods: %d s by the model, %v s measured", pods, e.Seconds, measured)
		}
	}
}

func number(t *testing.T, text string) (n int) {
	t.Helper()
	for _, digit := range text {
		n = 10*n + int(digit-'0')
	}
	return n
}

func TestTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		start, need int32
		driven      bool
		low, high   int32
		want        drill.Estimate
	}{
		{"all at once", 200, 187, true, 2, 500, drill.Estimate{From: 200, Seconds: 30}},
		{"one round", 100, 187, true, 2, 500, drill.Estimate{From: 100, Rounds: 1, Seconds: 90}},
		{"from one", 1, 1000, true, 0, 0, drill.Estimate{From: 1, Rounds: 10, Seconds: 630}},
		{"from the min of its autoscaler", 1, 64, true, 16, 500, drill.Estimate{From: 16, Rounds: 2, Seconds: 150}},
		{"what is not known begins with one", 0, 2, true, 0, 0, drill.Estimate{From: 1, Rounds: 1, Seconds: 90}},
		{"no further than its max", 1, 1000, true, 1, 4, drill.Estimate{From: 1, Rounds: 2, Seconds: 150}},
		{"nobody scales it", 1, 3, false, 0, 0, drill.Estimate{From: 1, Never: true}},
		{"nobody has to", 3, 3, false, 0, 0, drill.Estimate{From: 3, Seconds: 30}},
		{"more than fits an int32 doubled", 1 << 30, math.MaxInt32, true, 0, 0, drill.Estimate{From: 1 << 30, Rounds: 1, Seconds: 90}},
	} {
		if got := drill.Takes(c.start, c.need, c.driven, c.low, c.high); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func one(name string, need, start int32, cause string) drill.Workload {
	covered := float64(min(need, start)) / float64(need)
	w := drill.Workload{Named: term.Named{Namespace: "shop", Kind: "deployment", Name: name}, Need: &need, Declared: &need, Start: drill.Start{Basis: "observed", AtLeast: start, AtMost: start}, Coverage: &covered, Missing: max(0, need-start), Causes: []drill.Cause{}}
	if cause != "" {
		w.Causes = append(w.Causes, drill.Cause{Name: cause, Text: "because"})
	}
	return w
}

func TestSinceTheLastDrill(t *testing.T) {
	t.Parallel()
	last := drill.Document{Commit: "old", Fleet: drill.Fleet{Coverage: new(0.9)}, Workloads: []drill.Workload{
		one("same", 10, 10, ""), one("gone", 10, 10, ""), one("fell", 10, 10, ""), one("rose", 10, 1, "overridden"), one("other", 10, 1, "overridden"),
	}}
	now := drill.Document{Workloads: []drill.Workload{
		one("same", 10, 10, ""), one("fell", 10, 1, "component-missing"), one("rose", 10, 10, ""), one("other", 10, 1, "component-missing"), one("added", 10, 10, ""),
	}}
	if d := now.Since(nil); d.Last != nil {
		t.Errorf("since nothing: %+v", d.Last)
	}
	d := now.Since(&last)
	var got []string
	for _, c := range d.Last.Changes {
		got = append(got, c.Name+" "+c.What)
	}
	if want := []string{"fell changed", "added added", "gone gone", "other changed", "rose changed"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if *d.Last.Coverage != 0.9 || d.Last.Commit != "old" || d.Last.Changes[0].Then.Cause != "" || d.Last.Changes[0].Now.Cause != "component-missing" || d.Last.Changes[2].Now != nil {
		t.Errorf("%+v", d.Last)
	}
	if d := last.Since(&last); len(d.Last.Changes) != 0 {
		t.Errorf("since itself: %+v", d.Last.Changes)
	}
}

func TestASummaryNamesTheWorstThree(t *testing.T) {
	t.Parallel()
	d := drill.Document{
		Site: "prod-eu", Branch: "main", Commit: "5484ca8abc", MinCoverage: 0.95,
		Fleet:     drill.Fleet{Coverage: new(0.8996), Workloads: 6, Full: 2, Low: 3, Need: 100, Covered: 89, CoveredAtMost: 91, BareAtLeast: 6, BareAtMost: 6, With: 90, Without: 450, StuckWithout: 1},
		Workloads: []drill.Workload{one("a", 50, 1, "overridden"), one("b", 50, 25, "yield"), one("c", 50, 40, "quota"), one("d", 50, 45, ""), one("e", 5, 5, "")},
		Links:     []drill.Link{{Form: "html", URI: "s3://b/k.html", URL: "https://b/k.html?signed", Until: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)}},
	}
	s := d.Since(&drill.Document{At: time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC), Fleet: drill.Fleet{Coverage: new(1.0)}})
	want := `gitlatch prod-eu: a rebuild starts with 89.9 % of the needed pods, below the minimum of 95 %

For 6 workloads, a rebuild starts 89 to 91 of the 100 needed pods. Without gitlatch, it starts 6 pods. Workloads with all needed pods: 2. Workloads below 95 %: 3.
Once a rebuild has created the workloads, all needed pods are ready within 1 min 30 s. Without gitlatch, all needed pods are ready after 7 min 30 s, except the pods of 1 workload without an autoscaler that adds pods.
Scored: 5484ca8 on main. The flush did not change any levels.
In the last drill (2026-11-19 09:00), the coverage was 100 %. Since the last drill, 5 workloads changed.

Most missing pods:
  shop/deployment/a starts with 1 of 50 (overridden)
  shop/deployment/b starts with 25 of 50 (yield)
  shop/deployment/c starts with 40 of 50 (quota)
  and 1 more below 100 %

Report, html: s3://b/k.html
  link until 2026-11-20T10:00:00Z at most: https://b/k.html?signed
`
	if got := s.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if s := d.Shortened(2); len(s.Workloads) != 2 || s.Cut != 3 || len(d.Workloads) != 5 {
		t.Errorf("shortened to %d, %d cut", len(s.Workloads), s.Cut)
	}
}

// The summary shows the pods that a rebuild starts beyond the desired pods.
func TestASummaryShowsTheSurplus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		live, rebuilt, surplus, stuck int64
		want                          string // "" means no line
	}{
		{1278, 1775, 497, 0, "A rebuild starts 1,775 pods, including 497 surplus pods (38.8 % of the desired replicas). Autoscalers remove the surplus pods after 5 min."},
		{100, 120, 20, 20, "A rebuild starts 120 pods, including 20 surplus pods (20 % of the desired replicas). No autoscaler removes the surplus pods."},
		{100, 120, 20, 5, "A rebuild starts 120 pods, including 20 surplus pods (20 % of the desired replicas). Autoscalers remove 15 of the surplus pods after 5 min, and no autoscaler removes the others."},
		{100, 100, 0, 0, ""},
	} {
		d := drill.Document{Fleet: drill.Fleet{Coverage: new(1.0), Need: c.live, Live: c.live, Rebuilt: c.rebuilt, Surplus: c.surplus, SurplusStuck: c.stuck}}
		text := d.Text()
		if !strings.Contains(text, c.want+"\n") || strings.Contains(text, "surplus pods") != (c.want != "") {
			t.Errorf("%+v: got\n%s\nwant %s", c, text, c.want)
		}
		d.Fleet.Coverage = nil
		d.Fleet.Nothing = "no workload is latched"
		if text := d.Text(); strings.Contains(text, "surplus pods") {
			t.Errorf("without a coverage: %s", text)
		}
	}
}

// An unknown coverage is null, and the next drill reports it as unknown.
func TestACoverageThatIsNotKnownIsNoNumber(t *testing.T) {
	t.Parallel()
	d := drill.Document{Site: "prod", Branch: "main", Commit: "5484ca8abc", Notices: []string{"a notice"}, Fleet: drill.Fleet{Nothing: "nothing is asked", NeedUnknown: 2}}
	next := drill.Document{Fleet: drill.Fleet{Coverage: new(0.5)}}.Since(&d)
	for name, of := range map[string]any{"fleet": d.Fleet, "last": *next.Last} {
		text, err := json.Marshal(of)
		if err != nil || !strings.Contains(string(text), `"coverage":null`) || strings.Count(string(text), `"coverage"`) != 1 || !strings.Contains(string(text), `"nothing":"nothing is asked"`) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
	if text, err := json.Marshal(next); err != nil || !strings.Contains(string(text), `"coverage":0.5`) {
		t.Errorf("%s, %v", text, err)
	}
	if text := next.Text(); !strings.Contains(text, "coverage was unknown") {
		t.Errorf("what it was before: %s", text)
	}
	want := "gitlatch prod: the coverage of a rebuild is unknown: nothing is asked\n\nNotice: a notice.\nRead: 5484ca8 on main.\n"
	if got := d.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The next drill reports desired replicas that changed.
func TestANeedThatChangedIsTold(t *testing.T) {
	t.Parallel()
	unknown := one("web", 10, 10, "")
	unknown.Need = nil
	for name, c := range map[string]struct {
		then, now drill.Workload
		told      bool
	}{
		"the same":           {one("web", 10, 10, ""), one("web", 10, 10, ""), false},
		"a little less":      {one("web", 100, 200, ""), one("web", 51, 200, ""), false},
		"the half":           {one("web", 100, 200, ""), one("web", 50, 200, ""), true},
		"the double":         {one("web", 50, 200, ""), one("web", 100, 200, ""), true},
		"not known any more": {one("web", 10, 10, ""), unknown, true},
		"not known twice":    {unknown, unknown, false},
	} {
		declared := int32(200)
		c.then.Declared, c.now.Declared = &declared, &declared
		d := drill.Document{Workloads: []drill.Workload{c.now}}.Since(&drill.Document{Workloads: []drill.Workload{c.then}})
		if told := len(d.Last.Changes) == 1; told != c.told {
			t.Errorf("%s: %+v", name, d.Last.Changes)
		}
	}
}

func TestSpansAreOfMinutesAndSeconds(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{0: "0 s", 45: "45 s", 60: "1 min", 450: "7 min 30 s"} {
		if got := drill.Span(seconds); got != want {
			t.Errorf("%d is %s, want %s", seconds, got, want)
		}
	}
}

// A rebuild in which every workload is stuck has no time, and none is printed as 0.
func TestAStuckRebuildHasNoTime(t *testing.T) {
	t.Parallel()
	d := drill.Document{Fleet: drill.Fleet{Workloads: 1, Need: 50, Coverage: new(1.0), With: 30, StuckWithout: 1}}
	const want = "Once a rebuild has created the workloads, all needed pods are ready within 30 s. Without gitlatch, no autoscaler adds the missing pods of 1 workload."
	if lines := d.Lines(); !slices.Contains(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
	one := drill.Outcome{PodsAtLeast: 1, PodsAtMost: 1, CoveredAtLeast: 1, CoveredAtMost: 1, Stuck: 1}
	all := drill.Outcome{PodsAtLeast: 50, PodsAtMost: 50, CoveredAtLeast: 50, CoveredAtMost: 50, SecondsAtLeast: 30, SecondsAtMost: 30}
	p := drill.Preview{Need: 50, Without: one, With: all}.Told()
	const sentence = "Without gitlatch, a rebuild would start 1 of the 50 needed pods (2 %) and add no pods later, because no autoscaler adds the missing pods of 1 workload. With gitlatch, a rebuild would start 50 pods and take about 30 s."
	if p.Sentence != sentence {
		t.Errorf("got %q, want %q", p.Sentence, sentence)
	}
}
