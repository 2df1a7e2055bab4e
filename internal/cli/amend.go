package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/each"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newAdopt(env Env) *cobra.Command {
	var f flags
	c := &cobra.Command{
		Use:   "adopt [namespace/name ...]",
		Short: "Accept the cluster as the site's own, or ask workloads back in",
		Long: `Without arguments: accepts the cluster that the context leads to as the site's
own, after a rebuild, so that levels may be lowered again; and acknowledges a
mass drop that the fleet will not recover from.

With workloads: latches them again after their entry was deleted, and ends the
time for which gitlatch leaves their entry alone.`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return f.adopt(ctx, env, args) }),
	}
	f.register(c)
	return c
}

func (f *flags) adopt(ctx context.Context, env Env, args []string) (err error) {
	o, err := f.open(env, false)
	if err != nil {
		return err
	}
	defer closed(&err, o)
	if len(args) > 0 {
		ids, err := o.find(ctx, args)
		if err != nil {
			return err
		}
		if err := o.amend(ctx, tick.Amendment{Latch: true, Workloads: ids}); err != nil {
			return err
		}
		for _, id := range ids {
			fmt.Fprintf(env.Out, "%s is latched from the next tick on\n", id)
		}
		return nil
	}
	fleet, err := o.parts.Sampler.Sample(ctx)
	if err != nil {
		return err
	}
	if fleet.Cluster == "" {
		return errors.New("adopt: the UID of namespace kube-system could not be read, so there is nothing to tell this cluster by")
	}
	if err := o.amend(ctx, tick.Amendment{Cluster: fleet.Cluster, Acknowledge: true}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Out, "cluster %s is now that of site %s\n", fleet.Cluster, o.config.Site)
	return err
}

func newHold(env Env) *cobra.Command {
	var f flags
	var until string
	c := &cobra.Command{
		Use:   "hold [namespace/name ...] --until TIME",
		Short: "Leave the site, or some workloads, alone until a time",
		Long: `Holds the whole site, or only the workloads named: their timers stand still, and
nothing of them is committed. --until now ends a hold.`,
		RunE: timed(longest, func(ctx context.Context, args []string) error { return f.hold(ctx, env, until, args) }),
	}
	f.register(c)
	c.Flags().StringVar(&until, "until", "", "a time to come as 2026-03-02T18:00:00Z, or a span from now as 3h; now ends a hold")
	return c
}

func (f *flags) hold(ctx context.Context, env Env, until string, args []string) (err error) {
	at, err := instant(until, env.Clock())
	if err != nil {
		return err
	}
	o, err := f.open(env, false)
	if err != nil {
		return err
	}
	defer closed(&err, o)
	a := tick.Amendment{HoldUntil: at}
	if a.Workloads, err = o.find(ctx, args); err != nil {
		return err
	}
	if err := o.amend(ctx, a); err != nil {
		return err
	}
	held := []string{"site " + o.config.Site}
	if len(args) > 0 {
		held = each.Of(a.Workloads, workload.ID.String)
	}
	what := "held until " + at.UTC().Format(time.RFC3339)
	if !at.After(env.Clock()) {
		what = "no longer held"
	}
	for _, one := range held {
		fmt.Fprintf(env.Out, "%s: %s\n", one, what)
	}
	return nil
}

// instant reads a time to come, or a span from now. What has passed is none, since
// a typo must not end a hold; the word now does.
func instant(text string, now time.Time) (time.Time, error) {
	const want = "a time to come as 2026-03-02T18:00:00Z, a span from now as 3h, or now to end a hold"
	switch text {
	case "":
		return time.Time{}, errors.New("--until: say until when: " + want)
	case "now":
		return now, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if span, not := time.ParseDuration(text); not == nil {
		at, err = now.Add(span), nil
	}
	if err != nil || !at.After(now) {
		return time.Time{}, fmt.Errorf("--until: must be %s; got %q", want, text)
	}
	return at, nil
}

// find returns the workloads that a person names among the site's latches.
func (o *opened) find(ctx context.Context, names []string) ([]workload.ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	_, latches, err := o.parts.Store.Load(ctx, o.config.Site)
	if err != nil {
		return nil, err
	}
	if len(latches) == 0 {
		return nil, fmt.Errorf("site %s: its state knows no workloads yet; run gitlatch tick first", o.config.Site)
	}
	return findAll(names, each.Of(latches, func(l latch.Latch) workload.ID { return l.ID }))
}

func (o *opened) amend(ctx context.Context, a tick.Amendment) error {
	return tick.Amend(ctx, o.parts.Store, o.config.Site, o.parts.Owner, o.parts.Clock(), site.Lease(o.config), a)
}
