package tty_test

import (
	"bytes"
	"testing"

	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

func TestStyleFollowsOutputAndEnvironment(t *testing.T) {
	t.Parallel()
	env := func(of map[string]string) func(string) string { return func(name string) string { return of[name] } }
	for name, c := range map[string]struct {
		env  map[string]string
		want term.Style
	}{
		"no locale":              {nil, term.Style{ASCII: true}},
		"a Unicode locale":       {map[string]string{"LANG": "de_DE.UTF-8"}, term.Style{}},
		"the stronger one wins":  {map[string]string{"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, term.Style{ASCII: true}},
		"spelled otherwise":      {map[string]string{"LC_CTYPE": "C.utf8"}, term.Style{}},
		"no terminal, no colour": {map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color", "COLUMNS": "132"}, term.Style{}},
	} {
		if got := tty.StyleFor(&bytes.Buffer{}, env(c.env)); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}
