package tick

import (
	"strings"

	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Ours reports whether a commit's message has the trailer of the site.
func Ours(site, message string) bool { return ledger.Ours(site, message) }

// Subject is the first line of a message, fit to be printed.
func Subject(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return repo.OneLine(first)
}

// Reason is why a commit changed a workload, as Message wrote it, fit to be
// printed; "" where its message does not speak of the workload.
func Reason(message string, id workload.ID) string {
	var reasons []string
	for line := range strings.Lines(message) {
		rest, ok := strings.CutPrefix(line, id.String()+" ")
		arrow, why, told := strings.Cut(rest, ": ")
		if ok && told && strings.Contains(arrow, " -> ") {
			reasons = append(reasons, repo.OneLine(why))
		}
	}
	return strings.Join(reasons, "; ")
}
