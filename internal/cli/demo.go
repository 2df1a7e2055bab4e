package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/demo"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// The values of --cluster.
const (
	simulated = "simulated"
	live      = "real"
)

// A showing contains the flags of demo.
type showing struct {
	drilling // of the real cluster
	cluster  string
	dir      string
}

func newDemo(env Env) *cobra.Command {
	d := showing{drilling: drilling{minCoverage: open.MinCoverage}}
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show the effect of gitlatch on a simulated or real cluster",
		Long: `"gitlatch demo" runs the gitlatch engine on one day of simulated data, and
prints the result. The command stores its state file and a bare git repository
in a temporary folder.

With "--cluster real", the command reads your current cluster once, and predicts
a rebuild of this cluster from git, with and without checkpoints. The prediction
uses the same model as "gitlatch drill". The command writes nothing to the
cluster, to git, or to a state file. The command needs the permissions in
infra/rbac/doctor. Without --repository or --config, the command cannot know the
replicas in your manifests, and predicts only the rebuild with checkpoints.`,
		Example: `  # Replay the simulated day
  gitlatch demo

  # Predict a rebuild of the current cluster from a clone of its repository
  gitlatch demo --cluster real --repository fleet.git`,
		Args: arguments(cobra.NoArgs, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := d.check(); err != nil {
				return err
			}
			if d.cluster == live {
				return within(c.Context(), longest+drillWait, func(ctx context.Context) error { return d.real(ctx, env) })
			}
			return demo.Run(c.Context(), demo.Options{Out: env.Out, Err: env.Err, Getenv: env.Getenv, Dir: d.dir})
		},
	}
	d.register(c, env)
	c.Flags().StringVar(&d.cluster, "cluster", simulated, "cluster to show: simulated, or real for your current cluster")
	offer(c, "cluster", []string{simulated, live})
	c.Flags().StringVar(&d.dir, "dir", "", "empty folder for the git repository and the state file of the simulated day (default a temporary folder)")
	return c
}

// check returns the errors in the flags.
func (d *showing) check() error {
	var wrong wrongs
	wrong.unless(slices.Contains([]string{simulated, live}, d.cluster), "--cluster: must be simulated or real, got %q", d.cluster)
	ofLive := cmp.Or(d.file, d.repository, d.site, d.kubeconfig, d.context) != ""
	wrong.unless(d.cluster != simulated || !ofLive, "the flags of a repository or a cluster require --cluster real")
	wrong.unless(d.cluster != live || d.dir == "", "--dir requires --cluster simulated")
	return errors.Join(wrong...)
}

// real predicts the rebuild of the live cluster. Without a repository, it uses an empty
// repository in a temporary folder.
func (d *showing) real(ctx context.Context, env Env) (err error) {
	if cmp.Or(d.file, d.repository, env.Getenv(config.Variable)) == "" {
		dir, err := os.MkdirTemp("", "gitlatch-demo-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		d.repository, err = demo.Empty(ctx, dir, env.Clock())
		if err != nil {
			return err
		}
	}
	r, parts, err := d.prepare(ctx, env)
	if err != nil {
		return err
	}
	defer closed(&err, parts)
	loss, err := r.Foresee(ctx)
	if err != nil {
		return fmt.Errorf("predict a rebuild: %w", err)
	}
	return loss.Print(env.Out, tty.StyleFor(env.Out, env.Getenv))
}
