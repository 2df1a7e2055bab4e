package proposal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// Body is the body of a proposal: the crossings as a table, the namespaces whose
// Component is written anew and the files that are edited in place, and what
// people can do with it. There is at least one of any. What came from outside is
// escaped.
func Body(site string, crossings []policy.Decision, beside ledger.Beside) string {
	var b strings.Builder
	acts := "nothing on the live cluster."
	if len(beside.Files) > 0 {
		acts = "on the live cluster nothing but what applies the files below."
	}
	fmt.Fprintf(&b, "Site `%s`: merging changes what a rebuild gives; %s\n", site, acts)
	if len(crossings) > 0 {
		b.WriteString("\nWhat runs has left these levels.\n\n| workload | declared | proposed | why |\n|---|---:|---:|---|\n")
	}
	for _, d := range crossings {
		why := cmp.Or(d.Text, "as proposed before")
		if d.Surge {
			why = "**out of the ordinary:** " + escape(why)
		} else {
			why = escape(why)
		}
		r := ledger.ReasonOf(line(d))
		from, to := r.Levels()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(r.About(d.ID.String())), from, to, why)
	}
	for _, l := range []struct {
		of  []string
		are string
	}{
		{beside.Components, "The Components of these namespaces do not say what their records say, and are written anew from them:"},
		{beside.Files, "These files are edited in place. Their counts act wherever they are applied:"},
	} {
		if len(l.of) > 0 {
			fmt.Fprintf(&b, "\n%s\n\n", l.are)
		}
		for _, name := range l.of {
			fmt.Fprintf(&b, "- %s\n", escape(name))
		}
	}
	b.WriteString("\nMerge it in any way, change it in a commit of your own, or close it to say no: what you decide is left alone for a day. This proposal follows the need while it is open.\n")
	return b.String()
}

// escape makes text plain in a cell of a Markdown table.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			r = ' '
		case r == '<':
			b.WriteString("&lt;")
			continue
		case strings.ContainsRune("\\`*_{}[]()#+!|~@", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
