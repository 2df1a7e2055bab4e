package score

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// flushed returns the levels that the tick wrote, proposed or blocked.
func flushed(l Look) drill.Flush {
	f := drill.Flush{Levels: []drill.Level{}, Proposed: []drill.Level{}, Withheld: []drill.Level{}}
	if c := l.Tick.Commit; c != nil {
		f.Commit = c.ID
		f.Subject = subjectOf(c.Message)
		f.Levels = levels(c.Changes)
	}
	if p := l.Tick.Proposal; p != nil {
		f.Proposal = p.URL
		f.Subject = cmp.Or(f.Subject, subjectOf(p.Message))
		f.Proposed = levels(p.Changes)
	}
	for _, d := range l.Tick.Decisions {
		withheld := d.Verdict == policy.Pending && d.Reason != policy.ReasonNone || d.Verdict == policy.Review
		if d.Reading == policy.ReadingScale && withheld && !d.To.IsZero() {
			f.Withheld = append(f.Withheld, level(d))
		}
	}
	return f
}

func subjectOf(message string) string {
	subject, _, _ := strings.Cut(message, "\n")
	return subject
}

// levels returns the level changes of a commit, without its changes of rollouts.
func levels(changes []policy.Decision) []drill.Level {
	return lists.Map(lists.Filter(changes, func(d policy.Decision) bool { return d.Reading == policy.ReadingScale }), level)
}

func level(d policy.Decision) drill.Level {
	return drill.Level{
		Named: term.NamedBy(d.ID),
		From:  replicas(d.From), To: replicas(d.To), Reason: string(d.Reason), Text: d.Text,
	}
}

func replicas(e checkpoint.Entry) *int32 {
	if e.IsZero() {
		return nil
	}
	return known(e.Replicas)
}

// leftOut counts the live workloads that are not scored, by reason. It sorts by reason.
func leftOut(l Look) []drill.LeftOut {
	listed := map[workload.ID]bool{}
	for _, w := range l.Doctor.Workloads {
		listed[w.ID] = true
	}
	by := map[policy.Reason]*drill.LeftOut{}
	for _, d := range l.Tick.Decisions {
		if d.Verdict != policy.Skip || d.Reading != policy.ReadingScale || listed[d.ID] {
			continue
		}
		if by[d.Reason] == nil {
			by[d.Reason] = &drill.LeftOut{Reason: string(d.Reason), Text: d.Text}
		}
		by[d.Reason].Workloads++
	}
	return lists.Map(slices.Sorted(maps.Keys(by)), func(reason policy.Reason) drill.LeftOut { return *by[reason] })
}
