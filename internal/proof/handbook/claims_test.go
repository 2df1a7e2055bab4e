package handbook

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A refuted claim is a statement of a page that a fact contradicts.
type refuted struct {
	was    string         // a line that a page had, with the claim
	claim  *regexp.Regexp // matches each line with the claim
	unless []string       // phrases that make the claim true; nil if it is never true
	fact   string         // with its source
}

var refutedClaims = []refuted{
	{
		was:   "`gitlatch restore` raises what runs to what git declares; a rebuild whose manifests include the Components does not need it.",
		claim: regexp.MustCompile(`(?i)\brebuil[^.]*\b(?:not need|needs? no)\b[^.]*\b(?:restore|it\.)`),
		fact:  "autoscalers lower idle workloads after one scale-down window: TestARestoreAfterTheScaleDownWindow",
	},
	{
		was:    "| Slack or Teams, on AWS | Amazon Q Developer in chat applications, an `https` subscription of the topic | its custom notification 1.0: what begins, lasts and ends is one thread |",
		claim:  regexp.MustCompile(`\bAmazon Q\b.*\bthreads?\b`),
		unless: []string{"preferences"},
		fact:   "the preferences of a channel must allow threads: https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html",
	},
	{
		was:    "CloudFormation reads the list when you deploy, and puts it into the environment of the function.",
		claim:  regexp.MustCompile("puts it into the environment of the function"),
		unless: []string{"4 KB"},
		fact:   lambdaEnvironment,
	},
	{
		was:    "| `DemandParameter` | empty | The name of an SSM parameter that has the list of demand as JSON |",
		claim:  regexp.MustCompile("^\\| `DemandParameter` \\|"),
		unless: []string{"4 KB"},
		fact:   lambdaEnvironment,
	},
}

const lambdaEnvironment = "all variables of a function have 4 KB together: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"

// refutes reports whether a line makes the claim without its conditions.
func (r refuted) refutes(line string) bool {
	lacks := func(phrase string) bool { return !strings.Contains(line, phrase) }
	return r.claim.MatchString(line) && (r.unless == nil || slices.ContainsFunc(r.unless, lacks))
}

func TestNoPageMakesARefutedClaim(t *testing.T) {
	t.Parallel()
	for _, r := range refutedClaims {
		if !r.refutes(r.was) {
			t.Errorf("%s does not match the line that a page had: %s", r.claim, r.was)
		}
		stated := 0
		for file, text := range pages(t) {
			for line := range strings.Lines(text) {
				if r.refutes(line) {
					t.Errorf("%s has a refuted claim: %s%s", file, line, r.fact)
				}
				if r.claim.MatchString(line) {
					stated++
				}
			}
		}
		if r.unless != nil && stated == 0 {
			t.Errorf("no page has a line like %s", r.claim)
		}
	}
}

var rebuildStep = regexp.MustCompile(`(?m)^\d+\. (?:Rebuild |Create the new cluster)`)

// A rebuild comes up at its levels, and its autoscalers lower idle workloads after one
// scale-down window. So the steps after a rebuild lead to a restore.
func TestTheStepsAfterARebuildLeadToARestore(t *testing.T) {
	t.Parallel()
	steps := 0
	for file, text := range pages(t) {
		for _, at := range rebuildStep.FindAllStringIndex(text, -1) {
			steps++
			rest, _, _ := strings.Cut(text[at[1]:], "\n## ")
			if !strings.Contains(rest, "scale-down window") || !strings.Contains(rest, "](restore.md)") {
				t.Errorf("%s: after the step %q no step names a restore for traffic that comes after the scale-down window", file, text[at[0]:at[1]])
			}
		}
	}
	if steps < 2 {
		t.Errorf("found %d steps with a rebuild, want those of disaster and drill", steps)
	}
}
