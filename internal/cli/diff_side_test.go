package cli

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/mem"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func idOf(name string) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
}

// recordOf declares levels by name.
func recordOf(levels map[string]int32) []byte {
	r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for name, level := range levels {
		r.Entries[idOf(name)] = checkpoint.Entry{Replicas: level}
	}
	return r.Format()
}

// Proposed is what the branch changes of the commit that it stands on, and what
// the base does not say by now.
func TestWhatAnOpenProposalChanges(t *testing.T) {
	t.Parallel()
	path, branch := checkpoint.RecordPath("prod", "shop"), ledger.ProposalBranch("prod")
	when := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		after func(*testing.T, *mem.Repository)
		want  map[string]int32
		url   string
	}{
		"open": {nil, map[string]int32{"web": 200, "new": 5, "old": 0}, "mem://proposals/1"},
		"the base moved on": {func(_ *testing.T, r *mem.Repository) {
			r.Edit("by hand", when, map[string][]byte{path: recordOf(map[string]int32{"web": 200, "api": 500, "old": 3})})
			r.Edit("elsewhere", when, map[string][]byte{"README.md": []byte("hi")})
		}, map[string]int32{"new": 5, "old": 0}, "mem://proposals/1"},
		"all of it is so by now": {func(_ *testing.T, r *mem.Repository) {
			r.Edit("squashed", when, map[string][]byte{path: recordOf(map[string]int32{"web": 200, "api": 10, "new": 5})})
		}, nil, ""},
		"closed": {func(t *testing.T, r *mem.Repository) {
			p, err := r.Find(t.Context(), branch)
			if err == nil {
				err = r.Close(t.Context(), *p, "no")
			}
			if err != nil {
				t.Fatal(err)
			}
			tip, _, _ := r.Heads(t.Context())
			propose(t, r, tip, when, map[string]int32{"web": 900}) // a branch that nobody proposes
		}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := mem.New(map[string]string{path: string(recordOf(map[string]int32{"web": 100, "api": 10, "old": 3}))})
			tip, _, err := r.Heads(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			propose(t, r, tip, when, map[string]int32{"web": 200, "api": 10, "new": 5})
			if _, err := r.Ensure(t.Context(), repo.Draft{Branch: branch, Title: "more"}); err != nil {
				t.Fatal(err)
			}
			if c.after != nil {
				c.after(t, r)
			}
			side := declaredSide{config: config.Config{Site: "prod", Repository: config.Repository{PolicyFile: "gitlatch.yaml"}, Period: 5 * time.Minute}, repository: r, proposals: r}
			if err := side.readRepository(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := map[string]int32{}
			for id, e := range side.proposed {
				got[id.Name] = e.Replicas
			}
			if len(got) != len(c.want) || side.proposal != c.url {
				t.Errorf("proposed %v in %q, want %v in %q", got, side.proposal, c.want, c.url)
			}
			for name, level := range c.want {
				if now, ok := got[name]; !ok || now != level {
					t.Errorf("proposed %v, want %v", got, c.want)
				}
			}
		})
	}
}

func propose(t *testing.T, r *mem.Repository, parent string, when time.Time, levels map[string]int32) {
	t.Helper()
	_, err := r.Commit(context.Background(), repo.Commit{
		Branch: ledger.ProposalBranch("prod"), Parent: parent, Message: "propose", When: when,
		Files: map[string][]byte{checkpoint.RecordPath("prod", "shop"): recordOf(levels)},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A proposal that stands on nothing near is not guessed at.
func TestAProposalWithoutABaseIsTrouble(t *testing.T) {
	t.Parallel()
	r := mem.New(map[string]string{"a": "1"})
	first, _, _ := r.Heads(t.Context())
	propose(t, r, first, time.Unix(1, 0), map[string]int32{"web": 200})
	r.Rewrite(r.Edit("second", time.Unix(2, 0), map[string][]byte{"a": []byte("2")}))
	for n := range ownCommits {
		r.Push(ledger.ProposalBranch("prod"), "more", time.Unix(3, 0), map[string][]byte{"b": fmt.Append(nil, n)})
	}
	side := declaredSide{config: config.Config{Site: "prod", Repository: config.Repository{PolicyFile: "gitlatch.yaml"}, Period: 5 * time.Minute}, repository: r}
	if err := side.readRepository(t.Context()); err == nil || !strings.Contains(err.Error(), "rebase or delete it") {
		t.Errorf("%v, proposed %v", err, side.proposed)
	}
}

func TestColourChangesOnlyHowADiffLooks(t *testing.T) {
	t.Parallel()
	row := func(name string, state diff.State) diff.Row {
		return diff.Row{ID: idOf(name), State: state, Text: strings.Repeat("with many words ", 9)}
	}
	d := difference{named: true}
	d.Rows = []diff.Row{row("web", diff.Pending), row("api", diff.InSync)}
	write := func(s term.Style) string {
		var b bytes.Buffer
		if err := diffTable(&b, d, s); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain, coloured := write(term.Style{}), write(term.Style{Colour: true})
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	if escape.MatchString(plain) || !escape.MatchString(coloured) {
		t.Errorf("colour is not where it was asked for:\n%q\n%q", plain, coloured)
	}
	if escape.ReplaceAllString(coloured, "") != plain {
		t.Errorf("in colour it says\n%s\nand without\n%s", coloured, plain)
	}
	for line := range strings.Lines(coloured) {
		if strings.Contains(line, "shop/web") && escape.MatchString(line) {
			t.Errorf("what differs is faint: %q", line)
		}
	}
}

func TestAnnotationsAreEscapedAsGitHubDemands(t *testing.T) {
	t.Parallel()
	a := annotation{level: warning, file: "checkpoints/a,b:c%/x.yaml", line: 7, title: "a: b, 100 %", message: "50 %\r\nof ::all, it: is"}
	want := "::warning file=checkpoints/a%2Cb%3Ac%25/x.yaml,line=7,title=a%3A b%2C 100 %25::50 %25%0D%0Aof ::all, it: is"
	if a.String() != want {
		t.Errorf("got  %s\nwant %s", a, want)
	}
	if got := (annotation{level: notice, line: 3, title: "t", message: "m"}).String(); got != "::notice title=t::m" {
		t.Errorf("a line without a file: %s", got)
	}
}

// The heaviest come first: a host shows but the first ten.
func TestTheWorstIsAnnotatedFirst(t *testing.T) {
	t.Parallel()
	raise := func(name string, from, to int32) diff.Row {
		return diff.Row{ID: idOf(name), State: diff.Pending, Text: name, Declared: checkpoint.Entry{Replicas: from}, To: checkpoint.Entry{Replicas: to},
			Sample: workload.Sample{Scale: &workload.Scale{Desired: to}}}
	}
	var d difference
	d.Site = "prod"
	lower, fresh := raise("lower", 100, 10), raise("fresh", 0, 5)
	fresh.Declared = checkpoint.Entry{}
	bounds := diff.Row{ID: idOf("bounds"), State: diff.Bounds, Declared: checkpoint.Entry{Replicas: 5, Max: 9}, Mismatch: &policy.Bounds{Max: 20}}
	d.Rows = []diff.Row{lower, bounds, raise("double", 10, 20), raise("tenfold", 10, 100), fresh, {ID: idOf("fine"), State: diff.InSync, Unproven: true}}
	d.Fleet.Unread = []workload.Unread{{Part: "deployments", Why: "forbidden"}}
	var got []string
	for _, a := range annotations(d) {
		title, _, _ := strings.Cut(a.title, ":")
		got = append(got, string(a.level)+" "+title)
	}
	want := "error not read, warning shop/fresh, warning shop/tenfold, warning shop/double, warning shop/bounds, notice shop/lower, notice 1 checkpoint not known to be inert"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}
