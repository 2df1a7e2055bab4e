package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/docs"
)

func TestHelpPrintsTopicsAndCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		want []string
	}{
		{"help topics", []string{"Topics of the handbook\n", "\nTrouble\n", "\n  alerts "}},
		{"help alerts", []string{"Alerts\n", "\nmass-drop\n", "  do: See to the outage."}},
		{"help drill", []string{"Drills\n", "gitlatch drill --config prod-eu.yaml\n"}},
		{"help tick", []string{"Usage:\n  gitlatch tick [flags]"}},
		{"help restore release", []string{"Usage:\n  gitlatch restore release [flags]"}},
		{"help", []string{"Usage:\n  gitlatch [command]", "gitlatch help topics"}},
	} {
		got := run(time.Time{}, strings.Fields(c.args)...)
		for _, want := range c.want {
			if got.status != 0 || got.err != "" || !strings.Contains(got.out, want) {
				t.Errorf("%s does not say %q: %+v", c.args, want, got)
			}
		}
	}
}

// What help does not know is no success: a script that asks for it must not go on.
func TestHelpOfWhatThereIsNot(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"help nonsense":        `no topic and no command is called "nonsense"; gitlatch help topics lists all topics`,
		"help alrets":          "did you mean alerts?",
		"help tikc":            "did you mean tick?",
		"help restore nowhere": `"restore nowhere"`,
		"help ../docs":         "no topic",
		"help --quickly":       "unknown flag: --quickly",
	} {
		if got := run(time.Time{}, strings.Fields(args)...); got.status != 2 || got.out != "" || !strings.Contains(got.err, want) {
			t.Errorf("%s does not say %q: %+v", args, want, got)
		}
	}
}

// A command and a topic may have one name: the topic then tells how to come to the
// flags.
func TestATopicOfACommandsNameLeadsToItsFlags(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"backtest", "drill", "restore", "hold"} {
		if docs.Text(command) == "" {
			t.Errorf("%s is no topic", command)
		}
		if got := run(time.Time{}, "help", command); !strings.Contains(got.out, "gitlatch "+command+" --help") {
			t.Errorf("help %s does not say where its flags are", command)
		}
	}
}
