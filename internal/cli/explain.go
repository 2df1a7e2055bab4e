package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newExplain(env Env) *cobra.Command {
	var e explaining
	c := &cobra.Command{
		Use:   "explain TARGET",
		Short: "Explain the decision about a workload",
		Long: `"gitlatch explain" samples the cluster once and makes the same decisions as
"gitlatch tick", but writes nothing. The command prints the live replicas of one
workload and its level in git. The output also contains the running timers and
the thresholds of the level. The command also prints the decision and its
reason.

Exit status:
  0  The command found no problem.
  1  The command found a problem that a user must fix. The status is also 1 if
     the command could not list some objects in the cluster.
  2  The command could not compute the decisions.` + workloadWords,
		Example: "  gitlatch explain shop/web -c prod-eu.yaml",
		Args:    arguments(cobra.ExactArgs(1), "one workload, as shop/web"),
		RunE:    timed(longest, func(ctx context.Context, args []string) error { return e.run(ctx, env, args[0]) }),
	}
	e.register(c, env)
	e.registerWorkload(c, &e.flags)
	e.output.register(c, explanation.Table, nil)
	return c
}

// explaining contains the flags of explain.
type explaining struct {
	flags
	targets
	output output[explanation]
}

// An explanation describes the decision about one workload.
type explanation struct {
	term.Document
	Site     string          `json:"site"`
	At       time.Time       `json:"at"`
	Workload report.Workload `json:"workload"`
	// RaiseAbove and LowerAt are the thresholds of the level, in replicas. null means
	// that the workload has no level or never crosses the threshold.
	RaiseAbove  *int32    `json:"raiseAbove"`
	LowerAt     *int32    `json:"lowerAt"`
	FrozenFor   string    `json:"frozenFor,omitempty"`  // the reason for its freeze
	PausedUntil time.Time `json:"pausedUntil,omitzero"` // end of the user's pause of the workload
	GraceUntil  time.Time `json:"graceUntil,omitzero"`  // end of its edit grace period

	id     workload.ID
	of     tick.Report
	sample workload.Sample // zero if the workload is absent
	latch  latch.Latch
}

// newExplanation returns the explanation of one workload in a report.
func newExplanation(r tick.Report, id workload.ID) explanation {
	e := explanation{Document: term.DocumentOf("Explanation"), Site: r.Site, At: r.At, id: id, of: r, latch: r.Latches.Get(id)}
	for _, w := range report.New(r).Workloads {
		if w.Named == term.NamedBy(id) {
			e.Workload = w
		}
	}
	e.sample = lists.Index(r.Samples, func(s workload.Sample) workload.ID { return s.ID })[id]
	e.FrozenFor = e.latch.Freeze.Reason
	e.PausedUntil = e.latch.PausedUntil
	e.GraceUntil = e.latch.GraceUntil
	p, _, latched := r.Set.Choose(e.sample)
	if latched && e.sample.Scale != nil && e.latch.Declared.Replicas > 0 {
		above, at := policy.Thresholds(p, e.latch.Declared, *e.sample.Scale)
		e.RaiseAbove, e.LowerAt = count(above), count(at)
	}
	return e
}

// count returns a threshold, or nil if no number of replicas crosses it.
func count(n int32) *int32 {
	if n == 0 || n == math.MaxInt32 {
		return nil
	}
	return &n
}

func (e *explaining) run(ctx context.Context, env Env, text string) (err error) {
	named, err := e.one(text)
	if err != nil {
		return err
	}
	c, parts, err := e.open(ctx, env, true)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	t := local.Tick(c, parts)
	t.DryRun = true
	r, err := t.Run(ctx)
	if err != nil {
		return err
	}
	id, err := findOne("the site has", named, lists.Map(r.Decisions, func(d policy.Decision) workload.ID { return d.ID }))
	if err != nil {
		return err
	}
	return found(e.output.write(env, newExplanation(r, id)), r.Err())
}

// Table prints one line for each topic, wrapped.
func (e explanation) Table(out io.Writer, s term.Style) error {
	var lines term.Topics
	lines.Add("workload", "%s at %s", e.id, e.At.Format(time.RFC3339))
	if e.sample.ID == e.id {
		e.explainSample(&lines)
	}
	e.explainLatch(&lines)
	e.explainRollout(&lines)
	for _, d := range e.of.Decisions {
		if d.ID == e.id {
			explainDecision(&lines, d, e.of.Stop)
		}
	}
	if e.of.Stop.Reason != policy.ReasonNone {
		lines.Add("site", "%s", e.of.Stop.Text)
		lines.Add("", "Fix: %s", e.of.Stop.Fix)
	}
	if e.of.Observe {
		lines.Add("site", "mode is observe: nothing is written to git")
	}
	p := term.NewPage(s)
	p.Topics(lines)
	return p.Print(out)
}

func (e explanation) explainSample(lines *term.Topics) {
	s := e.sample
	if s.Scale == nil {
		lines.Add("live", "unknown: %s", s.Unknown)
		return
	}
	lines.Add("live", "%s, %s of them ready", term.Count(s.Scale.Desired, "pod"), term.Number(int64(s.Scale.Ready)))
	switch {
	case s.Scale.Unstated:
		lines.Add("scaled by", "no autoscaler found. The manifest sets no replicas, so Kubernetes uses the default of 1.")
	case s.Scale.Driver == workload.DrivenByNothing:
		lines.Add("scaled by", "no autoscaler. The replica count comes from the manifest.")
	default:
		lines.Add("scaled by", "%s, which allows %s", s.Scale.Driver, policy.Bounds{Min: s.Scale.Min, Max: s.Scale.Max})
	}
	if s.Scale.Brake.On != "" {
		lines.Add("brake", "%s", s.Scale.Brake)
	}
	p, skip, latched := e.of.Set.Choose(s)
	if s.Policy != "" && s.Policy != p.Name {
		lines.Add("annotated", "gitlatch ignores the annotation %s, because no policy %q matches namespace %s", kube.AnnotationPolicy, sanitize.Line(s.Policy), s.ID.Namespace)
	}
	if !latched {
		lines.Add("policy", "gitlatch writes no level for the workload, because %s.", skip.Text)
		switch undriven := skip.Reason == policy.ReasonUndriven; {
		case undriven && s.Scale.Unstated:
			lines.Add("", "If another program scales the workload, gitlatch writes a level when the replicas are no longer 1. To write a level now, set \"undriven: true\" in the policy.")
		case undriven:
			lines.Add("", "To give the workload a level, add an autoscaler for it, or set \"undriven: true\" in the policy.")
		}
		return
	}
	up := term.Count(p.HoldUp, "sample")
	down := policy.Span(p.HoldDown)
	if p.HoldDown == 0 {
		down = up
	}
	lines.Add("policy", "%s: series %s, round %s, margin %.3g %%; raises levels after %s, lowers them after %s", p.Name, p.Series, p.Round, 100*p.Margin, up, down)
	declared := e.latch.Declared
	if declared.Replicas == 0 {
		lines.Add("in git", "no level yet")
		return
	}
	lines.Add("in git", "level %d (%s allowed)", declared.Replicas, policy.Bounds{Min: declared.Min, Max: declared.Max})
	if e.RaiseAbove == nil {
		lines.Add("raise", "never: the workload is at its maximum")
	} else {
		lines.Add("raise", "if %s more than %s", held(p.HoldUp), term.Count(*e.RaiseAbove, "pod"))
	}
	switch {
	case e.LowerAt == nil:
		lines.Add("lower", "never: the workload is at its lowest level")
	case p.HoldDown == 0:
		lines.Add("lower", "if %s at most %s", held(p.HoldUp), term.Count(*e.LowerAt, "pod"))
	default:
		lines.Add("lower", "if no sample exceeds %[2]s for %[1]s", policy.Span(p.HoldDown), term.Count(*e.LowerAt, "pod"))
	}
}

// held returns the number of samples beyond a threshold that change the level, with the
// verb "show".
func held(samples int) string {
	if samples == 1 {
		return "1 sample shows"
	}
	return fmt.Sprintf("%d samples in a row show", samples)
}

// rounded returns the levels of the samples that count towards a raise.
func rounded(levels []int32) string {
	if len(levels) == 1 {
		return fmt.Sprintf("1 sample rounded to level %d", levels[0])
	}
	return fmt.Sprintf("%d samples in a row rounded to levels %s", len(levels), strings.Join(lists.Map(levels, func(n int32) string { return strconv.Itoa(int(n)) }), ", "))
}

func (e explanation) explainLatch(lines *term.Topics) {
	l := e.latch
	if len(l.Up.Levels) > 0 {
		lines.Add("timer", "%s", rounded(l.Up.Levels))
	}
	if l.Down.Running() {
		lines.Add("timer", "the desired replicas have been at or below the lower threshold for %s, since %s. The highest replica count since then rounds to level %d.",
			policy.Elapsed(l.Down.Elapsed(e.At)), l.Down.Since.UTC().Format(time.RFC3339), l.Down.Level)
	}
	if len(l.Up.Levels) > 0 || l.Down.Running() {
		lines.Add("note", "\"gitlatch explain\" takes a sample, but saves neither the sample nor the timers.")
	}
	if l.Freeze.Reason != "" {
		lines.Add("frozen", "since %s: %s", l.Freeze.Since.UTC().Format(time.RFC3339), l.Freeze.Reason)
	}
	if l.Missing.Running() {
		lines.Add("missing", "for %s", policy.Elapsed(l.Missing.Elapsed(e.At)))
	}
}

// explainRollout adds the rollout in git and the running timers.
func (e explanation) explainRollout(lines *term.Topics) {
	p := e.of.Set.ChooseRollout(e.sample)
	r := e.latch.Declared.Rollout
	t := e.latch.Rollout()
	for _, watch := range []struct {
		of   latch.Stopwatch
		text string
	}{
		{t.Flight, "the rollout has been in progress for %s"},
		{t.Stalled, "pods of " + t.Target + " are missing. No new pod became available for %s"},
		{t.Healthy, "the rollout has been healthy for %s"},
	} {
		if watch.of.Running() {
			lines.Add("timer", watch.text, policy.Elapsed(watch.of.Elapsed(e.At)))
		}
	}
	if r == (checkpoint.Rollout{}) {
		return
	}
	lines.Add("rollout", "from template %s to %s. In git: milestone %d %%, phase %q. A rebuild starts with template %s.", template(r.From), template(r.To), r.Milestone, r.Phase, r.Returned().Hash)
	lines.Add("", "If the rollout is healthy and at %d %% or more in two samples in a row, a rebuild starts with template %s. If the rollout fails, or if the workload returns to its old template, a rebuild starts with template %s. When the rollout is over, gitlatch removes the rollout entry.", p.Cut, r.To.Hash, r.From.Hash)
}

// template formats a template so that users can distinguish two of them.
func template(t checkpoint.Template) string {
	if t.Images == "" {
		return t.Hash
	}
	return fmt.Sprintf("%s (%s)", t.Hash, t.Images)
}

// outcomes describe the verdicts whose names do not show the outcome.
var outcomes = map[policy.Verdict]string{
	policy.Quiet: "no change",
	policy.Cross: "change",
}

func explainDecision(lines *term.Topics, d policy.Decision, stop policy.Stop) {
	reason := ""
	if d.Reason != policy.ReasonNone {
		reason = " (" + string(d.Reason) + ")"
	}
	what := "decision"
	if d.Reading == policy.ReadingRollout {
		what = "rollout"
	}
	verdict := string(d.Verdict)
	if d.Reason == policy.ReasonNone {
		verdict = cmp.Or(outcomes[d.Verdict], verdict)
	}
	text := d.Text
	switch {
	case d.Reason == policy.ReasonYield:
		text += ". To end the edit grace period now, run \"gitlatch adopt " + d.ID.Short() + "\"."
	case d.Reason == policy.ReasonHold && stop.Reason == policy.ReasonHold:
		text += ". To end the pause now, run \"gitlatch pause --until now\"."
	case d.Reason == policy.ReasonHold:
		text += ". To end the pause now, run \"gitlatch pause " + d.ID.Short() + " --until now\"."
	}
	lines.Add(what, "%s%s: %s", verdict, reason, text)
	switch {
	case !d.To.IsZero() && d.Reading == policy.ReadingScale:
		lines.Add("next in git", "level %d", d.To.Replicas)
	case d.To.Rollout != (checkpoint.Rollout{}):
		lines.Add("next in git", "a rollout entry with milestone %d %%. A rebuild then starts with template %s.", d.To.Rollout.Milestone, d.To.Rollout.Returned().Hash)
	}
	if d.Mismatch != nil {
		lines.Add("mismatch", "the cluster allows %s, but the minimum or maximum in git is different. To accept the values of the cluster, write them to the workload's _min and _max keys in the checkpoint file.", d.Mismatch)
	}
	if d.Capped {
		lines.Add("capped", "the desired replicas are above the maximum in git")
	}
}
