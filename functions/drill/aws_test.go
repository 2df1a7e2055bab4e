//go:build aws

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
)

var update = flag.Bool("update", false, "write what was seen to testdata")

// TestOnAWS runs the built bootstrap with the services of its deployment: login at a
// real API server by a signed token, as a member of the group with the shipped rights,
// a table, a topic, a bucket and a git host.
func TestOnAWS(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	for _, provider := range []string{"codecommit", "github"} {
		// One after the other, because both sites match all workloads of the cluster.
		t.Run(provider, func(t *testing.T) {
			s := c.deploy(t, provider)
			t.Run("a dry run writes nothing", s.dryRun)
			t.Run("it declares, scores, keeps and tells", s.drills)
			t.Run("twice is once", s.twice)
			t.Run("operations seen are those that are granted", s.operations)
		})
	}
}

// send sends an event and fails the test if the answer is an error.
func (s *stack) send(t *testing.T, event string) (d drill.Document, logs string) {
	t.Helper()
	r := s.function.Invoke(t.Context(), fmt.Appendf(nil, event, s.name))
	if r.Error != nil {
		t.Fatalf("error %v, logs\n%s", r.Error, r.Logs)
	}
	if err := json.Unmarshal(r.Payload, &d); err != nil {
		t.Fatalf("payload %s: %v", r.Payload, err)
	}
	if strings.Contains(r.Logs, "k8s-aws-v1.") || strings.Contains(r.Logs, s.key.SecretAccessKey) || strings.Contains(r.Logs, "github_pat_") {
		t.Errorf("a secret in %s", r.Logs)
	}
	return d, r.Logs
}

// of returns a workload of the site from a document.
func (s *stack) of(t *testing.T, d drill.Document, name string) drill.Workload {
	t.Helper()
	for _, w := range d.Workloads {
		if w.Namespace == s.name && w.Name == name {
			return w
		}
	}
	t.Fatalf("no %s in %+v", name, d.Workloads)
	return drill.Workload{}
}

func (s *stack) dryRun(t *testing.T) {
	for payload, measured := range map[string]bool{`{"site": %q, "dryRun": true}`: false, `{"site": %q, "flush": false}`: true} {
		d, logs := s.send(t, payload)
		if web := s.of(t, d, "web"); !d.DryRun || web.Declared != nil || d.Flush.Commit != "" || len(d.Flush.Levels) == 0 || len(d.Links) != 0 {
			t.Errorf("%s: answer %+v", payload, d)
		}
		if strings.Contains(logs, `"DrillBelowTarget":`) != measured {
			t.Errorf("%s: logs %s", payload, logs)
		}
	}
	if told := s.told(t); told != "" {
		t.Errorf("told %s", told)
	}
}

func (s *stack) drills(t *testing.T) {
	d, logs := s.send(t, `{"site": %q, "minCoverage": 0.9}`)
	web, stray := s.of(t, d, "web"), s.of(t, d, "stray")
	if len(d.Problems)+len(d.Unread) > 0 || d.Passed || d.Flush.Commit == "" || *web.Declared != 20 || web.Start.AtLeast != 20 || stray.Start.Basis != drill.Unknown || stray.Start.AtMost != 5 || stray.Missing != 4 {
		t.Errorf("web %+v, stray %+v, problems %q, unread %q", web, stray, d.Problems, d.Unread)
	}
	if !strings.Contains(logs, `"DrillBelowTarget":1`) || !strings.Contains(logs, `"message":"drill"`) || !strings.Contains(logs, s.name+`/deployment/stray`) {
		t.Errorf("logs %s", logs)
	}
	if len(d.Links) != 2 || d.Links[1].Form != "html" || !strings.HasPrefix(d.Links[0].URI, "s3://"+bucket+"/gitlatch/drills/"+s.name+"/") || !strings.Contains(d.Links[0].URL, "X-Amz-Signature=") {
		t.Errorf("links %+v", d.Links)
	}
	if told := s.told(t); !strings.Contains(told, "atLeast") || !strings.Contains(told, `"failed"`) || !strings.Contains(told, d.Links[0].URI) {
		t.Errorf("told %s", told)
	}
}

func (s *stack) twice(t *testing.T) {
	// The stand-in of CodeCommit gives old times to commits, so the levels are not new.
	s.cp.Apply(t, fmt.Sprintf(leveled, s.name)+"data: {deployment.stray: \"5\", deployment.web: \"20\"}\n")
	d, logs := s.send(t, `{"site": %q, "minCoverage": 0}`)
	if d.Flush.Commit != "" || d.Last == nil || len(d.Last.Changes) != 0 || !d.Passed || !strings.Contains(logs, `"DrillBelowTarget":0`) {
		t.Errorf("flush %+v, last %+v, passed %v", d.Flush, d.Last, d.Passed)
	}
	s.told(t)
}

// operations compares the function's calls with the list that the template's policies
// are compared with.
func (s *stack) operations(t *testing.T) {
	got := strings.Join(s.gateway.Operations(s.key.AccessKeyID), "\n") + "\n"
	file := filepath.Join("../../testdata/stack/operations", "drill-"+s.provider+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, file); got != want {
		t.Errorf("%s lists\n%s\nand seen were\n%s", file, want, got)
	}
}
