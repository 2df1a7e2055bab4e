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
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/bolt"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// flags are the flags of every command that works on a site.
type flags struct {
	env        Env
	file       string
	repository string
	site       string
	kubeconfig string
	context    string
}

// register adds the flags that select the site and its cluster.
func (f *flags) register(c *cobra.Command, env Env) {
	f.registerSite(c, env)
	common := c.PersistentFlags()
	common.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig `file` (default from configuration)")
	common.StringVar(&f.context, "context", "", "kubeconfig context `name` (default from configuration)")
}

// registerSite adds the flags that select the site, for a command that reads no cluster.
// They are persistent flags, which help lists separately as common flags.
func (f *flags) registerSite(c *cobra.Command, env Env) {
	f.env = env
	common := c.PersistentFlags()
	common.StringVarP(&f.file, "config", "c", "", "config `file`, or - for stdin (default $"+config.Variable+")")
	common.StringVar(&f.repository, "repository", "", "git repository `URL` or path to use instead of --config")
	common.StringVar(&f.site, "site", "", "`name` of the site, if you use --repository or a fleet")
}

// config returns the configuration that the flags select, with the changes by other
// flags.
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
		return config.Config{}, errors.New("specify only one of --repository and --config: the configuration names the repository")
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
	return config.Config{}, fmt.Errorf("no site given. Use --config FILE, set %s, or use --repository URL with the defaults", config.Variable)
}

// member returns the configuration of the fleet's site that --site names.
func (f *flags) member(of config.Config) (c config.Config, err error) {
	if of.Fleet == "" {
		return c, errors.New("--site requires --repository or the configuration of a fleet. This configuration names its own site")
	}
	err = within(context.Background(), longest, func(ctx context.Context) error {
		members, err := (&wiring.Roster{Opener: opener(f.env, of, true)}).Read(ctx)
		if err != nil {
			return err
		}
		m, listed := lists.First(members, func(m config.Member) bool { return m.Site == f.site })
		if !listed {
			return fmt.Errorf("--site: %s has no site %s. To list the sites, run \"gitlatch status\"", of.Fleet, f.site)
		}
		c = of.Of(m)
		return nil
	})
	return c, err
}

func (f *flags) byDefaults() (config.Config, error) {
	c, err := config.Default(f.repository)
	if f.site != "" && !workload.ValidLabel(f.site) {
		err = errors.Join(err, fmt.Errorf("--site: must be a DNS label, got %q", f.site))
	}
	if reserved := config.WrongSite(f.site); reserved != nil {
		err = errors.Join(err, fmt.Errorf("--site: %w", reserved))
	}
	c.Site = cmp.Or(f.site, c.Site)
	return c, err
}

// read reads a file, and returns its name for errors. The file "-" is the standard input.
func (e Env) read(file string) (name string, data []byte, err error) {
	if file != "-" {
		data, err = os.ReadFile(file)
		return file, data, unopened(err)
	}
	data, err = io.ReadAll(e.In)
	return "standard input", data, err
}

// unopened returns the error of opening a path of a user, without the name of the system
// call.
func unopened(err error) error {
	if of, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w. Give the path of an existing file or folder", of.Path, of.Err)
	}
	return err
}

// open opens all parts of the site that the flags select.
func (f *flags) open(ctx context.Context, env Env, reading bool) (c config.Config, parts local.Parts, err error) {
	c, err = f.config()
	if err != nil {
		return c, parts, err
	}
	parts, err = openBy(ctx, env, opener(env, c, reading))
	return c, parts, err
}

// openBy opens all parts of a site, with this run as the owner of the lease.
func openBy(ctx context.Context, env Env, from *wiring.Opener) (local.Parts, error) {
	parts, err := from.Open(ctx)
	parts.Owner = owner(env)
	return parts, err
}

// opener returns an opener of the parts of a site. If reading is true, it creates no
// state file and does not write to the repository.
func opener(env Env, c config.Config, reading bool) *wiring.Opener {
	return &wiring.Opener{Config: c, Getenv: env.Getenv, Clock: env.Clock, ReadOnly: reading, Bolt: func(path string) (latch.Store, error) {
		return openFile(path, reading)
	}}
}

func openFile(path string, reading bool) (latch.Store, error) {
	if _, err := os.Stat(path); reading && errors.Is(err, fs.ErrNotExist) {
		return mem.New(), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		cause := err
		if of, ok := errors.AsType[*fs.PathError](err); ok {
			cause = fmt.Errorf("%s: %w", of.Path, of.Err)
		}
		return nil, fmt.Errorf("state.bolt: cannot create the folder of the state file: %w. Set state.bolt in the configuration to a path that this user can write to", cause)
	}
	store, err := bolt.Open(path)
	if err != nil {
		return nil, err
	}
	return store, nil
}

// registerAWS adds the flag of the commands that compare a rebuild with an AWS account.
func registerAWS(c *cobra.Command, aws *bool) {
	c.Flags().BoolVar(aws, "aws", false, "also compare a rebuild with the quotas, subnets and node groups of the AWS account")
}

// accountOf opens the account that --aws reads; nil without the flag.
func accountOf(ctx context.Context, from *wiring.Opener, wanted bool) (doctor.Account, error) {
	if !wanted {
		return nil, nil
	}
	found, err := open.Account(ctx, from)
	if err == nil && found == nil {
		err = errors.New("--aws: the configuration names no EKS cluster. Set cluster.eks, or standby.eks for another cluster than the site's")
	}
	return found, err
}
