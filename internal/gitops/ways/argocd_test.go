package ways_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
)

// An application has the fields of an Application that decide how a sync changes a
// replica count.
type application struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Spec       struct {
		IgnoreDifferences []struct {
			Group, Kind, Name, Namespace string
			JSONPointers                 []string `yaml:"jsonPointers"`
		} `yaml:"ignoreDifferences"`
		SyncPolicy struct {
			SyncOptions []string `yaml:"syncOptions"`
		} `yaml:"syncPolicy"`
	}
}

// keeps reports whether a sync keeps the replica count of a live workload, as Argo CD
// v3.5.1 does it (read, not run):
//
//   - controller/sync.go copies the live value of an ignored field into the object to
//     apply only with RespectIgnoreDifferences=true (normalizeTargetResources). Without a
//     live object it uses the value in git. Replace=true and Force=true apply by other
//     means.
//   - util/argo/normalizers/diff_normalizer.go matches a rule with an object by its group
//     and kind. Both are globs, and "" matches only "". It also matches the name and the
//     namespace if the rule has any. It removes the rule's pointers from both sides of the
//     comparison.
func (a application) keeps(group, kind, namespace, name string) bool {
	options := a.Spec.SyncPolicy.SyncOptions
	if !slices.Contains(options, "RespectIgnoreDifferences=true") || slices.Contains(options, "Replace=true") || slices.Contains(options, "Force=true") {
		return false
	}
	for _, rule := range a.Spec.IgnoreDifferences {
		if rule.Group == group && rule.Kind == kind && (rule.Name == "" || rule.Name == name) &&
			(rule.Namespace == "" || rule.Namespace == namespace) && slices.Contains(rule.JSONPointers, "/spec/replicas") {
			return true
		}
	}
	return false
}

func TestArgoCDIsToldToKeepTheCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		namespaces []string
		want       map[string]bool // by namespace
	}{
		"everywhere": {nil, map[string]bool{"shop": true, "pay": true}},
		"narrowed":   {[]string{"shop", "web"}, map[string]bool{"shop": true, "web": true, "pay": false}},
	} {
		place := example
		place.Namespaces = c.namespaces
		var a application
		if err := yaml.Unmarshal(ways.ArgoCD(place), &a); err != nil || a.APIVersion != "argoproj.io/v1alpha1" || a.Kind != "Application" {
			t.Fatalf("%s: %+v, %v", name, a, err)
		}
		for namespace, want := range c.want {
			for _, kind := range []string{"Deployment", "StatefulSet"} {
				if got := a.keeps("apps", kind, namespace, "web"); got != want {
					t.Errorf("%s: of %s in %s it keeps the count: %t, want %t", name, kind, namespace, got, want)
				}
			}
			if got := a.keeps("argoproj.io", "Rollout", namespace, "web"); got != want {
				t.Errorf("%s: of a Rollout in %s it keeps the count: %t, want %t", name, namespace, got, want)
			}
			if a.keeps("apps", "Rollout", namespace, "web") || a.keeps("batch", "Job", namespace, "web") {
				t.Errorf("%s: it keeps the count of what gitlatch does not know", name)
			}
		}
	}
}

// A user with live Applications applies only the patch and does not see the full object.
// So both warn of the changes that reset live replica counts.
func TestBothFormsWarnOfWhatTakesCountsAway(t *testing.T) {
	t.Parallel()
	const removed = "Never narrow or remove the rule while workloads run"
	for _, c := range []struct {
		forms [][]byte
		says  []string
	}{
		{[][]byte{ways.ArgoCD(example), ways.ArgoCDFields(example)},
			[]string{"the count of a second before", removed, "Never start a sync by an operation without the Application's options"}},
		{[][]byte{ways.Flux(example), ways.FluxFields(example)}, []string{"kept as it runs in one that is", removed}},
	} {
		for _, text := range c.forms {
			header, _, _ := strings.Cut(string(text), "# Printed by:")
			said := strings.Join(strings.Fields(strings.ReplaceAll(header, "#", "")), " ")
			for _, says := range c.says {
				if !strings.Contains(said, says) {
					t.Errorf("it does not say %q:\n%s", says, header)
				}
			}
		}
	}
}

// The patch for an existing object has the same fields as the full object.
func TestThePatchIsOfTheFieldsOfTheObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		whole, patch []byte
		fields       int
	}{
		{ways.ArgoCD(example), ways.ArgoCDFields(example), 2},
		{ways.Flux(example)[bytes.Index(ways.Flux(example), []byte("---\n")):], ways.FluxFields(example), 1},
	} {
		var whole, patch struct{ Spec map[string]any }
		if err := errors.Join(yaml.Unmarshal(c.whole, &whole), yaml.Unmarshal(c.patch, &patch)); err != nil {
			t.Fatal(err)
		}
		if policy, ok := whole.Spec["syncPolicy"].(map[string]any); ok {
			delete(policy, "automated") // the patch does not set this field
		}
		for field, value := range patch.Spec {
			if !reflect.DeepEqual(value, whole.Spec[field]) {
				t.Errorf("the patch has %s: %v, and the object %v", field, value, whole.Spec[field])
			}
		}
		if len(patch.Spec) != c.fields {
			t.Errorf("the patch has %d fields, want %d:\n%s", len(patch.Spec), c.fields, c.patch)
		}
	}
}
