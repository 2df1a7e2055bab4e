package splice

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
	"go.yaml.in/yaml/v3"
)

// to returns the wanted number of one workload.
func to(id workload.ID, count int32) map[workload.ID]int32 { return map[workload.ID]int32{id: count} }

// lines joins lines; #w and #a are the markers of web and api.
func lines(text ...string) []byte {
	marks := strings.NewReplacer("#w", `# {"$gitlatch": "shop/deployment/web"}`, "#a", `# {"$gitlatch": "shop/deployment/api"}`)
	return []byte(marks.Replace(strings.Join(text, "\n") + "\n"))
}

func TestFindSaysWhatIsMarkedBesideWhatIsRefused(t *testing.T) {
	t.Parallel()
	data := lines("a: 5 #a", "b: 0x10 #w", "c: '7' #w", "d: 1 # {$gitlatch: x}")
	marks, err := Find("values.yaml", data, nil)
	want := []Mark{{ID: api, Line: 1, Value: 5}, {ID: web, Line: 3, Value: 7}}
	if !slices.Equal(marks, want) {
		t.Errorf("found %v, want %v", marks, want)
	}
	var refused *Refused
	if !errors.As(err, &refused) || len(refused.Problems) != 2 {
		t.Fatalf("error %v", err)
	}
	got := refused.Problems
	if got[0].File != "values.yaml" || got[0].Line != 2 || got[0].ID != web || got[1].Line != 4 || got[1].ID != (workload.ID{}) {
		t.Errorf("problems %+v", got)
	}
}

func TestAnEditIsWholeOrNotDone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		data    []byte
		to      map[workload.ID]int32
		want    []byte
		refused string // "" if it is accepted
	}{
		{"a refused mark of another", lines("a: 5 #a", "b: 0x10 #w"), to(api, 20), lines("a: 20 #a", "b: 0x10 #w"), ""},
		{"one of another whose kind has no count", lines("a: 5 #a", `b: 1 # {"$gitlatch": "shop/daemonset/agent"}`), to(api, 20),
			lines("a: 20 #a", `b: 1 # {"$gitlatch": "shop/daemonset/agent"}`), ""},
		{"a refused mark of its own", lines("a: 5 #a", "b: 0x10 #a"), to(api, 20), nil, "f:2: shop/deployment/api: "},
		{"a refused mark beside, also wanted", lines("a: 5 #a", "b: 0x10 #w"), wanted, nil, "f:2: shop/deployment/web: "},
		{"a mark that does not say whose it is", lines("a: 5 #a", "b: 1 # {$gitlatch: x}"), to(api, 20), nil, "f:2: the marker is not JSON"},
		{"a mark that says it in upper case", lines("a: 5 #a", `b: 1 # {"$gitlatch": "shop/Deployment/api"}`), to(api, 20), nil, "f:2: shop/deployment/api: "},
		{"a file that cannot be read", lines("a: 5 #a", "b: ["), to(db, 3), nil, "f:"},
		{"a refused mark that has its count", lines("a: 20 #a", "b: {a: 20} #a"), to(api, 20), nil, "f:2: "},
		{"nothing wanted", lines("a: 5 #a", "b: 1 # {$gitlatch: x}"), nil, lines("a: 5 #a", "b: 1 # {$gitlatch: x}"), ""},
		{"a workload that is not marked", lines("a: 5 #a"), to(db, 3), lines("a: 5 #a"), ""},
		{"one of two", lines("a: 5 #a", "b: 100 #w"), to(web, 1), lines("a: 5 #a", "b: 1 #w"), ""},
		{"marks that disagree", lines("a: 5 #a", "b: 7 #a", "c: 20 #a"), to(api, 20), lines("a: 20 #a", "b: 20 #a", "c: 20 #a"), ""},
		{"the largest count", lines("a: 5 #a"), to(api, 2147483647), lines("a: 2147483647 #a"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Edit("f", c.data, c.to)
			switch {
			case c.refused != "":
				if err == nil || !strings.HasPrefix(err.Error(), c.refused) || strings.Contains(err.Error(), "\n") || got != nil {
					t.Errorf("edited to %q, error %v", got, err)
				}
			case err != nil || !bytes.Equal(got, c.want):
				t.Errorf("edited to\n%s\nwant\n%s\nerror %v", got, c.want, err)
			}
		})
	}
}

func TestAnEditThatChangesNothingReturnsWhatItWasGiven(t *testing.T) {
	t.Parallel()
	data := lines("a: 20 #a", "b: 100")
	got := must(Edit("f", data, wanted))(t)
	if &got[0] != &data[0] || len(got) != len(data) {
		t.Error("returned a copy")
	}
}

func TestMarksAreToldFromTextsThatHoldEveryBeginningOfAToken(t *testing.T) {
	t.Parallel()
	var all strings.Builder
	for i := range 999 {
		fmt.Fprintf(&all, "$%03d ", i)
	}
	data := lines("text: '"+all.String()+"#w'", "web: 100 #w")
	if got := must(Edit("f", data, wanted))(t); !bytes.Equal(got, lines("text: '"+all.String()+"#w'", "web: 200 #w")) {
		t.Errorf("edited to\n%s", got)
	}
	data = lines("text: '"+all.String()+"#w'", `escaped: "\x24999"`, "web: 100 #w")
	if got, err := Edit("f", data, wanted); err == nil || !strings.HasPrefix(err.Error(), "f: its text contains $gitlatch") {
		t.Errorf("edited to\n%s\nerror %v", got, err)
	}
}

// A problem that the last check finds is an error of this package, so only a test can
// provide one.
func TestAnEditIsNotTakenUnlessMarkedCountsAloneChanged(t *testing.T) {
	t.Parallel()
	before := "a: &x 5\nb: [1, '2', *x, !t 3, !t []]\n---\nc: {d: 7}\n"
	for _, c := range []struct{ after, refused string }{
		{"a: &x 20\nb: [1, '2', *x, !t 3, !t []]\n---\nc: {d: 7}\n", ""},
		{"a: &x 5\nb: [1, '2', *x, !t 3, !t []]\n---\nc: {d: 7}\n", "line 1"}, // not changed
		{"a: &x 20\nb: [1, '3', *x, !t 3, !t []]\n---\nc: {d: 7}\n", "line 2"},
		{"a: &x 20\nb: [1, 2, *x, !t 3, !t []]\n---\nc: {d: 7}\n", "line 2"},   // other quotes
		{"a: &x 20\nb: [1, '2', 20, !t 3, !t []]\n---\nc: {d: 7}\n", "line 2"}, // no alias
		{"a: &x 20\nb: [1, \"2\", *x, !t 3, !t []]\n---\nc: {d: 7}\n", "line 2"},
		{"a: &x 20\nb: [1, '2', *x, !u 3, !t []]\n---\nc: {d: 7}\n", "line 2"},
		{"a: &x 20\nb: [1, '2', *x, !t 3, !t {}]\n---\nc: {d: 7}\n", "line 2"},
		{"a: &y 20\nb: [1, '2', *y, !t 3, !t []]\n---\nc: {d: 7}\n", "line 1"}, // another name of the anchor
		{"a: &x !!str 20\nb: [1, '2', *x, !t 3, !t []]\n---\nc: {d: 7}\n", "line 1"},
		{"a: &x 20\nb: [1, '2']\n---\nc: {d: 7}\n", "line 2"},
		{"a: &x 20\nb: [1, '2', *x, !t 3, !t []]\n---\nc: {d: 70}\n", "line 4"},
		{"a: &x 20\nb: [1, '2', *x, !t 3, !t []]\n---\n\nc: {d: 7}\n", "line 4"}, // moved to another line
		{"a: &x 20\nb: [1, '2', *x, !t 3, !t []]\n", "1 documents"},
		{"a: &x 20\nb: [1, '2', *x\n---\nc: {d: 7}\n", "could not be read"},
	} {
		documents := must(parse([]byte(before)))(t)
		five := documents[0].Content[0].Content[1]
		err := prove(documents, []byte(c.after), map[*yaml.Node]string{five: "20"})
		if c.refused == "" && err != nil || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("%q: error %v, want %q", c.after, err, c.refused)
		}
	}
}

func TestAnEditInTheWrongPlaceIsRefused(t *testing.T) {
	t.Parallel()
	data := lines("a: 5 # 5", "b: 5 #a")
	right := find("f", data)
	for _, by := range []int{0, -2, -10, 1} {
		wrong := right
		wrong.counts = slices.Clone(right.counts)
		wrong.counts[0].from += by
		wrong.counts[0].to += by
		got, err := wrong.replace("f", data, wanted)
		switch {
		case by == 0 && (err != nil || !bytes.Equal(got, lines("a: 5 # 5", "b: 20 #a"))):
			t.Errorf("in its place edited to\n%s\nerror %v", got, err)
		case by != 0 && (err == nil || got != nil || !strings.Contains(err.Error(), "bug in gitlatch")):
			t.Errorf("%d bytes off edited to\n%s\nerror %v", by, got, err)
		}
	}
}

func TestLargeFilesAreEdited(t *testing.T) {
	t.Parallel()
	size := 5 << 20
	if testing.Short() {
		size = 1 << 18
	}
	data := large("texts", size)
	first := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web-0"}
	want := bytes.Replace(data, []byte(`replicas: 0 # {"$gitlatch": "shop/deployment/web-0"}`), []byte(`replicas: 20000 # {"$gitlatch": "shop/deployment/web-0"}`), 1)
	if got := must(Edit("f", data, to(first, 20000)))(t); !bytes.Equal(got, want) || bytes.Equal(got, data) {
		t.Errorf("%d bytes became %d, want %d", len(data), len(got), len(want))
	}
}
