package chart_test

import (
	"bytes"
	"testing"

	"github.com/gitlatch/gitlatch/internal/chart"
)

func TestTableAlignsItsColumns(t *testing.T) {
	t.Parallel()
	got := chart.Table("lrl", []string{"", "pods"}, []string{"größer", "7", "a"}, []string{"b", "10,000", ""})
	want := "            pods\n  größer       7  a\n  b       10,000\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestNumberSetsThousandsApart(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 1234567: "1,234,567"} {
		if got := chart.Number(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

func TestStyleFollowsOutputAndEnvironment(t *testing.T) {
	t.Parallel()
	env := func(of map[string]string) func(string) string { return func(name string) string { return of[name] } }
	for name, c := range map[string]struct {
		env  map[string]string
		want chart.Style
	}{
		"no locale":              {nil, chart.Style{ASCII: true}},
		"a Unicode locale":       {map[string]string{"LANG": "de_DE.UTF-8"}, chart.Style{}},
		"the stronger one wins":  {map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, chart.Style{ASCII: true}},
		"spelled otherwise":      {map[string]string{"LC_CTYPE": "C.utf8"}, chart.Style{}},
		"no terminal, no colour": {map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "132"}, chart.Style{}},
	} {
		if got := chart.StyleFor(&bytes.Buffer{}, env(c.env)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
