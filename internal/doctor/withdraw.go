package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// acting are the traps by which a checkpoint acts on the live cluster at its next
// commit. Those that only say that nothing is proved are not among them.
var acting = []Trap{PolicyOnUpdate, CountDropped, NoRule, RuleWithoutGroup, NotRespected, OptionNotRead, RuleNarrowed, SSA}

// Withdraw returns what is left of the evidence that git has, and why the rest goes:
// lines that doctor wrote, of workloads on which a checkpoint would now act. A line
// that covers others with them is split among those. What a person wrote stays.
func (r Report) Withdraw(before checkpoint.Evidence) (left checkpoint.Evidence, why []Finding) {
	left = maps.Clone(before)
	for _, w := range r.Workloads {
		for len(w.Acts) > 0 {
			covered, what, ok := left.Line(w.ID)
			if !ok || !writes(what) {
				break
			}
			delete(left, covered)
			why = append(why, w.Acts[0])
		}
	}
	for covered, what := range r.Evidence {
		id, err := workload.ParseID(covered)
		group := checkpoint.CoverAll(id.Namespace, id.Kind)
		_, had := before[group]
		if _, has := left[group]; err == nil && had && !has {
			left[covered] = what
		}
	}
	return left, slices.Compact(why)
}

// EvidenceMessage is the message of a commit that makes the evidence of a site
// another one.
func EvidenceMessage(site string, before, after checkpoint.Evidence) string {
	var lines []string
	for covered, what := range after {
		if before[covered] != what {
			lines = append(lines, covered+": "+what)
		}
	}
	for covered := range before {
		if _, kept := after[covered]; !kept {
			lines = append(lines, covered+": removed")
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("doctor(%s): update the rules that protect replica counts\n\n%s\n\nGitlatch-Site: %s\n", site, strings.Join(lines, "\n"), site)
}

// acts are the findings by which a checkpoint acts.
func acts(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !slices.Contains(acting, f.Trap) })
}
