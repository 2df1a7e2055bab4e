package page_test

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/term"
)

// hostile are names and texts that contain markup, or that could end a script or a
// string.
var hostile = []string{
	`</script><script>window.hit = 1</script>`,
	`<!--<script>`,
	`<img src=x onerror="window.hit = 1">`,
	`"onfocus="window.hit=1" autofocus x="`,
	"a\u2028b\u2029c'`${window.hit = 1}`",
	`__proto__`,
	`constructor`,
	`</title></style><base href="https://example.invalid/">&amp;&lt;`,
	`javascript:window.hit=1`,
}

// besieged returns a drill in which every text is hostile.
func besieged() drill.Document {
	d := site(30)
	next := 0
	word := func() string { next++; return hostile[next%len(hostile)] }
	d.Site, d.Branch, d.Commit, d.Cluster, d.Mode = word(), word(), word(), word(), "latch"
	for i := range d.Workloads {
		w := &d.Workloads[i]
		w.Namespace, w.Kind, w.Name, w.Start.Text, w.Policy, w.Start.Basis = word(), word(), hostile[i%len(hostile)], word(), word(), word()
		w.Causes = []drill.Cause{{Name: word(), Text: word(), Fix: word()}}
		if w.Frozen != nil {
			w.Frozen.Reason, w.Frozen.Text = word(), word()
		}
		if r := w.Rollout; r != nil {
			r.Returns, r.Version, r.Text, r.Failure, r.Halted, r.Phase = word(), word(), word(), word(), word(), word()
		}
	}
	d.Findings = []drill.Finding{{Trap: word(), Basis: word(), Subjects: []string{word()}, Text: word(), Fix: word(), Workloads: []string{word()}}}
	d.LeftOut = []drill.LeftOut{{Reason: word(), Text: word(), Workloads: 3}}
	d.Unread, d.Problems = slices.Clone(hostile), slices.Clone(hostile)
	d.Links = []drill.Link{{Form: word(), URI: word(), URL: word()}}
	d.Flush.Subject, d.Flush.Commit = word(), word()
	for _, text := range hostile {
		d.Flush.Withheld = append(d.Flush.Withheld, drill.Level{Named: term.Named{Namespace: text, Kind: text, Name: text}, Text: text, Reason: text})
		d.Last.Changes = append(d.Last.Changes, drill.Change{Named: term.Named{Namespace: text, Kind: text, Name: text}, What: text, Now: &drill.Then{Cause: text}})
	}
	d.Fit = &room.Report{Limits: []room.Limit{{Name: word(), Resource: word(), Why: word()}}}
	d.Model.Text, d.Model.Constants = word(), []drill.Constant{{Name: word(), Unit: word(), Source: word()}}
	return d
}

func besiegedPast() backtest.Report {
	r := tried()
	for i := range r.Policies {
		r.Policies[i].Name = hostile[i]
	}
	r.Plot.Title, r.APIVersion, r.Period = hostile[4], hostile[5], hostile[6]
	return r
}

// besiegedPages returns a page of each kind in which every text is hostile.
func besiegedPages(t *testing.T) map[string][]byte {
	return map[string][]byte{"drill": drilled(t, besieged()), "backtest": backtested(t, besiegedPast())}
}

// The tags of a page do not depend on its texts.
func TestNoTextBecomesMarkup(t *testing.T) {
	t.Parallel()
	tag := regexp.MustCompile(`<[^>]*`)
	for name, html := range besiegedPages(t) {
		_, body, _ := strings.Cut(string(html), "<body>")
		for _, found := range tag.FindAllString(body, -1) {
			if strings.Contains(found, "window.hit") && !strings.Contains(found, `title="`) && !strings.Contains(found, `aria-label="`) || strings.Contains(found, "javascript:") && !strings.Contains(found, `title="`) {
				t.Errorf("%s: %s", name, found)
			}
		}
		if n := strings.Count(string(html), "<title>"); n != 1 {
			t.Errorf("%s: %d titles", name, n)
		}
		for _, text := range []string{"<script", "<img", "<base"} {
			if strings.Contains(string(html), text) {
				t.Errorf("%s contains %s", name, text)
			}
		}
	}
}

// The policy of a page names its own style sheet, and allows nothing else.
func TestThePolicyOfAPageAllowsItsOwnSheetAlone(t *testing.T) {
	t.Parallel()
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`)
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`)
	for name, page := range documents(t) {
		at := policy.FindSubmatchIndex(page)
		if at == nil || at[0] > 200 {
			t.Fatalf("%s has no policy, or not first: %.300s", name, page)
		}
		sum := sha256.Sum256(style.FindSubmatch(page)[1])
		want := "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if got := html.UnescapeString(string(page[at[2]:at[3]])); got != want {
			t.Errorf("%s has the policy %s, want %s", name, got, want)
		}
	}
}

// Pages have no script, no style outside their sheet, and request nothing.
func TestAPageAsksForNothing(t *testing.T) {
	t.Parallel()
	forbidden := regexp.MustCompile(`<script|@import|url\(|https?://|\bon[a-z]+=|style=`)
	for name, page := range documents(t) {
		if found := forbidden.Find(page); found != nil {
			t.Errorf("%s: %s", name, found)
		}
	}
}
