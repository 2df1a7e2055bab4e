package proposal

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// Body returns the body of a proposal: a table of the crossings, the namespaces with a
// repaired Component or with new quotes, and the user's options. At least one of them is
// required. Text from outside is escaped.
func Body(site string, crossings []policy.Decision, beside ledger.Beside) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Site `%s`: merging this proposal changes the start of a rebuild. It does not change the live cluster.\n", site)
	if len(crossings) > 0 {
		b.WriteString("\nThese workloads have left their levels.\n\n| workload | in git | proposed | reason |\n|---|---:|---:|---|\n")
	}
	for _, d := range crossings {
		why := cmp.Or(d.Text, "unchanged since the last proposal")
		if d.Surge {
			why = "**surge:** " + escape(why)
		} else {
			why = escape(why)
		}
		r := ledger.ReasonOf(Line(d))
		from, to := r.Levels()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(r.About(d.ID.String())), from, to, why)
	}
	for _, l := range []struct {
		of  []string
		are string
	}{
		{beside.Components, "The Components of these namespaces differ from their checkpoint files. This proposal updates them:"},
		{beside.Quoted, "The checkpoint files of these namespaces have values without quotes, which an API server refuses. This proposal adds the quotes:"},
	} {
		if len(l.of) > 0 {
			fmt.Fprintf(&b, "\n%s\n\n", l.are)
		}
		for _, name := range l.of {
			fmt.Fprintf(&b, "- %s\n", escape(name))
		}
	}
	if beside.List {
		b.WriteString("\nThis proposal also updates kustomization.yaml, the list of the site's checkpoint files.\n")
	}
	b.WriteString("\nMerge this proposal, change it in a commit of yours, or close it to decline it. gitlatch then does not change these entries for 24 hours. While the proposal is open, gitlatch keeps it up to date.\n")
	return b.String()
}

// escape makes text literal in a cell of a Markdown table.
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
