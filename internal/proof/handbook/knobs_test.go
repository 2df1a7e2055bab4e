package handbook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/config"
)

// The sums of the surface only fall. A new command, flag or field replaces another one, or
// lowers another sum.
func TestTheSumsOfTheSurface(t *testing.T) {
	t.Parallel()
	commands, flags := surface(cli.Commands(cli.Env{Getenv: func(string) string { return "" }}))
	var paths []string
	for _, kind := range []string{config.KindConfig, config.KindPolicy, config.KindFleet} {
		paths = append(paths, schemaOf(t, kind).paths(kind)...)
	}
	for _, sum := range []struct {
		name string
		most int
		all  []string
	}{
		{"commands", 17, commands},
		{"flags", 30, flags},
		{"fields of Config, Policy and Fleet", 106, paths},
	} {
		t.Logf("%d %s: %s", len(sum.all), sum.name, strings.Join(sum.all, ", "))
		if len(sum.all) > sum.most {
			t.Errorf("%d %s, at most %d: remove one, or name the user who needs it and raise the limit", len(sum.all), sum.name, sum.most)
		}
	}
}

// surface returns the sorted names of all commands and of all flags below a command. A
// flag that several commands have counts once.
func surface(root *cobra.Command) (commands, flags []string) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		for _, below := range c.Commands() {
			commands = append(commands, strings.TrimPrefix(below.CommandPath(), "gitlatch "))
			walk(below)
		}
	}
	walk(root)
	slices.Sort(flags)
	slices.Sort(commands)
	return commands, slices.Compact(flags)
}

// paths returns the path of each field below a path.
func (s schema) paths(path string) (all []string) {
	if s.Items != nil {
		all = s.Items.paths(path + "[]")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at := path + "." + name
		all = append(append(all, at), s.Properties[name].paths(at)...)
	}
	return all
}
