package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/page"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term/tty"
	"github.com/gitlatch/gitlatch/internal/units"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A trial contains the flags of backtest.
type trial struct {
	flags
	policies []string
	given    func(flag string) bool
	period   time.Duration
	workload string
	output   output[backtest.Report]
}

const (
	defaultPeriod = 5 * time.Minute
	maxPeriod     = 24 * time.Hour
)

func newBacktest(env Env) *cobra.Command {
	t := trial{}
	c := &cobra.Command{
		Use:   "backtest FILE...",
		Short: "Compare policies on past replica counts",
		Long: `"gitlatch backtest" applies policies to recorded replica counts, and makes the
same decisions as "gitlatch tick". The command writes nothing.

For each policy, the command prints the number of commits per day. The coverage
is the percentage of the needed pods that start in a rebuild from git. The table
shows the lowest coverage and the mean coverage. The table also shows how long
the coverage is below 95 %. The surplus is the number of additional pods in a
rebuild, as a percentage of the needed pods. For comparison, the first row shows
a job that commits all replica counts every hour.

FILE is a CSV file, or the response of a Prometheus server. To read from
standard input, specify "-" as FILE. If you specify several files, start with
the oldest.

A CSV file has the columns "time", "workload" and "replicas", and can have
others. Times are in RFC 3339 format or in Unix seconds. The name of a workload
has the form namespace/name or namespace/kind/name. If the value in the column
"replicas" is empty, the replica count is unknown. The command rounds fractional
replica counts up.

To get a response from Prometheus, send this query to the query_range endpoint:

  max by (namespace, deployment) (kube_deployment_spec_replicas)

The command ignores rollouts and gaps in the data. A gap is more than three
periods without a sample of the workload. The command assumes that all workloads
are autoscaled. If you select no policy, the command compares all presets.`,
		Example: `  # Compare all presets
  gitlatch backtest past.csv

  # Compare the policy on the branch with a new file
  gitlatch backtest past.csv -c prod-eu.yaml --policy gitlatch.yaml`,
		Args: arguments(cobra.MinimumNArgs(1), "one or more files of past replica counts"),
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
	f.Var((*units.Span)(&t.period), "period", "time between two simulated ticks (default: the period in --config; without --config, 5m or the sample interval, whichever is longer)")
	f.StringVar(&t.workload, "workload", "", "workload to show in the chart (default: the workload with the most replicas)")
	t.output.register(c, backtest.Report.Table, map[string]form[backtest.Report]{"html": inHTML(page.Backtest)})
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
	past := &backtest.Past{}
	for _, name := range files {
		if err := readPast(env, name, past, show); err != nil {
			return err
		}
	}
	if past.Samples() == 0 {
		return fmt.Errorf("%s: the data has no samples", strings.Join(files, ", "))
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
	report, err := backtest.Compare(ctx, past, candidates, drawn, show.Say)
	if err != nil {
		return fmt.Errorf("backtest: stopped: %w", err)
	}
	show.End()
	return t.output.write(env, report)
}

// readPast reads a file of past replica counts. The name "-" is the standard input.
func readPast(env Env, name string, past *backtest.Past, show *tty.Progress) (err error) {
	if name == "-" {
		return read.Source("standard input", env.In, past)
	}
	f, err := os.Open(name)
	if err != nil {
		return unopened(err)
	}
	defer closed(&err, f)
	show.Say("reading %s", name)
	return read.Source(name, f, past)
}

// check returns the errors in the flags, before any file is read.
func (t *trial) check() error {
	var wrong wrongs
	wrong.unless(!t.given("period") || t.period > 0 && t.period <= maxPeriod && t.period%time.Second == 0, "--period: must be a multiple of 1s, above 0 and at most %s, got %s", policy.Span(maxPeriod), t.period)
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
	return past.Largest(), nil
}

// settlePeriod sets the period from the flag, the configuration or the interval of the
// samples.
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

// presetNames returns the presets to compare, the default one first; none if the user
// selects a policy.
func (t *trial) presetNames() []string {
	if len(t.policies) > 0 || t.file != "" || t.repository != "" {
		return nil
	}
	names := policy.PresetNames()
	slices.Reverse(names)
	return names
}
