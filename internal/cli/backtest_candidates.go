package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/grammar"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// grid is what a sweep varies.
type grid struct {
	sweep          bool
	series, rounds []string
	holds          []time.Duration
	margins        []float64
	parsed         backtest.Sweep
	anyButSweep    func() bool
}

func (g *grid) register(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&g.sweep, "sweep", false, "try a grid: each series, rounding, hold and margin with each other")
	f.StringSliceVar(&g.series, "series", nil, "with --sweep: series by name (default all: "+strings.Join(policy.SeriesNames(), ", ")+")")
	f.StringSliceVar(&g.rounds, "round", nil, "with --sweep: up, nearest, headroom (default up, nearest)")
	f.Var(grammar.Spans(&g.holds), "hold-down", "with --sweep: holds on the way down (default 0, 26h, 8d)")
	f.Var(grammar.Shares(&g.margins), "margin", "with --sweep: margins on the way down (default 0%, 10%, 15%)")
	offer(c, "series", policy.SeriesNames())
	g.anyButSweep = func() bool {
		return f.Changed("series") || f.Changed("round") || f.Changed("hold-down") || f.Changed("margin")
	}
}

// check reads what the sweep is asked to vary, and says what is wrong with it.
func (g *grid) check() error {
	if !g.sweep && g.anyButSweep() {
		return errors.New("--series, --round, --hold-down and --margin say what --sweep varies: add --sweep")
	}
	g.parsed = backtest.DefaultSweep()
	var wrong []error
	var series []policy.Series
	for _, name := range g.series {
		s, err := policy.ParseSeries(name)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--series: %w", err))
		}
		series = append(series, s)
	}
	if slices.Contains(g.margins, 1) {
		wrong = append(wrong, errors.New("--margin: must be below 100%"))
	}
	replace(&g.parsed.Series, series)
	replace(&g.parsed.Rounds, each.Of(g.rounds, func(name string) policy.Rounding { return policy.Rounding(name) }))
	replace(&g.parsed.HoldDown, g.holds)
	replace(&g.parsed.Margins, g.margins)
	if len(wrong) == 0 && len(g.parsed.Over(policy.DefaultSet())) == 0 {
		p := policy.DefaultSet().Default
		p.Series, p.Round, p.HoldDown, p.Margin = g.parsed.Series[0], g.parsed.Rounds[0], g.parsed.HoldDown[0], g.parsed.Margins[0]
		for _, problem := range p.Problems() {
			wrong = append(wrong, fmt.Errorf("--sweep: no policy of the grid is valid: %s: %s", problem.Field, problem.Text))
		}
	}
	return errors.Join(wrong...)
}

func replace[T any](into *[]T, by []T) {
	if len(by) > 0 {
		*into = by
	}
}

// candidates are the policies to try: the site's, those of files, the presets,
// then the grid over the first of them.
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
	if t.grid.sweep {
		base := config.DefaultPolicy(t.period)
		if len(all) > 0 {
			base = all[0].Set
		}
		all = append(all, t.grid.parsed.Over(base)...)
	}
	for i := range all {
		g := &all[i].Set.Guards
		g.Period, g.DropWithin = t.period, max(g.DropWithin, t.period)
	}
	return all, nil
}
