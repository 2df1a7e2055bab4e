package handbook

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/docs"
)

var (
	// inCode matches a line of code that starts with the command.
	inCode = regexp.MustCompile(`(?m)^\s{4,}(?:\$ )?(?:bin/)?(gitlatch .*)$`)
	// inText matches the command in a sentence.
	inText = regexp.MustCompile("`(gitlatch [^`]+)`")
	// ends matches the part of a line after the command, such as a pipe.
	ends = regexp.MustCompile(`\s+\\?(#|\||>|&&|;).*$`)
)

// Each command on a page parses.
func TestCommandsOfPagesParse(t *testing.T) {
	t.Parallel()
	seen := 0
	for file, text := range pages(t) {
		for _, m := range inCode.FindAllStringSubmatch(text, -1) {
			seen++
			if err := takes(m[1], true); err != nil {
				t.Errorf("%s contains %q: %v", file, m[1], err)
			}
		}
		for _, m := range inText.FindAllStringSubmatch(text, -1) {
			seen++
			if err := takes(m[1], false); err != nil {
				t.Errorf("%s contains %q: %v", file, m[1], err)
			}
		}
	}
	if seen < 50 {
		t.Errorf("found %d commands", seen)
	}
}

// takes returns an error if the command does not accept the line. In a sentence, a
// command may appear without its arguments.
func takes(line string, whole bool) error {
	line = ends.ReplaceAllString(line, "")
	line = strings.NewReplacer("TOPIC", "concepts", "COMMAND", "tick", "FILE", "file.yaml", `"`, "").Replace(line)
	words := strings.Fields(line)[1:]
	c, args, err := cli.Commands(cli.Env{Getenv: func(string) string { return "" }}).Find(words)
	if err != nil {
		return err
	}
	if c.Name() == "help" {
		name := strings.Join(args, " ")
		if _, ok := docs.Find(name); !ok && name != "topics" && name != "" {
			return fmt.Errorf("topic %q does not exist", name)
		}
		return nil
	}
	if strings.Join(args, "") == "--help" || len(args) == 0 && !whole {
		return nil
	}
	if err := c.ParseFlags(args); err != nil {
		return err
	}
	if !c.Runnable() {
		return fmt.Errorf("%s needs a subcommand", c.CommandPath())
	}
	if c.Args == nil || !whole && len(c.Flags().Args()) == 0 {
		return nil
	}
	return c.Args(c, c.Flags().Args())
}

func TestAnInvalidCommandIsFound(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"gitlatch tock", "gitlatch tick --config a --quickly", "gitlatch explain", "gitlatch help nothing"} {
		if takes(line, true) == nil {
			t.Errorf("takes %s", line)
		}
	}
}
