package page_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/browser"
)

// words returns the visible text of a part of a page, with single spaces.
func words(t *testing.T, p *browser.Page, selector string) string {
	t.Helper()
	var text string
	p.Do(t, `return page.evaluate(given => [...document.querySelectorAll(given)].filter(e => e.getClientRects().length > 0).map(e => e.innerText).join(' | '), given)`, selector, &text)
	return strings.Join(strings.Fields(text), " ")
}

func harmless(t *testing.T, b *browser.Browser) {
	for name, html := range map[string][]byte{"drill": drilled(t, besieged()), "backtest": backtested(t, besiegedPast())} {
		p := b.Open(t, html, browser.View{})
		var got struct {
			Hit   bool
			Extra []string
			Names []string
		}
		p.Do(t, `
			for (const button of await page.locator('thead button').all()) await button.click()
			return page.evaluate(() => ({
				hit: 'hit' in window || 'hit' in Object.prototype,
				extra: [...document.querySelectorAll('img, base, iframe, object, embed, [onerror], [onfocus], [autofocus], body script, a[href]:not([href="#fix-title"])')].map(e => e.outerHTML.slice(0, 60)),
				names: [...document.querySelectorAll('#workloads .name, #candidates .name')].map(e => e.childNodes.length > 1 ? e.childNodes[1].data : e.textContent),
			}))`, nil, &got)
		// The page's own elements: its data, its script and the link past the head.
		if got.Hit || len(got.Extra) != 3 {
			t.Errorf("%s: text became markup: %v %q", name, got.Hit, got.Extra)
		}
		for _, text := range hostile {
			if !slices.Contains(got.Names, text) {
				t.Errorf("%s: no row is called %q", name, text)
			}
		}
	}
}

func labelled(t *testing.T, b *browser.Browser) {
	for name, html := range pages(t) {
		p := b.Open(t, html, browser.View{})
		var wrong []string
		p.Do(t, `return page.evaluate(() => {
			const wrong = []
			const check = (ok, text) => { if (!ok) wrong.push(text) }
			const one = selector => document.querySelectorAll(selector).length === 1
			check(document.documentElement.lang === 'en', 'lang')
			check(document.title.length > 10, 'title')
			for (const landmark of ['header', 'main', 'footer', 'h1']) check(one(landmark), 'not one ' + landmark)
			const named = e => (e.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id)).filter(Boolean).map(e => e.textContent).join('')
			for (const e of document.querySelectorAll('section, [role=region]')) check(named(e), 'a section without a name: ' + e.textContent.slice(0, 30))
			for (const e of document.querySelectorAll('table')) {
				check(e.caption && e.caption.textContent, 'a table without a caption')
				check([...e.querySelectorAll('thead th')].every(th => th.scope === 'col' && th.textContent), 'a header without a scope')
				check([...e.querySelectorAll('tbody:not([aria-hidden]) tr')].every(tr => tr.firstChild.scope === 'row'), 'a row without a header')
			}
			for (const e of document.querySelectorAll('.chart svg')) check(e.getAttribute('role') === 'img' && e.getAttribute('aria-label').length > 20, 'a chart without words')
			for (const e of document.querySelectorAll('svg:not([role])')) check(e.getAttribute('aria-hidden') === 'true', 'a drawing that is neither named nor hidden')
			for (const e of document.querySelectorAll('input, select')) check(e.labels.length === 1, 'a field without a label: ' + e.id)
			const levels = [...document.querySelectorAll('h1, h2, h3')].map(e => Number(e.tagName[1]))
			check(levels.every((level, i) => i === 0 || level <= levels[i - 1] + 1), 'headings leave a level out')
			const ids = [...document.querySelectorAll('[id]')].map(e => e.id)
			check(new Set(ids).size === ids.length, 'an id twice')
			return wrong
		})`, nil, &wrong)
		if len(wrong) > 0 {
			t.Errorf("%s: %s", name, strings.Join(wrong, "; "))
		}
	}
}

// The headline answers the question of the report.
func answered(t *testing.T, b *browser.Browser) {
	none := site(0)
	unread := site(212)
	unread.Passed, unread.Unread = false, []string{"statefulsets: forbidden"}
	none.Passed, none.Fleet.Nothing = false, "nothing is asked of any workload, though git declares 3"
	none.Fleet.Coverage = nil
	known := site(212)
	known.Passed, known.Fleet.NeedUnknown, known.Notices = false, 4, []string{"4 workloads could not be read"}
	stuck := site(212)
	for i := range stuck.Workloads {
		stuck.Workloads[i].With, stuck.Workloads[i].Without = &drill.Estimate{From: 1, Never: true}, &drill.Estimate{From: 1, Never: true}
	}
	near := site(2)
	placed(&near, room.Close, 600*near.Fleet.Rebuilt)
	level := site(2) // each workload starts with its need
	level.Fleet.Surplus = 0
	old := site(2)
	old.Fit = nil
	unlowered := site(212)
	unlowered.Fleet.SurplusStuck = unlowered.Fleet.Surplus
	lowered := site(212)
	lowered.Fleet.SurplusStuck = 7
	dropped := site(212)
	dropped.Passed, dropped.MassDrop = false, true
	blind := tried(13)
	blind.Recommended, blind.Why, blind.Pictures = "", "no policy wrote a level", nil
	for i := range blind.Candidates {
		c := &blind.Candidates[i]
		c.Recommended, c.Front, c.Declared, c.Worst, c.Coverage = false, false, 0, backtest.Worst{}, 0
	}
	brief := tried(13) // of a time so short that nothing was measured
	brief.Recommended, brief.Why, brief.Pictures = "", "no replica count lasted long enough to judge", nil
	for i := range brief.Candidates {
		c := &brief.Candidates[i]
		c.Recommended, c.Worst, c.Coverage, c.Waste, c.Need = false, backtest.Worst{}, 0, 0, 0
	}
	cut := site(212)
	cut.Cut, cut.Fleet.Unknown, cut.Passed = 3, 0, true
	for i := range cut.Workloads {
		if r := cut.Workloads[i].Rollout; r != nil {
			r.ByItself = false
		}
	}
	for _, c := range []struct {
		html []byte
		want map[string][]string // by selector
	}{
		{drilled(t, site(212)), map[string][]string{
			"h1":     {"The coverage is high enough: a rebuild starts with 95.7 % to 96.9 % of the needed pods and 37,146 surplus pods. The rebuild likely fits its limits."},
			".lede":  {"80,625 to 81,601 of 84,188 pods in 209 workloads", "Without gitlatch, a rebuild reaches it after 10 min", "4 workloads have no autoscaler that adds the missing pods"},
			"#facts": {"95.7 % to 96.9 % up 2.1 points since the last drill", "2,587 to 3,563 of 84,188 needed", "Time to 95 % of the pods 30 s 10 min without gitlatch"},
			"#time":  {"after 10 min; without gitlatch, after 10 min."}, "#causes": {"1,852 pods, 4 workloads", "In an open pull request"},
			"#rollouts": {"the old version", "v41 v41 would return", "the version in the manifests", "ProgressDeadlineExceeded"}, "#frozen": {"FailedGetResourceMetric"},
			"#changes": {"The last was on 13 Nov 2026, 12:05 UTC, at 93.6 %", "71 % → 0 %"}, "#flush": {"Commit 4f1c9a70c2"}, "footer": {"prod-eu", "4f1c9a70c2d0b7d1f0e2d9f7a1c3b5e7d9f1a3c5", "20 Nov 2026, 12:05 UTC", "gitlatch.dev/v1alpha1 Drill"},
			"#left": {"31 nothing scales them"}, "#model": {"metrics-server: --metric-resolution, default"},
		}},
		{drilled(t, failing()), map[string][]string{
			"h1": {"The coverage is too low: a rebuild starts with", "It is unknown whether the rebuild fits its limits."}, "#limits": {"node groups, vCPU quotas and free addresses", "gitlatch did not read the AWS account. Use --aws"}, "#notices": {"This was a dry run", "deployments in search: forbidden", "line 7: not a number"},
			"#changes": {"No earlier drill of the site"}, "#flush": {"The drill wrote nothing, and scored git unchanged."},
		}},
		{drilled(t, cut), map[string][]string{"h1": {"The coverage is high enough: a rebuild starts with 95.7 % to 96.9 % of the needed pods and 37,146 surplus pods. The rebuild likely fits its limits."}, "#notices": {"3 workloads more are in the saved document, but not on this page."}, "#rollouts": {"v41 not automatically"}}},
		{drilled(t, unread), map[string][]string{"h1": {"not proven", "some values are unknown"}}},
		{drilled(t, known), map[string][]string{"h1": {"not proven", "of the known needed pods"}, "#notices": {"4 workloads could not be read"}}},
		{drilled(t, stuck), map[string][]string{"#time": {"as autoscalers add them. No autoscaler adds the missing pods, with or without gitlatch."}}},
		{drilled(t, level), map[string][]string{"h1": {"of the needed pods and no surplus pods. The rebuild likely fits its limits."}, "#facts": {"Surplus pods at the start 0 of 105 started"}}},
		{drilled(t, unlowered), map[string][]string{"#facts": {"more than desired; no autoscaler lowers them"}}},
		{drilled(t, lowered), map[string][]string{"#facts": {"more than desired; autoscalers lower 37,139 of them after 5 min"}}},
		{drilled(t, crowded()), map[string][]string{
			"h1": {"A rebuild does not fit its limits: it starts with 100 % of the needed pods and 75 surplus pods."}, "#facts": {"Room for a rebuild does not fit 305 pods, 1 limit"},
			"#limits": {"NodePool default", "does not fit", "152.5", "100", "168"},
		}},
		{drilled(t, level), map[string][]string{"#facts": {"Room for a rebuild likely fits 105 pods, 1 limit Surplus"}}},
		{drilled(t, near), map[string][]string{"h1": {"The rebuild is close to a limit."}, "#limits": {"83.3 %"}}},
		{drilled(t, old), map[string][]string{"#facts": {"Pods missing at the start 0 of 56 needed Frozen workloads"}}},
		{drilled(t, dropped), map[string][]string{"h1": {"not proven", "there is a mass drop"}}},
		{drilled(t, none), map[string][]string{"h1": {"The coverage of a rebuild is unknown: nothing is asked of any workload, though git declares 3."}, ".lede": {"0 workloads could be scored"}}},
		{backtested(t, tried(24)), map[string][]string{
			"h1": {"Recommended: R10 up 26h 10%. Its levels cover 100 % of the desired replicas with 1.58 commits a day."}, ".lede": {"Of 24 policies, it has the least waste"},
			"#notices": {"default: {series: R10, round: up, hold: {up: 2, down: 26h}, margin: 10%}"}, "#lines-under": {"A bucket of 1 h 30 min", "211 more workloads are not drawn."},
			"footer": {"1,848,960, 5 min apart"},
		}},
		{backtested(t, blind), map[string][]string{"h1": {"The backtest recommends no policy: no policy wrote a level."}}},
		{backtested(t, brief), map[string][]string{"h1": {"The backtest recommends no policy: no replica count lasted long enough to judge."}}},
		{backtested(t, one()), map[string][]string{"h1": {"Recommended: cope"}, "#candidates": {"cope recommended"}}},
	} {
		p := b.Open(t, c.html, browser.View{})
		for selector, all := range c.want {
			got := words(t, p, selector)
			for _, want := range all {
				if !strings.Contains(got, want) {
					t.Errorf("%s does not say %q: %s", selector, want, got)
				}
			}
		}
	}
	// An empty section would look like missing data.
	p := b.Open(t, drilled(t, none), browser.View{})
	for _, id := range []string{"fix", "rollouts", "frozen"} {
		if got := words(t, p, "#"+id); got != "" {
			t.Errorf("%s says %q", id, got)
		}
	}
}

// one is a backtest of one policy that never commits.
func one() backtest.Document {
	d := tried(13)
	d.Candidates = d.Candidates[7:8]
	c := &d.Candidates[0]
	c.Name, c.CommitsPerDay, c.Commits, c.Waste = "cope", 0, 0, 0
	d.Recommended, d.Pictures = c.Name, &backtest.Pictures{BucketSeconds: 300, Buckets: 1, Workloads: []string{"shop/deployment/web"}, Needs: []backtest.Line{{{0, 3, 3}}}, Levels: [][]backtest.Line{{{}}}}
	return d
}

// Two workloads of 100 pods each. One starts with 1 pod, ready after 20 s, and has ten
// times the pods after each further 100 s.
func grown(t *testing.T, b *browser.Browser) {
	for _, c := range []struct {
		wanted        float64
		with, without drill.Estimate // of the other workload
		want          string
	}{
		{0.5, drill.Estimate{From: 100, Seconds: 20}, drill.Estimate{From: 100, Seconds: 20}, "50 % of the pods 20 s 20 s without"},
		{0.54, drill.Estimate{From: 100, Seconds: 20}, drill.Estimate{From: 100, Seconds: 20}, "54 % of the pods 20 s 2 min without"},
		{0.56, drill.Estimate{From: 100, Seconds: 20}, drill.Estimate{From: 100, Seconds: 20}, "56 % of the pods 20 s 3 min 40 s without"},
		{1, drill.Estimate{From: 80, Rounds: 1, Seconds: 120}, drill.Estimate{From: 1, Never: true}, "100 % of the pods 2 min never without"},
		{0.9, drill.Estimate{From: 60, Seconds: 20}, drill.Estimate{From: 90, Seconds: 20}, "90 % of the pods never 3 min 40 s without"},
	} {
		d := site(2)
		for i := range d.Workloads {
			w := &d.Workloads[i]
			w.Need, w.Coverage = new(int32(100)), new(1.0)
			w.With, w.Without = &drill.Estimate{From: 100, Seconds: 20}, &drill.Estimate{From: 1, Rounds: 2, Seconds: 220}
		}
		d.Workloads[1].With, d.Workloads[1].Without, d.MinCoverage = &c.with, &c.without, c.wanted
		d.Model.Constants = []drill.Constant{{Name: "podStart", Value: 20}, {Name: "growth", Value: 10}}
		if got := words(t, b.Open(t, drilled(t, d), browser.View{}), "#facts"); !strings.Contains(got, c.want) {
			t.Errorf("%q is not %q", got, c.want)
		}
	}
}
