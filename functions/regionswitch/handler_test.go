package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const document = `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {kubeconfig: /nowhere/kubeconfig}
state: {memory: {}}
repository: {url: "https://git.example.com/site.git"}
`

func handlerOf(document, action, namespaces string) (*handler, error) {
	environment := map[string]string{config.Variable: document, actionVariable: action, namespacesVariable: namespaces}
	return newHandler(func(name string) string { return environment[name] }, time.Now, zerolog.Nop())
}

func TestTheEnvironmentIsChecked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, action, namespaces, want string }{
		"no configuration":           {"", "restore", "", "GITLATCH_CONFIG must contain a document of kind Config"},
		"no action":                  {document, "", "", `GITLATCH_ACTION must be "restore" or "release", got ""`},
		"an unknown action":          {document, "adopt", "", `got "adopt"`},
		"an invalid namespace":       {document, "restore", "shop,shop/web", `GITLATCH_NAMESPACES: "shop/web" is not a namespace name`},
		"a release of one namespace": {document, "release", "shop", "GITLATCH_NAMESPACES: a release covers all workloads of the site"},
	} {
		if _, err := handlerOf(c.document, c.action, c.namespaces); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	h, err := handlerOf(document, "restore", "shop,pay")
	if err != nil || strings.Join(h.order.Namespaces, " ") != "shop pay" {
		t.Errorf("%+v %v", h, err)
	}
}

func TestOnlyAnEventOfARegionSwitchPlanIsAccepted(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]string{
		// Valid events, which fail later because the cluster does not exist.
		`{"InvokedBy": "arc-region-switch", "PlanArn": "arn:aws:arc-region-switch::123456789012:plan/shop:a1b2c3", "ExecutionId": "e", "StepName": "s"}`: "kubeconfig /nowhere/kubeconfig",
		`{"InvokedBy": {"service": "arc"}, "PlanArn": "p", "ExecutionId": "e"}`:                                                                          "kubeconfig /nowhere/kubeconfig",
		// Other events.
		``:                      "PlanArn and ExecutionId are required",
		`null`:                  "PlanArn and ExecutionId are required",
		`{}`:                    "PlanArn and ExecutionId are required",
		`{"PlanArn": "p"}`:      "PlanArn and ExecutionId are required",
		`{"ExecutionId": "e"}`:  "PlanArn and ExecutionId are required",
		`{"dryrun": true}`:      `unknown field "dryrun"; want the fields InvokedBy, PlanArn, ExecutionId and StepName`,
		`{"key1": "value1"}`:    `unknown field "key1"`,
		`{"action": "restore"}`: `unknown field "action"`,
		`"restore"`:             "cannot unmarshal string",
		`{"PlanArn": "p", "ExecutionId": "e", "action": "release"}`: `unknown field "action"`,
	} {
		for _, action := range []string{"restore", "release"} {
			h, err := handlerOf(document, action, "")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.handle(t.Context(), json.RawMessage(payload)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, want %s", action, payload, err, want)
			}
		}
	}
}

// ARC repeats a step only after an error. A reason that lasts must not make it wait.
func TestAStepSucceedsWhenNothingIsLeftToWaitFor(t *testing.T) {
	t.Parallel()
	id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	left := func(reason plan.Reason) restore.Report {
		return restore.Report{Plan: plan.Plan{Left: []plan.Left{{ID: id, Reason: reason, Text: "text"}}}}
	}
	for name, c := range map[string]struct {
		report restore.Report
		want   string // "" if the step succeeds
	}{
		"complete":       {restore.Report{}, ""},
		"suspended":      {left(plan.Suspended), ""},
		"opted out":      {left(plan.OptedOut), ""},
		"being deleted":  {left(plan.Terminating), ""},
		"at its maximum": {left(plan.AtMax), ""},
		"absent":         {left(plan.Absent), "not complete: shop/web (text)."},
		"absent later":   {restore.Report{Since: left(plan.Unknown).Left}, "not complete: shop/web (text)."},
		"not ready":      {restore.Report{Unfinished: []restore.Unfinished{{ID: id, Replicas: 9, Ready: 3, To: 9}}}, "shop/web (3 of 9 pods ready)"},
		"stopped":        {restore.Report{Stopped: true}, "stopped before the time limit"},
	} {
		err := incomplete(c.report)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && !strings.Contains(err.Error(), "ARC invokes the function again") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An old name beside others must not fail each step.
func TestAStepFailsIfGitHasNoneOfItsNamespaces(t *testing.T) {
	t.Parallel()
	h, err := handlerOf(document, "restore", "old,shop")
	if err != nil {
		t.Fatal(err)
	}
	old, shop := errors.New("namespace old: git has no level in it"), errors.New("namespace shop: git has no level in it")
	for want, undeclared := range map[string]restore.Problems{"": {old}, "Correct RegionSwitchNamespaces of the stack, and deploy the stack again: " + old.Error() + "\n" + shop.Error(): {old, shop}} {
		if err := h.unmatched(restore.Report{Undeclared: undeclared}); (err == nil) != (want == "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	h.order.Namespaces = nil
	if err := h.unmatched(restore.Report{}); err != nil {
		t.Errorf("every namespace: %v", err)
	}
}
