package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"
	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
)

// open is the number of rows of a long table that are shown at once, and on paper.
const open = 60

// Drill returns the report of a drill as a page.
func Drill(d drill.Document) ([]byte, error) {
	with, without := d.Growth(drill.With), d.Growth(drill.Without)
	return render("Drill of "+d.Site+", "+d.At.UTC().Format(time.DateOnly),
		h.Header(
			h.P(h.Class("above"), g.Textf("Drill of %s · %s", d.Site, stamp(d.At))),
			h.H1(g.If(!d.Passed, h.Class("bad")), g.Text(d.Headline())),
			facts(d, soon(with, d.MinCoverage), soon(without, d.MinCoverage)),
			g.Map(d.Lines(), func(line string) g.Node { return h.P(g.Text(line)) }),
			cut(d.Cut),
			notice("Could not be read, and unknown values do not count as covered:", d.Unread),
			notice("Problems:", d.Problems),
		),
		h.Main(
			growth(d, with, without), limits(d.Fit), findings(d.Findings), workloads(d), rollouts(d.Workloads), frozen(d),
			changes(d.Last), levels(d.Flush), notScored(d.LeftOut), model(d.Model),
		),
		h.Footer(origin(d)),
	)
}

// facts returns the figures of a drill; nil if its coverage is unknown.
func facts(d drill.Document, with, without string) g.Node {
	if d.Fleet.Coverage == nil {
		return nil
	}
	fact := func(title, class, figure, note string) g.Node {
		return entry(title, h.Dd(h.Class(class), g.Text(figure)), h.Dd(h.Class("quiet"), g.Text(note)))
	}
	f, least := d.Fleet, term.Percent(d.MinCoverage)
	fit := g.Node(nil)
	if d.Fit != nil {
		class := "figure"
		if d.Fit.Refuses() {
			class = "figure bad"
		}
		fit = fact("Room for a rebuild", class, d.Fit.Answer.String(), term.Count(len(d.Fit.Limits), "limit"))
	}
	return h.Dl(h.Class("facts"),
		fact("Coverage at the start", "figure", f.Share(), "minimum "+least),
		fact("Missing pods at the start", "figure", f.Missing(), "of "+term.Number(f.Need)+" needed"),
		fact("Surplus pods at the start", "figure", term.Number(f.Surplus), "of "+term.Number(f.Rebuilt)+" started"),
		fact("Time to "+least+" of the pods", "figure", with, without+" without gitlatch"),
		fact("Workloads below "+least, "figure", number(f.Low), "of "+number(f.Workloads)),
		fit,
	)
}

func cut(n int) g.Node {
	if n == 0 {
		return nil
	}
	return h.P(h.Class("notice"), g.Text(term.Count(n, "workload")+" more in the saved document, but not on this page."))
}

func notice(title string, texts []string) g.Node {
	if len(texts) == 0 {
		return nil
	}
	return h.Div(h.Class("notice bad"), g.Text(title), items(texts, func(text string) g.Node { return g.Text(text) }))
}

func items[T any](all []T, item func(T) g.Node) g.Node {
	return h.Ul(g.Map(all, func(one T) g.Node { return h.Li(item(one)) }))
}

// growth returns the chart of the share of the needed pods, and the causes of missing pods.
func growth(d drill.Document, with, without []term.Point) g.Node {
	if d.Fleet.Coverage == nil {
		return nil
	}
	to := max(time.Minute, with[len(with)-1].At, without[len(without)-1].At) * 21 / 20
	p := term.Plot{To: to, Every: term.Marks(to)}
	c := newChart(p, "Share of the needed pods over time, with and without gitlatch", 1, term.Percent)
	c.unit += " after the start of a rebuild"
	c.limit = y(d.MinCoverage, 1)
	c.lines = []curve{
		{"without", steps(p.Sample(without, columns, false), 1, false)},
		{"level", steps(p.Sample(with, columns, false), 1, false)},
	}
	legend := h.Ul(h.Class("legend"), h.Li(g.Text("with gitlatch")), h.Li(h.Class("without"), g.Text("without")), h.Li(h.Class("limit"), g.Text("minimum coverage")))
	return h.Div(h.Class("pair"), section("time", "Time to capacity", legend, c.draw()), missing(causes(d)))
}

// soon returns the time until a share is reached.
func soon(points []term.Point, share float64) string {
	p, reached := lists.First(points, func(p term.Point) bool { return p.Value >= share-1e-9 })
	if !reached {
		return "never"
	}
	return drill.Span(int64(p.At / time.Second))
}

// A cause is the sum of the missing pods of the workloads with the same first cause.
type cause struct {
	name      string
	pods      int64
	workloads int
	share     float64 // of the pods of the largest cause
}

// causes returns the causes, the largest first.
func causes(d drill.Document) (all []cause) {
	for _, w := range d.Workloads {
		if w.Missing == 0 {
			continue
		}
		name := "unexplained"
		if len(w.Causes) > 0 {
			name = w.Causes[0].Name
		}
		i := slices.IndexFunc(all, func(c cause) bool { return c.name == name })
		if i < 0 {
			i = len(all)
			all = append(all, cause{name: name})
		}
		all[i].pods += int64(w.Missing)
		all[i].workloads++
	}
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.pods, a.pods) })
	for i := range all {
		all[i].share = float64(all[i].pods) / float64(all[0].pods)
	}
	return all
}

func missing(all []cause) g.Node {
	if len(all) == 0 {
		return nil
	}
	rows := lists.Map(all, func(c cause) row {
		return row{h.Class("cause"), []g.Node{
			g.Group{g.Text(c.name), bar("lack", c.share)}, g.Text(term.Number(c.pods)), g.Text(number(c.workloads)),
		}}
	})
	return section("causes", "Missing pods by cause",
		table("", "Missing pods by the main cause", []column{{"Cause", ""}, {"Pods", "n"}, {"Workloads", "n"}}, rows))
}

func limits(r *room.Report) g.Node {
	if r == nil {
		return nil
	}
	rows := lists.Map(r.Limits, func(l room.Limit) row {
		amount := func(n *int64) g.Node {
			if n == nil {
				return nil
			}
			return g.Text(l.Amount(n))
		}
		share := g.Node(nil)
		if l.Asked != nil && l.There != nil {
			share = covered(l.Share())
		}
		return rowOf(g.Group{g.Text(l.Name + " "), quiet(l.Resource)}, g.Text(l.Answer.String()), share,
			amount(l.Asked), amount(l.There), amount(l.Estimate), g.Text(l.Why))
	})
	return section("limits", "Room for a rebuild",
		under("What the levels ask for, of each limit. The estimate is the nodes that each workload fills."),
		table("", "Limits of a rebuild", []column{
			{"Limit", ""}, {"Answer", ""}, {"Share", ""}, {"Asked", "n"}, {"Of", "n"}, {"Estimate", "n"}, {"Note", "wide"},
		}, rows))
}

// covered returns a share with its bar.
func covered(share float64) g.Node { return g.Group{g.Text(term.Percent(share)), bar("good", share)} }

func findings(all []drill.Finding) g.Node {
	if len(all) == 0 {
		return nil
	}
	var rows []row
	for i, f := range all {
		subjects := strings.Join(f.Subjects[:min(3, len(f.Subjects))], ", ")
		if len(f.Subjects) > 3 {
			subjects += " and others"
		}
		trap := f.Trap
		if f.Basis == drill.Unknown {
			trap += ", unknown"
		}
		rows = append(rows, row{h.ID(fixID(i)), []g.Node{
			g.Group{g.Text(subjects), h.Div(h.Class("quiet"), g.Text(trap))},
			g.Group{g.Text(f.Text + " "), h.Strong(g.Text("Fix: " + f.Fix))},
			g.Text(number(len(f.Workloads))), g.Text(term.Number(f.Missing)),
		}})
	}
	return section("fix", "What to fix",
		table("", "Problems of a rebuild, the most serious first", []column{
			{"Where", ""}, {"What to do", "wide"}, {"Workloads", "n"}, {"Missing", "n"},
		}, rows))
}

// fixID returns the ID of a finding's row.
func fixID(i int) string { return fmt.Sprintf("fix-%d", i) }

func workloads(d drill.Document) g.Node {
	fixes := map[string]string{} // IDs of findings, by cause and workload
	for i, f := range d.Findings {
		for _, w := range f.Workloads {
			fixes[f.Trap+" "+w] = fixID(i)
		}
	}
	those := func(all []drill.Workload) g.Node {
		return table("long", "Workloads by missing pods", []column{
			{"Workload", ""}, {"Coverage", "coverage"}, {"Need", "n"}, {"In git", "n"}, {"Starts at", "n"}, {"Missing", "n"}, {"Surplus", "n"},
			{"Age", "whole"}, {"To capacity", "whole two"}, {"Why", "wide small"},
		}, lists.Map(all, func(w drill.Workload) row { return scored(w, fixes) }))
	}
	first, rest := d.Workloads[:min(open, len(d.Workloads))], g.Node(nil)
	if others := d.Workloads[len(first):]; len(others) > 0 {
		rest = h.Details(h.Summary(g.Text(term.Count(len(others), "more workload"))), those(others))
	}
	return section("workloads", "Workloads, most missing pods first",
		under("Coverage is the share of the needed pods that a rebuild starts with. Surplus pods are above the desired replicas. Age is the time since the level in git changed."),
		those(first), rest)
}

// scored returns the row of a workload.
func scored(w drill.Workload, fixes map[string]string) row {
	coverage := g.Text("not scored")
	missing, surplus := "-", "-"
	if w.Coverage != nil {
		coverage = covered(*w.Coverage)
		missing, surplus = number(w.Missing), number(w.Surplus)
	}
	age := "-"
	if c := w.Checkpoint; c != nil {
		age = duration.HumanDuration(time.Duration(c.AgeSeconds) * time.Second)
		if c.OrBefore {
			age += "+"
		}
	}
	without := g.Node(nil)
	if w.Without != nil {
		without = h.Div(h.Class("quiet"), g.Text("without: "+takes(w.Without)))
	}
	return rowOf(name(w.Named), coverage, g.Text(term.Some(w.Need)), g.Text(term.Some(w.Declared)),
		g.Group{h.TitleAttr(w.Start.Basis + ": " + w.Start.Text), g.Text(w.Start.String())},
		g.Text(missing), g.Text(surplus), g.Text(age), g.Group{g.Text(takes(w.With)), without}, why(w, fixes))
}

// why returns the causes of missing pods, with links to their remedies.
func why(w drill.Workload, fixes map[string]string) (all g.Group) {
	if w.Unknown != "" {
		all = append(all, h.Div(g.Text("Unknown: "+w.Unknown)))
	}
	for _, c := range w.Causes {
		if id := fixes[c.Name+" "+w.ID().String()]; id != "" {
			all = append(all, h.Div(h.A(h.Href("#"+id), g.Text(c.Name))))
			continue
		}
		text := ": " + c.Text
		if c.Fix != "" {
			text += " Fix: " + c.Fix
		}
		all = append(all, h.Div(h.Strong(g.Text(c.Name)), g.Text(text)))
	}
	if w.Frozen != nil {
		all = append(all, h.Div(g.Text("Frozen: "+w.Frozen.Text)))
	}
	return all
}

func takes(e *drill.Estimate) string {
	switch {
	case e == nil:
		return "unknown"
	case e.Never:
		return "never"
	}
	return drill.Span(e.Seconds)
}

func rollouts(all []drill.Workload) g.Node {
	those := lists.Filter(all, func(w drill.Workload) bool { return w.Rollout != nil })
	if len(those) == 0 {
		return nil
	}
	rows := lists.Map(those, func(w drill.Workload) row {
		r := *w.Rollout
		flight := "none in flight"
		if r.InFlight {
			flight = term.Some(r.Available) + " of " + term.Some(r.Desired) + " pods"
		}
		entry := "no entry"
		if r.Milestone != nil {
			entry = term.Some(r.Milestone) + " %"
		}
		return rowOf(name(w.Named),
			g.Group{g.Text(flight + " "), g.If(r.Failure != "", h.Span(h.Class("bad"), g.Text(r.Failure+" "))), quiet(r.Halted)},
			g.Text(entry+" "+r.Phase),
			g.Group{
				g.Text(r.Text + " "), g.If(r.Version != "", h.Code(g.Text(r.Version))),
				g.If(!r.ByItself && r.Returns != drill.ReturnsManifests, h.Strong(h.Class("bad"), g.Text(" not automatically"))),
			})
	})
	return section("rollouts", "Rollouts, and the version of a rebuild",
		under("A rebuild creates each workload as a first deployment, without a canary."),
		table("", "Rollouts", []column{
			{"Workload", ""}, {"On the new version", "wide"}, {"In git", ""}, {"A rebuild starts with", "wide"},
		}, rows))
}

func frozen(d drill.Document) g.Node {
	those := lists.Filter(d.Workloads, func(w drill.Workload) bool { return w.Frozen != nil })
	if len(those) == 0 {
		return nil
	}
	rows := lists.Map(those, func(w drill.Workload) row {
		since := "unknown"
		if !w.Frozen.Since.IsZero() {
			since = duration.HumanDuration(d.At.Sub(w.Frozen.Since))
		}
		return rowOf(name(w.Named), g.Text(since), g.Text(term.Some(w.Declared)), g.Text(term.Some(w.Need)), g.Text(w.Frozen.Text))
	})
	return section("frozen", "Frozen workloads",
		under("Their levels do not change until the freeze ends."),
		table("", "Frozen workloads", []column{
			{"Workload", ""}, {"For", "whole"}, {"In git", "n"}, {"Need", "n"}, {"Reason", "wide"},
		}, rows))
}

func changes(last *drill.Last) g.Node {
	if last == nil || len(last.Changes) == 0 {
		return nil
	}
	rows := lists.Map(last.Changes, func(c drill.Change) row {
		return rowOf(g.Group{name(c.Named), g.Text(" "), quiet(c.What)}, g.Text(then(c.Then)), g.Text(then(c.Now)))
	})
	return section("changes", "Since the last drill",
		table("", "Changes since the last drill, the largest loss of coverage first", []column{
			{"Workload", ""}, {"Before", ""}, {"Now", "wide"},
		}, rows))
}

func then(t *drill.Then) string {
	if t == nil {
		return "-"
	}
	text := "not scored"
	if t.Coverage != nil {
		text = term.Percent(*t.Coverage) + " covered"
	}
	text += ", " + term.Some(t.Declared) + " in git"
	if t.Cause != "" {
		text += ", " + t.Cause
	}
	return text
}

func levels(f drill.Flush) g.Node {
	var rows []row
	add := func(all []drill.Level, state string) {
		for _, l := range all {
			rows = append(rows, rowOf(name(l.Named), g.Text(term.Some(l.From)+" → "+term.Some(l.To)), g.Text(state), g.Text(l.Text)))
		}
	}
	add(f.Levels, "changed")
	add(f.Proposed, "proposed")
	add(f.Withheld, "blocked")
	if len(rows) == 0 {
		return nil
	}
	text := ""
	if f.Subject != "" {
		text = f.Subject + ". "
	}
	if f.Proposal != "" {
		text += "In a pull request that is not scored: " + f.Proposal
	}
	return section("flush", "Levels of this drill", under(text),
		table("", "Levels of this drill", []column{
			{"Workload", ""}, {"Level", ""}, {"State", ""}, {"Why", "wide"},
		}, rows))
}

func notScored(all []drill.LeftOut) g.Node {
	if len(all) == 0 {
		return nil
	}
	return section("left", "Not scored", items(all, func(l drill.LeftOut) g.Node {
		return g.Text(term.Count(l.Workloads, "workload") + ": " + l.Text)
	}))
}

func model(m drill.Model) g.Node {
	return section("model", "Estimate of the time", h.Details(
		h.Summary(g.Text("The model and its constants")),
		h.P(g.Text(m.Text)),
		items(m.Constants, func(c drill.Constant) g.Node {
			return g.Group{g.Text(fmt.Sprintf("%s: %v %s ", c.Name, c.Value, c.Unit)), quiet("(" + c.Source + ")")}
		})))
}

// origin returns the list of the sources of a drill.
func origin(d drill.Document) g.Node {
	mode := d.Mode
	if d.DryRun {
		mode += ", dry run"
	}
	line := func(name, value string) g.Node { return entry(name, h.Dd(g.Text(value))) }
	return h.Dl(
		line("Site", d.Site), line("Cluster", cmp.Or(d.Cluster, "unknown")), line("Branch", d.Branch), line("Commit", cmp.Or(d.Commit, "none")),
		line("Sampled", stamp(d.At)), line("Mode", mode), line("Format", d.APIVersion+" "+d.Kind),
		g.Map(d.Links, func(l drill.Link) g.Node { return line("Saved as "+l.Form, l.URI) }),
	)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

func number[N int | int32](n N) string { return term.Number(int64(n)) }
