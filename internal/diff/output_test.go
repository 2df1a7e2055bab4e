package diff

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func shop(name string) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
}

func TestColourChangesOnlyHowADiffLooks(t *testing.T) {
	t.Parallel()
	row := func(name string, state State) Row {
		return Row{Decision: policy.Decision{ID: shop(name), Text: strings.Repeat("with many words ", 9)}, State: state}
	}
	d := Report{Named: true}
	d.Rows = []Row{row("web", Pending), row("api", InSync)}
	write := func(s term.Style) string {
		var b bytes.Buffer
		if err := d.Table(&b, s); err != nil {
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
	raise := func(name string, from, to int32) Row {
		return Row{Decision: policy.Decision{ID: shop(name), Text: name, To: checkpoint.Entry{Replicas: to}},
			State: Pending, Declared: checkpoint.Entry{Replicas: from}, Sample: workload.Sample{Scale: &workload.Scale{Desired: to}}}
	}
	var d Report
	d.Site = "prod"
	lower, fresh := raise("lower", 100, 10), raise("fresh", 0, 5)
	fresh.Declared = checkpoint.Entry{}
	bounds := Row{Decision: policy.Decision{ID: shop("bounds"), Mismatch: &policy.Bounds{Max: 20}}, State: Bounds, Declared: checkpoint.Entry{Replicas: 5, Max: 9}}
	d.Rows = []Row{lower, bounds, raise("double", 10, 20), raise("tenfold", 10, 100), fresh, {Decision: policy.Decision{ID: shop("fine")}, State: InSync, Unproven: true}}
	d.Fleet.Unread = []workload.Unread{{Part: "deployments", Why: "forbidden"}}
	var got []string
	for _, a := range d.annotations() {
		title, _, _ := strings.Cut(a.title, ":")
		got = append(got, string(a.level)+" "+title)
	}
	want := "error could not be read, warning shop/fresh, warning shop/tenfold, warning shop/double, warning shop/bounds, notice shop/lower, notice 1 workload without a rule"
	if strings.Join(got, ", ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ", "), want)
	}
}
