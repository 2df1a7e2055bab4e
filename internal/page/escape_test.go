package page_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
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

func besiegedPast() backtest.Document {
	d := tried(24)
	for i := range d.Candidates {
		c := &d.Candidates[i]
		c.Name = hostile[i%len(hostile)]
		c.Policy.Series, c.Policy.Round, c.Policy.HoldDown = c.Name, c.Name, c.Name
	}
	for i := range d.Pictures.Workloads {
		d.Pictures.Workloads[i] = hostile[i]
	}
	d.Why, d.Step, d.Period = hostile[0], hostile[1], hostile[2]
	return d
}

// block returns the text between the tags of the page's data.
func block(t *testing.T, html []byte) []byte {
	t.Helper()
	_, rest, ok := bytes.Cut(html, []byte(`<script type="application/json" id="document">`))
	data, _, ended := bytes.Cut(rest, []byte("</script>"))
	if !ok || !ended {
		t.Fatal("the page has no block of data")
	}
	return data
}

func TestNoTextEndsTheBlockOfData(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		html, calm []byte
		document   any
	}{
		"drill":    {drilled(t, besieged()), drilled(t, site(3)), besieged()},
		"backtest": {backtested(t, besiegedPast()), backtested(t, tried(13)), besiegedPast()},
	} {
		data := block(t, c.html)
		if i := bytes.IndexAny(data, "<>&\u2028\u2029"); i >= 0 {
			t.Errorf("%s: the block of data holds %q", name, data[i:i+10])
		}
		want, err := json.Marshal(c.document)
		if err != nil || !bytes.Equal(data, want) {
			t.Errorf("%s: the block is not the document, %v", name, err)
		}
		// The other bytes are the same for every document.
		if static := bytes.Replace(c.html, data, nil, 1); !bytes.Equal(static, bytes.Replace(c.calm, block(t, c.calm), nil, 1)) {
			t.Errorf("%s: the document is in more than its block", name)
		}
	}
}

// The policy of a page names its own script and style, and allows nothing else.
func TestThePolicyOfAPageAllowsItsOwnPartsAlone(t *testing.T) {
	t.Parallel()
	hash := "'sha256-[A-Za-z0-9+/]{43}='"
	policy := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; script-src ` + hash + `; style-src ` + hash + `">`)
	for name, html := range pages(t) {
		if at := policy.FindIndex(html); at == nil || at[0] > 200 {
			t.Errorf("%s has no such policy, or not first: %.300s", name, html)
		}
		if n := bytes.Count(html, []byte("<script")); n != 2 {
			t.Errorf("%s has %d blocks of script", name, n)
		}
	}
}

// Functions that turn text into markup, or send a request.
var forbidden = regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|fetch\(|XMLHttpRequest|import\(|localStorage|cookie|@import|url\(|https?://`)

// The name of a language looks like an address, but a page does not request it.
const svgLanguage = "http://www.w3.org/2000/svg"

func TestThePartsMakeNoMarkupAndAskForNothing(t *testing.T) {
	t.Parallel()
	parts, err := fs.Glob(os.DirFS("static"), "*")
	if err != nil || len(parts) < 10 {
		t.Fatal(parts, err)
	}
	for _, part := range parts {
		text, err := os.ReadFile("static/" + part)
		if err != nil {
			t.Fatal(err)
		}
		if found := forbidden.FindString(strings.ReplaceAll(string(text), svgLanguage, "")); found != "" {
			t.Errorf("%s: %s", part, found)
		}
		if !bytes.Contains(drilled(t, site(1)), text) && !bytes.Contains(backtested(t, tried(13)), text) {
			t.Errorf("%s is in no page", part)
		}
	}
}
