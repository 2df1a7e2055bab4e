package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/page"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A trial contains the flags of backtest.
type trial struct {
	flags
	policies, presets []string
	given             func(flag string) bool
	period, lasting   time.Duration
	wants             backtest.Wants
	workload          string
	output            output[judged]
}

const (
	defaultPeriod = 5 * time.Minute
	maxPeriod     = 24 * time.Hour
)

func newBacktest(env Env) *cobra.Command {
	t := trial{wants: backtest.DefaultWants()}
	c := &cobra.Command{
		Use:   "backtest FILE...",
		Short: "Compare policies on past data and recommend one",
		Long: `"gitlatch backtest" applies several policies to recorded replica counts. The
command uses the same code as "gitlatch tick". For each policy, the command
prints the number of commits per day, the coverage and the waste. The command
writes nothing.

The coverage is the percentage of the desired replicas that the levels cover. If
a level is above the desired replicas, the difference is surplus pods. The waste
is the total time of all surplus pods, in pod hours.

"gitlatch backtest" recommends the policy with the least waste that meets
--min-coverage and --max-commits. If no policy meets both limits, the command
recommends the policy with the fewest commits that meets --min-coverage. If no
policy meets --min-coverage, the command recommends the policy with the highest
worst-case coverage. The command prints the reason for its recommendation.

FILE is a CSV or JSON file, and can be compressed with gzip. To read from
standard input, use - as FILE. If you specify several files, the command
combines their data.

A CSV file has the columns "time", "workload" and "replicas", in any order. The
columns "ready", "min", "max" and "target" are optional. Times use the RFC 3339
format or Unix seconds. The name of a workload has the form namespace/name or
namespace/kind/name. If the value in the column "replicas" is empty, "gitlatch
backtest" treats the replica count as unknown. The command rounds fractional
replica counts up.

To create a JSON file, send this query to the query_range endpoint of
Prometheus, and save the response:

  max by (namespace, deployment) (kube_deployment_spec_replicas)

If two samples are more than three periods apart, "gitlatch backtest" ignores
the time between the two samples.

"gitlatch backtest" assumes that all workloads are autoscaled and protected, and
ignores rollouts. If you select no policy, the command compares all presets.`,
		Example: `  # Compare all presets
  gitlatch backtest past.csv

  # Compare the policy on the branch with a new file
  gitlatch backtest past.csv -c prod-eu.yaml --policy gitlatch.yaml`,
		Args: arguments(cobra.MinimumNArgs(1), "one or more files of past scale"),
		RunE: func(c *cobra.Command, args []string) error {
			return t.run(c.Context(), env, args)
		},
	}
	t.register(c, env)
	return c
}

func (t *trial) register(c *cobra.Command, env Env) {
	t.registerSite(c, env)
	f := c.Flags()
	t.given = f.Changed
	f.StringSliceVar(&t.policies, "policy", nil, "policy files to compare, or - for standard input")
	f.StringSliceVar(&t.presets, "preset", nil, "presets to compare: "+strings.Join(policy.PresetNames(), ", "))
	offer(c, "preset", policy.PresetNames())
	f.Var((*units.Span)(&t.period), "period", "time between two simulated ticks (default: the period in --config; without --config, 5m or the sample interval, whichever is longer)")
	f.Var((*units.Span)(&t.lasting), "min-duration", "minimum duration of a replica count that the worst-case coverage includes (default: two periods)")
	f.Var((*units.Share)(&t.wants.Coverage), "min-coverage", "minimum worst-case coverage that the recommended policy must have, such as 98% or 0.98")
	f.Float64Var(&t.wants.Commits, "max-commits", t.wants.Commits, "maximum number of commits per day that the recommended policy may make")
	f.StringVar(&t.workload, "workload", "", "workload to show in the chart (default: the workload with the most replicas)")
	t.output.register(c, judged.table, map[string]form[judged]{"html": inHTML(judged.page)})
}

func (t *trial) run(ctx context.Context, env Env, files []string) error {
	if err := t.check(); err != nil {
		return err
	}
	// Reading and deciding produce short-lived garbage next to months of samples, which
	// stay in memory. Collecting it earlier costs little time and saves a quarter of the
	// memory.
	defer debug.SetGCPercent(debug.SetGCPercent(30))
	show := tty.NewProgress(env.Err)
	defer show.End()
	past, err := readPast(env, files, show)
	if err != nil {
		return err
	}
	// From here, a signal ends the command with an error. Reading the files may block
	// forever, so there the signal ends the process. The command has nothing to clean up.
	ctx, stop := interruptible(ctx)
	defer stop()
	drawn, err := t.drawn(past)
	if err != nil {
		return err
	}
	candidates, err := t.candidates(ctx, env, past)
	if err != nil {
		return err
	}
	results, err := backtest.TryAll(ctx, past, candidates, backtest.Options{Lasting: t.lasting}, func(done int) {
		show.Say("tried %d of %d policies", done, len(candidates))
	})
	if err != nil {
		return fmt.Errorf("backtest: stopped: %w", err)
	}
	show.End()
	v := backtest.Verdict{Past: past, Results: results, Front: backtest.Front(results), Wants: t.wants, Period: t.period, Lasting: t.lasting}
	v.Best, v.Why = t.wants.Recommend(results)
	return t.output.write(env, judged{ctx, v, drawn, show})
}

// A judged is a verdict with the input of its output formats.
type judged struct {
	ctx context.Context
	backtest.Verdict
	drawn workload.ID
	show  *tty.Progress
}

func (j judged) table(out io.Writer, s term.Style) error { return j.Table(out, s, j.drawn) }

// MarshalJSON returns the JSON document of the verdict.
func (j judged) MarshalJSON() ([]byte, error) { return term.Marshal(j.Document()) }

// page returns the HTML page of the verdict.
func (j judged) page() ([]byte, error) {
	defer j.show.End()
	d := j.Document()
	var err error
	if d.Pictures, err = j.Pictures(j.ctx, j.drawn, j.show.Say); err != nil {
		return nil, fmt.Errorf("backtest: stopped: %w", err)
	}
	return page.Backtest(d)
}

// check returns the errors in the flags, before any file is read.
func (t *trial) check() error {
	var wrong wrongs
	wrong.unless(!t.given("period") || t.period > 0 && t.period <= maxPeriod && t.period%time.Second == 0, "--period: must be a multiple of 1s, above 0 and at most %s, got %s", policy.Span(maxPeriod), t.period)
	wrong.unless(t.wants.Commits >= 0, "--max-commits: must not be negative, got %g", t.wants.Commits)
	for _, name := range t.presets {
		_, ok := policy.Presets()[name]
		wrong.unless(ok, "--preset: must be one of %s, got %q", strings.Join(policy.PresetNames(), ", "), name)
	}
	return errors.Join(wrong...)
}

// drawn returns the workload to draw.
func (t *trial) drawn(past *backtest.Past) (drawn workload.ID, err error) {
	if t.workload != "" {
		named, err := units.ParseTarget(t.workload)
		if err == nil {
			drawn, err = findOne("the files have", named, past.IDs())
		}
		if err != nil {
			err = fmt.Errorf("--workload: %w", err)
		}
		return drawn, err
	}
	return past.ByPeak()[0], nil
}

// settlePeriod sets the period from the flag, the configuration or the interval of the
// samples. It also sets the default of --min-duration.
func (t *trial) settlePeriod(configured time.Duration, past *backtest.Past) error {
	step := past.Step()
	switch asked := cmp.Or(t.period, configured); {
	case asked == 0:
		t.period = min(max(defaultPeriod, step), maxPeriod)
	case step > 3*asked:
		return fmt.Errorf("samples are %s apart, which is more than three periods of %s, so backtest observes nothing. Set --period %[1]s, or give finer samples", policy.Span(step), policy.Span(asked))
	default:
		t.period = asked
	}
	if !t.given("min-duration") {
		t.lasting = 2 * t.period
	}
	return nil
}

// candidates returns the policies to compare: the site's policy, then the policy files,
// then the presets.
func (t *trial) candidates(ctx context.Context, env Env, past *backtest.Past) ([]backtest.Candidate, error) {
	var all []backtest.Candidate
	var configured time.Duration
	if t.file != "" || t.repository != "" {
		c, err := t.config()
		if err != nil {
			return nil, err
		}
		if t.file != "" {
			configured = c.Period
		}
		git, err := declaredBy(ctx, env, c)
		if err != nil {
			return nil, err
		}
		git.tell(env)
		all = append(all, backtest.Candidate{Name: c.Site, Set: git.set})
	}
	if err := t.settlePeriod(configured, past); err != nil {
		return nil, err
	}
	for _, file := range t.policies {
		name, data, err := env.read(file)
		if err != nil {
			return nil, fmt.Errorf("--policy: %w", err)
		}
		set, err := config.ParsePolicy(name, data, t.period)
		if err != nil {
			return nil, err
		}
		all = append(all, backtest.Candidate{Name: name, Set: set})
	}
	for _, name := range t.presetNames() {
		set := config.DefaultPolicy(t.period)
		set.Default = policy.Presets()[name]
		all = append(all, backtest.Candidate{Name: name, Set: set})
	}
	for i := range all {
		g := &all[i].Set.Guards
		g.Period = t.period
		g.DropWithin = max(g.DropWithin, t.period)
	}
	return all, nil
}

// presetNames returns the presets to compare.
func (t *trial) presetNames() []string {
	if len(t.presets) == 0 && len(t.policies) == 0 && t.file == "" && t.repository == "" {
		return slices.Sorted(maps.Keys(policy.Presets()))
	}
	return t.presets
}
