package publish

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// body returns the body of a proposal: a table of the crossings, the namespaces whose
// checkpoint file is restored, and the user's options. At least one crossing or namespace is
// required. Text from outside is escaped.
func body(site string, crossings []policy.Decision, restored []string) string {
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
		r := ledger.ReasonOf(line(d))
		from, to := r.Levels()
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", escape(r.About(d.ID.String())), from, to, why)
	}
	if len(restored) > 0 {
		b.WriteString("\nThe checkpoint files of these namespaces have text that gitlatch does not write. This proposal restores it, and changes no level:\n\n")
	}
	for _, namespace := range restored {
		fmt.Fprintf(&b, "- %s\n", escape(namespace))
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
