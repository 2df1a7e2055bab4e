package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func newTick(env Env) *cobra.Command {
	var f flags
	var dryRun bool
	var o output[report.Document]
	var gateway report.Pushgateway
	c := &cobra.Command{
		Use:   "tick",
		Short: "Sample the cluster once and commit level changes",
		Long: `"gitlatch tick" samples the cluster once and compares each workload with its
level in git. A level has an upper and a lower threshold. The command commits a
new level only after a stabilization window. During the whole window, the
replica count must stay above the upper threshold or below the lower one. A tick
makes one commit for all level changes.

If you use --repository instead of --config, the name of the site is "local".
The site "local" uses the current kubeconfig context. The state of the site
"local" is in a file in your cache folder. The first tick prints the path of the
state file.`,
		Example: "  gitlatch tick --dry-run -c prod-eu.yaml\n  gitlatch tick -c prod-eu.yaml",
		Args:    arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if gateway != "" && dryRun {
				return errors.New("specify only one of --pushgateway and --dry-run: a dry run writes nothing")
			}
			of, err := f.config()
			if err != nil {
				return err
			}
			return within(c.Context(), local.Lease(of), func(ctx context.Context) error {
				return f.tick(ctx, env, of, o, gateway, dryRun)
			})
		},
	}
	f.register(c, env)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "print the level changes and write nothing")
	o.register(c, report.Document.Table, nil)
	c.Flags().Var(&gateway, "pushgateway", "URL of the Prometheus Pushgateway that receives the metrics, such as http://pushgateway:9091")
	return c
}

func (f *flags) tick(ctx context.Context, env Env, c config.Config,
	form output[report.Document], gateway report.Pushgateway, dryRun bool) (err error) {
	_, absent := os.Stat(c.State.Bolt)
	first := f.file == "" && !dryRun && errors.Is(absent, fs.ErrNotExist)
	parts, err := openBy(ctx, env, opener(env, c, dryRun))
	var busy *bolt.BusyError
	if errors.As(err, &busy) && !dryRun {
		if err := hangs(busy, c.Period, env.Clock()); err != nil {
			return err
		}
		// This is not a failure: the other tick, or the next one, does the work.
		text := fmt.Sprintf("site %s: state %s is open in another gitlatch", c.Site, busy.Path)
		return form.write(env, report.New(tick.Report{Site: c.Site, Fleet: workload.Fleet{At: env.Clock().UTC()}, NotRun: text}))
	}
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	if first {
		fmt.Fprintf(env.Err, "site %s stores its state in %s. To choose another file, use --config FILE\n", c.Site, c.State.Bolt)
	}
	t := local.Tick(c, parts)
	t.DryRun = dryRun
	r, err := t.Run(ctx)
	if err != nil {
		return err
	}
	d := report.New(r)
	d.Build = env.Build.String()
	err = form.write(env, d)
	if gateway != "" && r.NotRun == "" { // the running tick pushes its own metrics
		err = errors.Join(err, gateway.Push(ctx, r, env.Clock()))
	}
	return found(err, r.Err())
}

// hangs returns an error if the process with the open state file has not written the file
// for three periods. Each tick writes the file, so that process hangs.
func hangs(busy *bolt.BusyError, period time.Duration, now time.Time) error {
	info, err := os.Stat(busy.Path)
	if err != nil {
		return errors.Join(busy, err)
	}
	if since := now.Sub(info.ModTime()); since > 3*period {
		return fmt.Errorf("%w. Its last write was %s ago, so the process that has it open hangs. Stop this process", busy, since.Round(time.Second))
	}
	return nil
}
