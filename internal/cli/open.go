package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/kube/kubeconfig"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// flags are those by which every command that works on a site finds it.
type flags struct {
	file       string
	repository string
	kubeconfig string
	context    string
}

func (f *flags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "config", "", "file of kind Config that says how the site is run")
	c.Flags().StringVar(&f.repository, "repository", "", "without --config: URL or path of the git repository")
	c.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file, instead of the configured one")
	c.Flags().StringVar(&f.context, "context", "", "context of the kubeconfig, instead of the configured one")
}

// config is what the flags say: the file with their overrides, or the defaults.
func (f *flags) config() (config.Config, error) {
	c, err := f.base()
	if err != nil {
		return config.Config{}, err
	}
	if f.kubeconfig != "" {
		c.Cluster.Kubeconfig = f.kubeconfig
	}
	if f.context != "" {
		c.Cluster.Context = f.context
	}
	return c, nil
}

func (f *flags) base() (config.Config, error) {
	switch {
	case f.file != "" && f.repository != "":
		return config.Config{}, errors.New("--repository: the file of --config names the repository; give one of the two")
	case f.file != "":
		data, err := os.ReadFile(f.file)
		if err != nil {
			return config.Config{}, fmt.Errorf("--config: %w", err)
		}
		return config.ParseConfig(f.file, data)
	case f.repository != "":
		return config.Default(f.repository)
	}
	return config.Config{}, errors.New("which site? give --config FILE, or --repository URL to run by the defaults")
}

// opened is a site whose parts are open. Close gives them back.
type opened struct {
	config config.Config
	parts  site.Parts
	close  []io.Closer
}

// Close closes what was opened.
func (o *opened) Close() error {
	var err error
	for _, c := range o.close {
		err = errors.Join(err, c.Close())
	}
	return err
}

func (o *opened) tick() *tick.Tick { return site.Tick(o.config, o.parts) }

// open opens all parts of a site. With reading the state file is not made where
// it is not there yet.
func (f *flags) open(env Env, reading bool) (*opened, error) {
	c, err := f.config()
	if err != nil {
		return nil, err
	}
	o := &opened{config: c, parts: site.Parts{Clock: env.Clock, Owner: owner(env)}}
	if err := o.open(env, reading); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *opened) open(env Env, reading bool) error {
	c := o.config
	cluster, err := loadCluster(kubeconfig.Choice{Path: c.Cluster.Kubeconfig, Context: c.Cluster.Context})
	if err != nil {
		return err
	}
	if o.parts.Sampler, err = kube.New(cluster, kube.Options{Site: c.Site, Clock: env.Clock}); err != nil {
		return err
	}
	if o.parts.Store, err = o.openStore(reading); err != nil {
		return err
	}
	repository, err := openRepository(env, c)
	if err != nil {
		return err
	}
	o.parts.Repository, o.close = repository, append(o.close, repository)
	return nil
}

func loadCluster(c kubeconfig.Choice) (*rest.Config, error) {
	config, err := kubeconfig.Load(c)
	if err != nil {
		return nil, fmt.Errorf("%w; choose a cluster with --kubeconfig and --context, or set KUBECONFIG", err)
	}
	return config, nil
}

func openRepository(env Env, c config.Config) (*gitwire.Repository, error) {
	r, err := site.Repository(c, env.Getenv)
	if err != nil {
		return nil, fmt.Errorf("open the repository of site %s: %w", c.Site, err)
	}
	return r, nil
}

func (o *opened) openStore(reading bool) (latch.Store, error) {
	path := o.config.State.Bolt
	if path == "" {
		return mem.New(), nil
	}
	if _, err := os.Stat(path); reading && errors.Is(err, fs.ErrNotExist) {
		return mem.New(), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the state file: %w", err)
	}
	store, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	o.close = append(o.close, store)
	return store, nil
}
