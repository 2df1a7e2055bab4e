package stack

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
)

// manifestsCommand prints the rights of the function and the objects for Flux, on the page of
// AWS.
const manifestsCommand = "(kubectl kustomize infra/rbac && echo --- && gitlatch init -o flux -c prod-eu.yaml) >gitlatch-prod-eu.yaml"

// A step is a command of a recipe, with a user's answers to its questions.
type step struct {
	command string
	answers map[string]string // by the text before the answer
}

// recipe returns the commands in a section of a handbook topic: the lines that start with $,
// each with the answers in the lines below it.
func recipe(topic, heading string) (steps []step) {
	_, section, _ := strings.Cut(docs.Text(topic), "\n"+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	section = regexp.MustCompile(`\\\n\s+`).ReplaceAllString(section, "") // a command of several lines
	for line := range strings.Lines(section) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if command, is := strings.CutPrefix(line, "$ "); indented && is {
			steps = append(steps, step{command, map[string]string{}})
		} else if asked := question.FindStringSubmatch(line); indented && asked != nil && len(steps) > 0 {
			steps[len(steps)-1].answers[asked[1]] = asked[2]
		}
	}
	return steps
}

// The page of AWS has at most ten steps, and each is one command or one approval. Before the
// first tick, the group of the access entry has its rights.
func TestThePageOfAWSHasTenStepsInOrder(t *testing.T) {
	t.Parallel()
	steps := regexp.MustCompile(`\n### \d+\. `).Split(docs.Text("aws"), -1)[1:]
	for i, text := range steps {
		text, _, _ = strings.Cut(text, "\n## ")
		commands, approvals := strings.Count(text, "\n    $ "), strings.Count(text, "\n- **Approval**: ")
		if signs := strings.Count(text, "\n- **Expected result**: "); commands+approvals != 1 || signs != 1 {
			t.Errorf("step %d has %d commands, %d approvals and %d signs", i+1, commands, approvals, signs)
		}
	}
	if len(steps) > 10 {
		t.Errorf("the page has %d steps", len(steps))
	}
	last := -1
	for _, command := range []string{"gitlatch init --aws", manifestsCommand, "gitlatch doctor -c prod-eu.yaml", deployCommand} {
		at := slices.IndexFunc(recipe("aws", "## From nothing to the first drill"), func(s step) bool { return s.command == command })
		if at <= last {
			t.Errorf("%s is step %d, and the step before it is %d", command, at, last)
		}
		last = at
	}
}

// question matches a question of SAM, with the answer for Enter in brackets.
var question = regexp.MustCompile(`^\s*(\S[^\n]* \[[^\n]*\]:) ?([^\n]*)$`)

// deployCommand is the deployment on the page of AWS.
const deployCommand = "sam build && sam deploy"
