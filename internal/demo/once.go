package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/term"
)

// atOnce is the policy of a single look: what is seen once is committed.
const atOnce = `# The policy of a single look: one sample is enough. Everywhere else it takes two.
apiVersion: gitlatch.dev/v1alpha1
kind: Policy
mode: latch
default:
  hold: {up: 1}
  acceptRisk: true # nothing applies this repository
`

// Once looks once at a real cluster, which it only reads, and commits what it
// saw to a scratch repository in dir, or in a temporary folder where dir is "".
func Once(ctx context.Context, out io.Writer, cluster *rest.Config, dir string, style term.Style, clock func() time.Time) (err error) {
	if dir, err = emptyDir(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, "scratch.git")
	if err := os.WriteFile(configPath(dir), configFile("local", path, dir), 0o644); err != nil {
		return err
	}
	if err := createRepository(ctx, path, map[string]string{"gitlatch.yaml": atOnce}, clock()); err != nil {
		return fmt.Errorf("make repository %s: %w", path, err)
	}
	c, err := config.Default(path)
	if err != nil {
		return err
	}
	c.Repository.Branch = branch
	sampler, err := kube.New(cluster, kube.Options{Site: c.Site, Clock: clock})
	if err != nil {
		return err
	}
	repository, err := site.Git(c, func(string) string { return "" })
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repository.Close()) }()
	r, err := site.Tick(c, site.Parts{
		Sampler: sampler, Store: mem.New(), Repository: repository, Clock: clock, Owner: "demo",
	}).Run(ctx)
	if err != nil {
		return err
	}
	if err := report.New(r).Table(out, style); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "\nThe cluster was only read. What a tick would keep of it is in a repository to look into:\n  git -C %s log -p\n  git -C %[1]s show\n", path)
	return errors.Join(err, r.Err())
}
