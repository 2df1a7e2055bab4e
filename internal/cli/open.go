package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/site"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// flags are those by which every command that works on a site finds it.
type flags struct {
	env        Env
	file       string
	repository string
	site       string
	kubeconfig string
	context    string
}

// register adds those that lead to the site and to its cluster.
func (f *flags) register(c *cobra.Command, env Env) {
	f.registerSite(c, env)
	c.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig file (default as configured)")
	c.Flags().StringVar(&f.context, "context", "", "kubeconfig context (default as configured)")
}

// registerSite adds those that lead to the site: all that a command needs which
// does not look at the cluster.
func (f *flags) registerSite(c *cobra.Command, env Env) {
	f.env = env
	c.Flags().StringVarP(&f.file, "config", "c", "", "configuration file (default $"+config.Variable+")")
	c.Flags().StringVar(&f.repository, "repository", "", "repository URL or path, instead of --config")
	c.Flags().StringVar(&f.site, "site", "", "site of a fleet, or of --repository (default local)")
}

// config is what the flags say: the file with their overrides, or the defaults.
func (f *flags) config() (config.Config, error) {
	c, err := f.base()
	if err == nil && f.site != "" && f.repository == "" {
		c, err = f.member(c)
	}
	if err != nil {
		return config.Config{}, err
	}
	if f.kubeconfig != "" || f.context != "" {
		c.Cluster = config.Cluster{Kubeconfig: cmp.Or(f.kubeconfig, c.Cluster.Kubeconfig), Context: cmp.Or(f.context, c.Cluster.Context)}
	}
	return c, nil
}

func (f *flags) base() (config.Config, error) {
	held := f.env.Getenv(config.Variable)
	if f.file == "" && f.repository == "" && !strings.Contains(held, "\n") {
		f.file = held
	}
	switch {
	case f.repository != "" && f.file != "":
		return config.Config{}, errors.New("--repository: the file of --config names the repository; give one of the two")
	case f.repository != "":
		return f.byDefaults()
	case f.file != "":
		name, data, err := f.env.read(f.file)
		if err != nil {
			return config.Config{}, fmt.Errorf("--config: %w", err)
		}
		return config.ParseConfig(name, data)
	case held != "":
		return config.ParseConfig(config.Variable, []byte(held))
	}
	return config.Config{}, fmt.Errorf("which site? give --config FILE or set %s, or give --repository URL to run by the defaults", config.Variable)
}

// member is how the site of a fleet is run that --site names.
func (f *flags) member(of config.Config) (c config.Config, err error) {
	if of.Fleet == "" {
		return c, errors.New("--site: the file of --config names the site; give it with --repository")
	}
	err = within(context.Background(), longest, func(ctx context.Context) error {
		members, err := (&site.Roster{Opener: opener(f.env, of, true)}).Read(ctx)
		if err != nil {
			return err
		}
		for _, m := range members {
			if m.Site == f.site {
				c = of.Of(m)
				return nil
			}
		}
		return fmt.Errorf("--site: %s lists no site %s; gitlatch status lists those that it has", of.Fleet, f.site)
	})
	return c, err
}

func (f *flags) byDefaults() (config.Config, error) {
	c, err := config.Default(f.repository)
	if f.site != "" && !workload.ValidLabel(f.site) {
		err = errors.Join(err, fmt.Errorf("--site: must be a DNS label, got %q", f.site))
	}
	c.Site = cmp.Or(f.site, c.Site)
	return c, err
}

// read reads a file, - being the standard input, and returns what errors call it.
func (e Env) read(file string) (name string, data []byte, err error) {
	if file != "-" {
		data, err = os.ReadFile(file)
		return file, data, err
	}
	data, err = io.ReadAll(e.In)
	return "standard input", data, err
}

// open opens all parts of the site that the flags name.
func (f *flags) open(ctx context.Context, env Env, reading bool) (c config.Config, parts site.Parts, err error) {
	c, err = f.config()
	if err != nil {
		return c, parts, err
	}
	parts, err = openBy(ctx, env, opener(env, c, reading))
	return c, parts, err
}

// openBy opens all parts of a site for this run.
func openBy(ctx context.Context, env Env, from *site.Opener) (site.Parts, error) {
	parts, err := from.Open(ctx)
	parts.Owner = owner(env)
	return parts, err
}

// opener returns what opens the parts of a site. With reading a state file is
// not made where it is not there yet, and the repository is not written.
func opener(env Env, c config.Config, reading bool) *site.Opener {
	return &site.Opener{Config: c, Getenv: env.Getenv, Clock: env.Clock, ReadOnly: reading, Bolt: func(path string) (latch.Store, error) {
		return openFile(path, reading)
	}}
}

func openFile(path string, reading bool) (latch.Store, error) {
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
	return store, nil
}
