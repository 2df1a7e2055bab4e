//go:build aws

package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
)

var update = flag.Bool("update", false, "write what was seen to testdata")

// GetCallerIdentity needs no permission; the code calls it for the text of an error.
const needsNoRight = "sts:GetCallerIdentity"

// operations compares the functions' observed calls with the lists that the template's
// policies are compared with.
func (c *cloud) operations(t *testing.T) {
	lists := map[string][]string{}
	for provider, seen := range c.seen {
		for _, operation := range slices.Sorted(maps.Keys(seen)) {
			everywhere := true
			for _, other := range c.seen {
				everywhere = everywhere && other[operation]
			}
			switch {
			case operation == needsNoRight:
			case everywhere:
				if !slices.Contains(lists["every"], operation) {
					lists["every"] = append(lists["every"], operation)
				}
			default:
				lists[provider] = append(lists[provider], operation)
			}
		}
	}
	for _, name := range []string{"every", "codecommit", "github", "spoke", "url"} {
		file := filepath.Join("../../testdata/stack/operations", name+".txt")
		got := strings.Join(lists[name], "\n") + "\n"
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if want := read(t, file); got != want {
			t.Errorf("%s lists\n%s\nand seen were\n%s", file, want, got)
		}
	}
	// The names of actions do not contain the branches.
	template := read(t, "../../template.yaml")
	for _, branch := range slices.Sorted(maps.Keys(c.written)) {
		if branch != "main" && !strings.Contains(template, `"refs/heads/`+branch+`"`) {
			t.Errorf("branch %s is written, and the template grants it nowhere", branch)
		}
	}
}

// rights compares the requests to the API server with the permissions of the role.
func (c *cloud) rights(t *testing.T) {
	log, err := os.Open(c.audit)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	seen := map[string]bool{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var event struct {
			Verb       string
			ObjectRef  struct{ APIGroup, Resource, Subresource, Namespace, Name string }
			RequestURI string
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		of := event.ObjectRef
		levels := of.Resource == "configmaps" && of.Namespace == admission.Namespace && event.Verb == "list"
		public := strings.HasPrefix(event.RequestURI, "/version")
		if levels || public {
			continue // the Role in the file of the admission policy, and system:public-info-viewer
		}
		seen[right(event.Verb, of.APIGroup, of.Resource+strings.TrimSuffix("/"+of.Subresource, "/"), of.Name)] = true
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	var granted rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict([]byte(read(t, role)), &granted); err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, rule := range granted.Rules {
		for _, verb := range rule.Verbs {
			for _, resource := range rule.Resources {
				for _, name := range append(rule.ResourceNames, "")[:max(1, len(rule.ResourceNames))] {
					want[right(verb, rule.APIGroups[0], resource, name)] = true
				}
			}
		}
	}
	got, granting := slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(want))
	if !slices.Equal(got, granting) {
		t.Errorf("asked for\n%s\nand granted is\n%s", strings.Join(got, "\n"), strings.Join(granting, "\n"))
	}
}

func right(verb, group, resource, name string) string {
	return fmt.Sprintf("%s %s.%s %s", verb, resource, group, name)
}
