package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// acting are the traps that let a level act on the live cluster at the next commit. They
// do not include traps that only leave a workload without a confirmed rule.
var acting = []Trap{PolicyOnUpdate, CountDropped, NoRule, RuleWithoutGroup, NotRespected, OptionNotRead, RuleNarrowed, SSA}

// Withdraw returns the lines of protection.yaml that stay valid, and the findings that
// remove the others. It removes the lines from doctor that cover a workload whose level
// would now act. If a removed line also covers other workloads, Withdraw adds separate
// lines for them. A user's line stays.
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

// EvidenceMessage returns the message of a commit that changes protection.yaml of a site.
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

// acts returns the findings that let a level act on the live cluster.
func acts(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !slices.Contains(acting, f.Trap) })
}
