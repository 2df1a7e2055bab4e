package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// Commands returns the tree of all commands, for generators and checks of the
// documentation.
func Commands(env Env) *cobra.Command {
	root := newRoot(env)
	root.InitDefaultHelpCmd()
	return root
}

// topics is the argument of help that lists the topics.
const topics = "topics"

func newHelp(env Env) *cobra.Command {
	return &cobra.Command{
		Use:   "help [topics | TOPIC | COMMAND]",
		Short: "Print a handbook topic or a command's help",
		Long: `"gitlatch help TOPIC" prints a topic of the handbook. "gitlatch help COMMAND"
prints the help for a command. If a topic and a command have the same name,
"gitlatch help" prints the topic. "gitlatch help topics" lists all topics.

"gitlatch COMMAND --help" always prints the help for a command.`,
		Example: `  # List the topics
  gitlatch help topics

  # Print how the levels reach a cluster
  gitlatch help apply`,
		ValidArgsFunction: func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return helpful(c.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			page := term.NewPage(tty.StyleFor(env.Out, env.Getenv))
			name := strings.Join(args, " ")
			of, rest, err := c.Root().Find(args)
			known := err == nil && len(rest) == 0
			if t, ok := docs.Find(name); ok {
				if t.Show(page); known {
					page.Line("\nFlags: %s --help", of.CommandPath())
				}
				return page.Print(env.Out)
			}
			if name == topics {
				index(page)
				return page.Print(env.Out)
			}
			if known {
				return of.Help()
			}
			also := ""
			if strings.Contains(docs.Text("concepts"), "\n| "+name+" |") {
				also = "gitlatch help concepts defines it, and "
			}
			like := near(name, helpful(c.Root()))
			if like == "" {
				like = ";"
			}
			return fmt.Errorf("no topic and no command is called %q%s %sgitlatch help topics lists all topics", name, like, also)
		},
	}
}

// helpful returns the arguments of help: topics and commands.
func helpful(root *cobra.Command) []string {
	names := append(lists.Map(docs.Topics(), func(t docs.Topic) string { return t.Name }), topics)
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// near returns a question with the names that are similar to name, or "" if no name is. A
// short name may differ in one letter, and a longer one in two.
func near(name string, names []string) string {
	asked := &cobra.Command{SuggestionsMinimumDistance: min(2, len(name)/2)}
	for _, n := range names {
		asked.AddCommand(&cobra.Command{Use: n, Run: func(*cobra.Command, []string) {}})
	}
	if like := asked.SuggestionsFor(name); len(like) > 0 {
		return ": did you mean " + strings.Join(lists.Map(like, strconv.Quote), " or ") + "?"
	}
	return ""
}

// index prints the topics of the handbook.
func index(p *term.Page) {
	p.Line("%s", p.Style.Heading("Topics of the handbook"))
	p.Say("", "To print a topic, run \"gitlatch help TOPIC\".")
	for _, g := range docs.Groups() {
		p.Line("")
		p.Line("%s", p.Style.Heading(g.Title))
		var lines term.Topics
		for _, t := range g.Topics {
			lines.Add("  "+t.Name, "%s", t.Title)
		}
		p.Topics(lines)
	}
}
