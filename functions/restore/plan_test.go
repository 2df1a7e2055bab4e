//go:build aws

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// arc is the event of ARC Region switch, with the fields that AWS documents.
const arc = `{"InvokedBy": "arc-region-switch", "PlanArn": "arn:aws:arc-region-switch::123456789012:plan/shop:a1b2c3", "ExecutionId": "0001", "StepName": "capacity"}`

// plan plays the invocations of a Region switch plan with two steps, which restore and
// release. The workload idle is suspended. The functions of the steps are built from
// functions/regionswitch, and run on the cluster of this package's tests.
func (c *cloud) plan(t *testing.T) {
	s := c.deploy(t, "codecommit", "plan", "web", "stuck", "idle")
	idle := strings.Replace(controlplane.Workload("Deployment", s.name, "idle"), "spec:\n", "spec:\n  replicas: 0\n", 1)
	c.cp.Apply(t, idle)
	capacity := s.start(t, s.step, "GITLATCH_ACTION=restore", "GITLATCH_NAMESPACES=old,"+s.name)
	old := s.start(t, s.step, "GITLATCH_ACTION=restore", "GITLATCH_NAMESPACES=old")
	release := s.start(t, s.step, "GITLATCH_ACTION=release", "GITLATCH_NAMESPACES=")

	t.Run("other events change nothing", func(t *testing.T) {
		s.refuses(t, s.function, arc)
		s.refuses(t, capacity, `{"action": "restore"}`)
		s.refuses(t, release, `{"action": "release"}`)
	})
	t.Run("git has none of its namespaces", func(t *testing.T) {
		want := "Correct RegionSwitchNamespaces of the stack, and deploy the stack again: namespace old: git has no level in it. Name one of " + s.name
		if r := old.Invoke(t.Context(), []byte(arc)); r.Error == nil || !strings.HasSuffix(r.Error.Message, want) {
			t.Errorf("error %v, answer %s", r.Error, r.Payload)
		}
		event := fmt.Sprintf(`{"action": "restore", "dryRun": true, "namespaces": ["old", %q]}`, s.name)
		if r := s.function.Invoke(t.Context(), []byte(event)); r.Error == nil || !strings.Contains(r.Error.Message, "namespace old: git has no level in it") {
			t.Errorf("the restore function: error %v, answer %s", r.Error, r.Payload)
		}
	})
	t.Run("the time limit ends in an error, and ARC repeats the step", func(t *testing.T) { s.repeats(t, capacity) })
	t.Run("it succeeds with a suspended workload", func(t *testing.T) { s.succeeds(t, capacity) })
	t.Run("other events release nothing", func(t *testing.T) { s.refuses(t, release, `{"action": "release"}`) })
	t.Run("it releases", func(t *testing.T) {
		if d := s.answer(t, release.Invoke(t.Context(), []byte(arc))); len(d.Released) != 1 || d.Released[0].Outcome != "released" {
			t.Errorf("answer %+v", d)
		}
		if got := s.behavior(t); strings.Contains(got, "selectPolicy") || strings.Contains(got, "gitlatch.dev/brake") {
			t.Errorf("the brake is still there: %s", got)
		}
	})
	t.Run("operations seen are those that are granted", s.operations)
}

// refuses sends events that the function must refuse: the empty event, a misspelt dry
// run, the sample event of the Lambda console, and those given.
func (s *stack) refuses(t *testing.T, f *runtimeapi.Function, events ...string) {
	t.Helper()
	before := s.count(t, "web") + s.behavior(t)
	for _, event := range append(events, `{}`, `{"dryrun": true}`, `{"key1": "value1", "key2": "value2", "key3": "value3"}`) {
		if r := f.Invoke(t.Context(), []byte(event)); r.Error == nil || !strings.Contains(r.Error.Message, "event: ") {
			t.Errorf("%s: error %v, answer %s", event, r.Error, r.Payload)
		}
	}
	if after := s.count(t, "web") + s.behavior(t); after != before {
		t.Errorf("web was %s, and is %s", before, after)
	}
}

// repeats invokes the step twice while the pods of stuck fit on no node. On a busy
// machine, the first invocation needs more time to raise the other workload.
func (s *stack) repeats(t *testing.T, step *runtimeapi.Function) {
	want := fmt.Sprintf("not complete: %s/stuck (0 of %d pods ready). ARC invokes the function again", s.name, level)
	for complete, within := 0, 12*time.Second; complete < 2; {
		ctx, cancel := contextUntil(t, time.Now().Add(within))
		r := step.Invoke(ctx, []byte(arc))
		cancel()
		switch {
		case r.Error == nil || !step.Alive():
			t.Fatalf("within %s: error %v, answer %s", within, r.Error, r.Payload)
		case strings.Contains(r.Error.Message, want):
			complete++
		case complete > 0 || within > time.Minute:
			t.Fatalf("within %s: error %v, want %s", within, r.Error, want)
		default:
			within *= 2
		}
	}
	if got := s.behavior(t); s.count(t, "web") != fmt.Sprint(level) || !strings.Contains(got, "Disabled") || !strings.Contains(got, "gitlatch.dev/brake") {
		t.Errorf("web asks for %s, %s", s.count(t, "web"), got)
	}
}

// succeeds gives the pods of stuck a node, and invokes the step once more.
func (s *stack) succeeds(t *testing.T, step *runtimeapi.Function) {
	s.cp.Kubectl(t, "", "label", "nodes", "--all", "fits=nowhere")
	d := s.answer(t, step.Invoke(t.Context(), []byte(arc)))
	if d.Stopped || len(d.Lacking) != 0 || len(d.Left) != 1 || d.Left[0].Workload != s.name+"/deployment/idle" || d.Left[0].Reason != "suspended" {
		t.Errorf("answer %+v", d)
	}
	if len(d.Undeclared) != 1 || !strings.HasPrefix(d.Undeclared[0], "namespace old: ") {
		t.Errorf("undeclared %q", d.Undeclared)
	}
	if len(d.Brakes) != 1 || d.Brakes[0].Outcome != "kept" || s.count(t, "idle") != "0" {
		t.Errorf("brakes %+v, idle asks for %s", d.Brakes, s.count(t, "idle"))
	}
}
