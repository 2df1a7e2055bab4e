//go:build aws

package stack

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
)

// planOf returns the template in the section on ARC Region switch of the handbook.
func planOf(t *testing.T) string {
	t.Helper()
	const indent = "        "
	_, text, found := strings.Cut(docs.Text("restore"), "\n"+indent+"Resources:\n")
	if !found {
		t.Fatal("the page has no template")
	}
	template := "AWSTemplateFormatVersion: \"2010-09-09\"\nResources:\n"
	for line := range strings.Lines(text) {
		own, indented := strings.CutPrefix(line, indent)
		if !indented {
			break
		}
		template += own
	}
	return template
}

// The role of the plan may invoke exactly the functions of its step.
func TestThePlanOfTheHandbookIsValid(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "plan.yaml")
	write(t, file, planOf(t))
	for _, found := range lint(t, []string{file}) {
		t.Error(found)
	}
	resources := deploy(t, parse(t, "plan.yaml", planOf(t)), "plan", nil).resources()
	role, plan := resources["PlanRole"], resources["Plan"]
	if got := actions(role); !slices.Equal(got, []string{"lambda:GetFunction", "lambda:InvokeFunction"}) {
		t.Errorf("the role may do %v", got)
	}
	var invoked []any
	lambdas := at(plan, "Properties", "Workflows", 0, "Steps", 0, "ExecutionBlockConfiguration", "CustomActionLambdaConfig", "Lambdas")
	for _, one := range list(lambdas) {
		invoked = append(invoked, at(one, "Arn"))
	}
	granted := list(at(role, "Properties", "Policies", 0, "PolicyDocument", "Statement", 0, "Resource"))
	if len(invoked) != 2 || fmt.Sprint(invoked) != fmt.Sprint(granted) {
		t.Errorf("the step invokes %v, and the role may invoke %v", invoked, granted)
	}
}
