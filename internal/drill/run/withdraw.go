package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/score"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// withdraw removes the rules from git that doctor wrote and that the cluster no longer
// has. From then on, no level of these workloads is written. withdraw also sends an
// alert. In a dry run it only adds a problem that lists the rules. It changes nothing if
// a part of the cluster or the repository could not be read or built, if the cluster is
// another one, or in observe mode.
func (r *Run) withdraw(ctx context.Context, look score.Look, d drill.Document) drill.Document {
	found := look.Doctor
	blind := slices.ContainsFunc(found.Findings, func(f doctor.Finding) bool {
		return f.Trap == doctor.OtherCluster || f.Trap == doctor.BuildFails
	})
	if blind || len(found.Unread) > 0 || look.Tree.Unproven != nil || look.Tick.Observe {
		return d
	}
	left, why := found.Withdraw(look.Tree.Evidence)
	if len(why) == 0 {
		return d
	}
	file := checkpoint.EvidencePath(found.Site)
	reasons := strings.Join(lists.Map(why, func(f doctor.Finding) string { return f.Subject + ": " + f.Text }), "\n")
	fixes := slices.Compact(lists.Map(why, func(f doctor.Finding) string { return f.Fix }))
	if r.Tick.DryRun {
		return d.Problem(fmt.Errorf("no rule protects the live replica count of workloads in %s. Add the rules again, or run \"gitlatch doctor --write\" or a drill with --flush to remove the lines:\n%s", file, reasons))
	}
	_, err := r.Tick.Repository.Commit(ctx, repo.Commit{
		Parent: look.Commit, Files: map[string][]byte{file: left.Format()},
		Message: doctor.EvidenceMessage(found.Site, look.Tree.Evidence, left), When: r.Tick.Clock(),
	})
	gone := alert.Condition{
		Kind: alert.RuleGone, Text: alert.Brief("No rule protects the live replica count any more:\n" + reasons), Effect: "gitlatch writes no levels for these workloads, so a rebuild starts with the present levels in git",
		Fix: fmt.Sprintf("%s, and run \"gitlatch doctor --write\". If another rule protects a workload, add \"NAMESPACE/KIND/NAME: REASON\" to %s", strings.Join(fixes, ", "), file),
	}
	if err != nil {
		gone.Effect = fmt.Sprintf("gitlatch could not remove their lines from %s, and may continue to write levels: %v", file, err)
	}
	d = d.Problem(fmt.Errorf("%s\n%s. Fix: %s", gone.Text, gone.Effect, gone.Fix))
	return r.alert(ctx, d, gone)
}
