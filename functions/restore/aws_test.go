//go:build aws

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

var update = flag.Bool("update", false, "write what was seen to testdata")

const level = 30

// TestOnAWS runs the built bootstrap with the services of its deployment: login at a
// real API server by a signed token, as a member of the group with the shipped rights,
// and a git host. It raises real Deployments, whose autoscalers see idle pods.
func TestOnAWS(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	t.Run("sites", func(t *testing.T) {
		for _, provider := range []string{"codecommit", "github"} {
			// One after the other, because a release affects the full cluster.
			t.Run(provider, func(t *testing.T) {
				s := c.deploy(t, provider, provider, "web", "stuck", "gone")
				t.Run("a dry run writes nothing", s.dryRun)
				t.Run("a deadline stops it cleanly", s.deadline)
				t.Run("it raises, and holds", s.raises)
				t.Run("twice is once", s.twice)
				t.Run("it releases", s.releases)
				t.Run("operations seen are those that are granted", s.operations)
			})
		}
		t.Run("a Region switch plan", c.plan)
		t.Run("a role without access is told what to do", c.stranger)
	})
}

// An answer contains the fields of a report that these tests check.
type answer struct {
	Cluster         string
	DryRun, Stopped bool
	Waves           []struct{ Raises []struct{} }
	Left            []struct{ Workload, Reason string }
	Raised          []struct{}
	Brakes          []struct{ Outcome string }
	Undeclared      []string
	Released        []struct{ Autoscaler, Outcome string }
	Lacking         []struct {
		Workload string
		Replicas int32
	}
}

// send sends an event and fails the test if the answer is an error.
func (s *stack) send(t *testing.T, event string) answer {
	t.Helper()
	return s.answer(t, s.function.Invoke(t.Context(), fmt.Appendf(nil, event, s.name)))
}

func (s *stack) answer(t *testing.T, r runtimeapi.Result) (d answer) {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("error %v, logs\n%s", r.Error, r.Logs)
	}
	if err := json.Unmarshal(r.Payload, &d); err != nil {
		t.Fatalf("payload %s: %v", r.Payload, err)
	}
	if strings.Contains(r.Logs, "k8s-aws-v1.") || strings.Contains(r.Logs, s.key.SecretAccessKey) || strings.Contains(r.Logs, "github_pat_") {
		t.Errorf("a secret in %s", r.Logs)
	}
	return d
}

// count returns the desired replicas of a Deployment.
func (s *stack) count(t *testing.T, name string) string {
	t.Helper()
	return s.cp.Kubectl(t, "", "get", "-n", s.name, "deployment", name, "-o", "jsonpath={.spec.replicas}")
}

func (s *stack) behavior(t *testing.T) string {
	t.Helper()
	return s.cp.Kubectl(t, "", "get", "-n", s.name, "hpa", "web", "-o", "jsonpath={.spec.behavior} {.metadata.annotations}")
}

func (s *stack) dryRun(t *testing.T) {
	before := s.behavior(t)
	d := s.send(t, `{"site": %q, "action": "restore", "dryRun": true}`)
	if !d.DryRun || len(d.Waves) != 1 || len(d.Waves[0].Raises) != 2 || d.Cluster == "" {
		t.Errorf("answer %+v", d)
	}
	if got := s.count(t, "web"); got != "2" || s.behavior(t) != before {
		t.Errorf("web asks for %s, %s", got, s.behavior(t))
	}
}

// deadline restores a workload that never becomes ready. The function must answer before
// the deadline. On a busy machine, a later call with more time raises the other workload.
func (s *stack) deadline(t *testing.T) {
	var d answer
	for within := 12 * time.Second; within < 2*time.Minute; within *= 2 {
		ctx, cancel := contextUntil(t, time.Now().Add(within))
		d = s.answer(t, s.function.Invoke(ctx, fmt.Appendf(nil, `{"site": %q, "action": "restore"}`, s.name)))
		cancel()
		if len(d.Lacking) == 1 {
			break
		}
		t.Logf("within %s: %+v", within, d)
	}
	if !d.Stopped || len(d.Lacking) != 1 || d.Lacking[0].Workload != s.name+"/deployment/stuck" || d.Lacking[0].Replicas != level {
		t.Errorf("answer %+v", d)
	}
	if !s.function.Alive() {
		t.Error("the function was killed")
	}
	s.cp.Kubectl(t, "", "delete", "-n", s.name, "deployment", "stuck")
}

func (s *stack) raises(t *testing.T) {
	d := s.send(t, `{"site": %q, "action": "restore"}`)
	if d.Stopped || len(d.Lacking) != 0 || len(d.Left) != 2 || d.Left[0].Reason != "absent" {
		t.Errorf("answer %+v", d)
	}
	for range 10 { // its autoscaler runs every second
		time.Sleep(500 * time.Millisecond)
		if got := s.count(t, "web"); got != fmt.Sprint(level) {
			t.Fatalf("web asks for %s", got)
		}
	}
	if got := s.behavior(t); !strings.Contains(got, "Disabled") || !strings.Contains(got, "gitlatch.dev/brake") {
		t.Errorf("no brake: %s", got)
	}
}

func (s *stack) twice(t *testing.T) {
	if d := s.send(t, `{"site": %q, "action": "restore"}`); len(d.Raised)+len(d.Released) != 0 || len(d.Brakes) != 1 || d.Brakes[0].Outcome != "kept" {
		t.Errorf("answer %+v", d)
	}
}

func (s *stack) releases(t *testing.T) {
	if d := s.send(t, `{"site": %q, "action": "release", "expired": true}`); len(d.Released) != 0 {
		t.Errorf("nothing expired, and %+v", d.Released)
	}
	s.cp.Kubectl(t, "", "annotate", "-n", s.name, "--overwrite", "hpa", "web", `gitlatch.dev/brake={"until":"2026-01-01T00:00:00Z","replaced":null}`)
	own := func(d answer) (all []string) {
		for _, r := range d.Released {
			if strings.Contains(r.Autoscaler, " "+s.name+"/") {
				all = append(all, r.Outcome)
			}
		}
		return all
	}
	if got := own(s.send(t, `{"site": %q, "action": "release", "expired": true}`)); !slices.Equal(got, []string{"released"}) {
		t.Errorf("released %q", got)
	}
	if got := s.behavior(t); strings.Contains(got, "selectPolicy") || strings.Contains(got, "gitlatch.dev/brake") {
		t.Errorf("it came back as %s", got)
	}
}

// operations compares the function's calls with the list that the template's policies
// are compared with.
func (s *stack) operations(t *testing.T) {
	got := strings.Join(s.gateway.Operations(s.key.AccessKeyID), "\n") + "\n"
	file := filepath.Join("../../testdata/stack/operations", "restore-"+s.provider+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, file); got != want {
		t.Errorf("%s lists\n%s\nand seen were\n%s", file, want, got)
	}
}

// stranger is a role without an access entry.
func (c *cloud) stranger(t *testing.T) {
	t.Parallel()
	s := c.stack(t, "codecommit", "stranger", "web", "stuck")
	s.function = s.start(t, s.binary)
	r := s.function.Invoke(t.Context(), []byte(`{"site": "stranger", "action": "release"}`))
	if r.Error == nil || !strings.Contains(r.Error.Message, "Give the role an access entry with the group gitlatch:restorers") {
		t.Errorf("error %v", r.Error)
	}
	if !strings.Contains(r.Logs, `"message":"restore"`) {
		t.Errorf("logs %s", r.Logs)
	}
}
