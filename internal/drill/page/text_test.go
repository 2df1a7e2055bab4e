package page_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
)

var (
	tags   = regexp.MustCompile(`(?s)<style>.*</style>|<title>.*?</title>|<[^>]*>`)
	spaces = regexp.MustCompile(`[\s\x{a0}]+`)
)

// text returns the text of a page, with single spaces.
func text(page []byte) string {
	return spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(string(page), " ")), " ")
}

func TestAPageSays(t *testing.T) {
	t.Parallel()
	none := site(0)
	none.Passed, none.Fleet.Nothing, none.Fleet.Coverage = false, "nothing is asked of any workload", nil
	unread := site(212)
	unread.Passed, unread.Unread = false, []string{"statefulsets: forbidden"}
	cut := site(212)
	cut.Cut = 3
	for i := range cut.Workloads {
		if r := cut.Workloads[i].Rollout; r != nil {
			r.ByItself = false
		}
	}
	near := site(2)
	placed(&near, room.Close, 600*near.Fleet.Rebuilt)
	blind := tried()
	blind.Policies = []backtest.Row{{Name: "hourly job", Levels: 214}, {Name: "cope"}}
	for name, c := range map[string]struct {
		page []byte
		want []string
	}{
		"a drill": {drilled(t, site(212)), []string{
			"Drill of prod-eu · 2026-11-20 12:05 UTC gitlatch prod-eu: a rebuild starts with 95.7 % to 96.9 % of the needed pods (minimum 95 %)",
			"Coverage at the start 95.7 % to 96.9 % minimum 95 %", "Missing pods at the start 2,587 to 3,563 of 84,188 needed",
			"Surplus pods at the start 37,146 of 117,771 started", "Time to 95 % of the pods 30 s 10 min 30 s without gitlatch", "Workloads below 95 % 11 of 209",
			"80,625 to 81,601 of the 84,188 needed pods", "4 workloads without an autoscaler that adds pods",
			"not-declared 1,852 4", "not-merged 46 3", "NodePool default cpu likely fits 50 %",
			"v41 would return, and roll to v42", "ProgressDeadlineExceeded", "FailedGetResourceMetric",
			"the coverage was 93.6 %", "71 % covered, 50 in git 0 % covered", "The flush changed 4 levels.", "→ 500 changed",
			"31 workloads: nothing scales them", "metrics-server: --metric-resolution, default", "152 more workloads",
			"Commit 4f1c9a70c2d0b7d1f0e2d9f7a1c3b5e7d9f1a3c5", "gitlatch.dev/v1alpha1 Drill", "s3://reports/prod-eu/2026-11-20.html",
		}},
		"a failed drill": {drilled(t, failing()), []string{
			"below the minimum of 95 %", "node groups, vCPU quotas and free addresses", "gitlatch did not read the AWS account. Use --aws",
			"without a flush", "deployments in search: forbidden", "line 7: not a number", "Mode latch, dry run",
		}},
		"a drill without room": {drilled(t, crowded()), []string{"but its pods do not fit: NodePool default", "Room for a rebuild does not fit 1 limit", "152.5 100 167.75"}},
		"a drill near a limit": {drilled(t, near), []string{"close", "83.3 %"}},
		"a short drill":        {drilled(t, cut), []string{"3 workloads more in the saved document", "v41 not automatically"}},
		"an unread drill":      {drilled(t, unread), []string{"some values are unknown", "statefulsets: forbidden"}},
		"a drill of nothing":   {drilled(t, none), []string{"the coverage of a rebuild is unknown: nothing is asked of any workload"}},
		"a backtest": {backtested(t, tried()), []string{
			"214 workloads with a total of 1,848,960 samples at intervals of 5m, from 2026-10-21 12:05 to 2026-11-20 12:05",
			"hourly job 23.4 70 % 11-20 12:05 12,345 min 90 % 0 %", "prod-eu 11.7 77 % 11-18 10:05 6,173 min 93 % 10 %",
			"1 of 214 with closest", "shop/web by prod-eu", "days since 2026-10-21 12:05", "gitlatch.dev/v1alpha1 Backtest",
		}},
		"a blind backtest": {backtested(t, blind), []string{"cope 0 - - - - -", "214 of 214 with cope"}},
	} {
		got := text(c.page)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s does not say %q: %s", name, want, got)
			}
		}
	}
	// An empty section would look like missing data.
	for _, title := range []string{"What to fix", "Rollouts,", "Frozen workloads", "Levels of this drill", "Time to capacity"} {
		if strings.Contains(text(drilled(t, none)), title) {
			t.Errorf("a drill of nothing has the section %q", title)
		}
	}
}

// A reason with a finding links to it, and has its text otherwise. Links lead somewhere.
func TestAReasonLeadsToItsFix(t *testing.T) {
	t.Parallel()
	d := site(212)
	d.Findings = append([]drill.Finding{{Trap: "quota", Basis: "observed", Subjects: []string{"shop"}, Text: "A ResourceQuota is too small.", Fix: "raise it"}}, d.Findings...)
	page := string(drilled(t, d))
	for i, f := range d.Findings[1:] {
		_, row, found := strings.Cut(page, `<tr id="fix-`+string(rune('1'+i))+`"><th scope="row">`+f.Subjects[0])
		if !found || !strings.Contains(page, `<a href="#fix-`+string(rune('1'+i))+`">not-applied</a>`) {
			t.Errorf("no link leads to %s: %.100s", f.Subjects[0], row)
		}
	}
	if links := strings.Count(page, "<a "); links != len(d.Findings)-1 {
		t.Errorf("%d links", links)
	}
	if !strings.Contains(page, "<strong>not-declared</strong>: git declares no level") {
		t.Error("a reason without a finding has no text")
	}
}

// The rows of a long table are in the order of the document, and the first of them are
// shown at once.
func TestRowsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	d := site(212)
	page := string(drilled(t, d))
	_, page, _ = strings.Cut(page, `<h2 id="workloads">`)
	for i, w := range d.Workloads {
		if i == 60 {
			var found bool
			if _, page, found = strings.Cut(page, "<details><summary>152 more workloads</summary>"); !found {
				t.Fatal("the rest is not in details after 60 rows")
			}
		}
		var found bool
		if _, page, found = strings.Cut(page, w.Namespace+"/</span>"+w.Name); !found {
			t.Fatalf("row %d is not %s", i, w.Name)
		}
	}
}

// Two workloads of 100 pods each. One starts with 1 pod, and doubles in each round.
func TestPodsComeBackAsEstimated(t *testing.T) {
	t.Parallel()
	takes := func(from int32) *drill.Estimate { e := drill.Takes(from, 100, true, 0, 0); return &e }
	for _, c := range []struct {
		wanted        float64
		with, without *drill.Estimate // of the other workload
		want          string
	}{
		{0.5, takes(100), takes(100), "50 % of the pods 30 s 30 s without"},
		{0.52, takes(100), takes(100), "52 % of the pods 30 s 2 min 30 s without"},
		{0.6, takes(100), takes(100), "60 % of the pods 30 s 5 min 30 s without"},
		{1, takes(80), &drill.Estimate{From: 1, Never: true}, "100 % of the pods 1 min 30 s never without"},
		{0.9, &drill.Estimate{From: 60}, takes(90), "90 % of the pods never 7 min 30 s without"},
	} {
		d := site(2)
		for i := range d.Workloads {
			w := &d.Workloads[i]
			w.Need, w.Coverage = new(int32(100)), new(1.0)
			w.With, w.Without = takes(100), takes(1)
		}
		d.Workloads[1].With, d.Workloads[1].Without, d.MinCoverage = c.with, c.without, c.wanted
		if got := text(drilled(t, d)); !strings.Contains(got, c.want) {
			t.Errorf("no %q in %.400s", c.want, got)
		}
	}
}

// The chart of a backtest has the highest need of each column, and a gap in the level.
func TestTheChartOfABacktest(t *testing.T) {
	t.Parallel()
	r := tried()
	r.Plot.To, r.Plot.Every = 600*time.Second, time.Minute
	r.Plot.Scale = r.Plot.Scale[:1]
	r.Plot.Scale[0].Value = 100
	r.Plot.Level = r.Plot.Level[:1]
	r.Plot.Level[0].At, r.Plot.Level[0].Value = 300*time.Second, 200
	page := string(backtested(t, r))
	for _, want := range []string{`<path class="area" d="M0 220.0 V110.0H600 V220.0 Z">`, `<path class="level" d="M300 0.0H600">`, `<text x="-8" y="110.0" dy="4" text-anchor="end">100</text>`, `<text x="50.00%" y="242" text-anchor="middle">5</text>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
}
