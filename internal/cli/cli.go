// Package cli implements the command line of gitlatch: the subcommands, their flags and
// their output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// Env is the environment of a command.
type Env struct {
	In       io.Reader
	Out, Err io.Writer // Out may be a terminal
	Getenv   func(string) string
	Clock    func() time.Time
	Build    build.Info
}

// Run runs the command with its arguments, and returns the exit status: 0 on success, 1
// if the command found something that a user should check, or 2 if the command could not
// do its work.
func Run(env Env, args []string) int {
	root := newRoot(env)
	root.SetArgs(args)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	return end(env, root.ExecuteContext(context.Background()))
}

// groups are the groups of commands in the help.
var groups = []struct {
	title    string
	commands []func(Env) *cobra.Command
}{
	{"Get started", []func(Env) *cobra.Command{newPreview, newDemo, newInit, newValidate, newDoctor, newBacktest}},
	{"Daily use", []func(Env) *cobra.Command{newTick, newStatus, newExplain, newDiff, newLog, newPause, newAdopt}},
	{"Before and after a rebuild", []func(Env) *cobra.Command{newDrill, newRestore}},
}

func newRoot(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "gitlatch",
		Short: "Write rounded live replica counts to git",
		Long: `gitlatch rounds the replica counts of live workloads to a few levels, and writes
these levels to git. If you rebuild a cluster from git, the new cluster starts
with enough replicas for the current traffic. gitlatch commits only when a level
changes.

A command reads the configuration of a site from --config FILE, or from the
environment variable GITLATCH_CONFIG. GITLATCH_CONFIG contains the path or the
content of the configuration file. To read the configuration from standard
input, use --config -.

Every command exits with one of these statuses:
  0  The command found no problem.
  1  The command completed its work and found a problem that you should check.
  2  The command could not complete its work.

To list the topics of the handbook, run "gitlatch help topics".`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },

		DisableFlagsInUseLine: true,
		// A release contains the completion scripts, see scripts/completions.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, of := range g.commands {
			c := of(env)
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	root.AddCommand(newVersion(env))
	root.SetHelpCommand(newHelp(env))
	refuseEmpty(root)
	root.SetUsageFunc(usage)
	describeHelp(root)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		if !c.HasParent() && c.Flags().NArg() > 0 {
			return noCommand(c, c.Flags().Args())
		}
		var flags []string
		c.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
		like := ""
		if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
			like = near("--"+unknown.GetSpecifiedName(), flags)
		}
		return fmt.Errorf("%w%s", err, seeHelp(like, c))
	})
	return root
}

// describeHelp describes the flag --help of all commands.
func describeHelp(c *cobra.Command) {
	c.InitDefaultHelpFlag()
	c.Flags().Lookup("help").Usage = "print the help for this command"
	for _, sub := range c.Commands() {
		describeHelp(sub)
	}
}

// usage prints the usage of a command, with its own flags and the common flags in separate
// lists, wrapped for a narrow terminal. It does not change the template of cobra: with a
// template, the linker would keep each exported method of the binary, 28 MB more.
func usage(c *cobra.Command) error {
	lines := []string{"Usage:"}
	if c.Runnable() {
		lines = append(lines, "  "+c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		lines = append(lines, "  "+c.CommandPath()+" [command]")
	}
	add := func(title, text string) {
		if text != "" {
			lines = append(lines, "", title, strings.TrimRight(text, " \n"))
		}
	}
	add("Examples:", c.Example)
	for _, g := range c.Groups() {
		add(g.Title, commands(c, g.ID))
	}
	add("Additional Commands:", commands(c, ""))
	add("Flags:", c.LocalNonPersistentFlags().FlagUsagesWrapped(term.Narrow))
	add("Common Flags:", c.PersistentFlags().FlagUsages())
	add("Common Flags:", c.InheritedFlags().FlagUsages())
	if c.HasAvailableSubCommands() {
		lines = append(lines, "", fmt.Sprintf("Use \"%s [command] --help\" for more information about a command.", c.CommandPath()))
	}
	_, err := fmt.Fprintln(c.OutOrStderr(), strings.Join(lines, "\n"))
	return err
}

// commands lists the commands of a group.
func commands(c *cobra.Command, group string) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.GroupID == group && (sub.IsAvailableCommand() || sub.Name() == "help") {
			fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	return b.String()
}

// noCommand returns an error for an argument of the root command, which is the name of
// a command that does not exist.
func noCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := lists.Map(root.Commands(), (*cobra.Command).Name)
	return fmt.Errorf("unknown command %q%s", args[0], seeHelp(near(args[0], names), root))
}

// seeHelp returns the end of an error about an unknown word: similar words, if there are
// any, and the help of the command.
func seeHelp(like string, c *cobra.Command) string {
	if like == "" {
		return fmt.Sprintf("; see \"%s --help\"", c.CommandPath())
	}
	return fmt.Sprintf("%s See \"%s --help\"", like, c.CommandPath())
}

// arguments adds the expected arguments to the error of a cobra check.
func arguments(check cobra.PositionalArgs, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check(c, args) != nil {
			got := "nothing"
			if len(args) > 0 {
				got = strings.Join(args, " ")
			}
			_, name, _ := strings.Cut(c.CommandPath(), " ")
			return fmt.Errorf("%s requires %s, got %s. See \"%s --help\"", name, want, got, c.CommandPath())
		}
		return nil
	}
}

// owner returns a name for this run as the owner of a lease.
func owner(env Env) string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return wiring.Owner(fmt.Sprintf("gitlatch on %s, process %d, %s", host, os.Getpid(), env.Clock().UTC().Format(time.RFC3339)))
}

// wrongs are the errors in the flags of a command.
type wrongs []error

// unless adds an error if ok is false.
func (w *wrongs) unless(ok bool, format string, args ...any) {
	if !ok {
		*w = append(*w, fmt.Errorf(format, args...))
	}
}

// closed closes c and joins its error to *err.
func closed(err *error, c io.Closer) { *err = errors.Join(*err, c.Close()) }
