// Package audit makes a test's control plane log its requests, and reads the log back
// as the rights that the requests need.
package audit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// A Log is what an API server notes of the requests of one group.
type Log struct {
	Flags []string // of the API server, for controlplane.Options
	file  string
	group string
}

const policy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: Metadata, userGroups: [%q]}
  - {level: Metadata, users: [admin]}
  - level: None
`

// New returns a log of the requests of a group.
func New(t testing.TB, group string) *Log {
	t.Helper()
	dir := t.TempDir()
	rules := filepath.Join(dir, "policy.yaml")
	if err := os.WriteFile(rules, fmt.Appendf(nil, policy, group), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "audit.log")
	return &Log{[]string{"--audit-policy-file=" + rules, "--audit-log-path=" + file}, file, group}
}

// Seen returns the rights in the requests so far, sorted, each once: "get
// deployments/scale.apps".
func (l *Log) Seen(t testing.TB) []string {
	t.Helper()
	seen := map[string]bool{}
	for _, one := range l.All(t) {
		seen[one] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// All returns the right that each request took, in their order.
func (l *Log) All(t testing.TB) (all []string) {
	t.Helper()
	log, err := os.Open(l.file)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb                   string
			User, ImpersonatedUser struct{ Groups []string }
			ObjectRef              struct{ APIGroup, Resource, Subresource string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(append(event.User.Groups, event.ImpersonatedUser.Groups...), l.group) {
			continue
		}
		of := event.ObjectRef
		all = append(all, right(event.Verb, of.APIGroup, of.Resource+strings.TrimSuffix("/"+of.Subresource, "/")))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// Granted returns the rights that the ClusterRole in a file grants, as Seen
// does.
func Granted(t testing.TB, file string) []string {
	t.Helper()
	var role rbacv1.ClusterRole
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(text, &role)
	}
	if err != nil {
		t.Fatal(err)
	}
	var granted []string
	for _, rule := range role.Rules {
		for _, verb := range rule.Verbs {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					granted = append(granted, right(verb, group, resource))
				}
			}
		}
	}
	slices.Sort(granted)
	return slices.Compact(granted)
}

func right(verb, group, resource string) string { return verb + " " + resource + "." + group }
