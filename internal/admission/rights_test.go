package admission_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/admission"
)

// A role is a Role or a ClusterRole.
type role struct {
	Kind     string
	Metadata struct{ Namespace string }
	Rules    []struct{ APIGroups, Resources, Verbs []string }
}

// roles returns the roles in a file. The YAML decoder uses names in lower case.
func roles(t *testing.T, file []byte) (all []role) {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(string(file), "apiGroups", "apigroups")))
	for {
		var r role
		switch err := decoder.Decode(&r); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatal(err)
		case strings.HasSuffix(r.Kind, "Role"):
			all = append(all, r)
		}
	}
}

func TestAnApplierMayWriteBindingsAndLevelsOnly(t *testing.T) {
	t.Parallel()
	granted := map[string]string{}
	for _, r := range roles(t, admission.Applier("flux-system", "gitlatch")) {
		for _, rule := range r.Rules {
			granted[r.Metadata.Namespace+"/"+rule.APIGroups[0]+"/"+rule.Resources[0]] = strings.Join(rule.Verbs, " ")
		}
	}
	rules := admission.ApplierRules()
	if len(granted) != len(rules) {
		t.Errorf("the roles grant %v, want %v", granted, rules)
	}
	for _, r := range rules {
		key := r.Namespace + "/" + r.Group + "/" + r.Resource
		if want := strings.Join(r.Verbs, " "); granted[key] != want {
			t.Errorf("%s: the roles grant %q, want %q", key, granted[key], want)
		}
	}
	for _, key := range []string{"/admissionregistration.k8s.io/mutatingadmissionpolicybindings", "gitlatch-levels//configmaps"} {
		if granted[key] == "" {
			t.Errorf("%s is not granted", key)
		}
	}
}

func TestTheFileGrantsOnlyToReadLevels(t *testing.T) {
	t.Parallel()
	all := roles(t, format(t, admission.Policy{}))
	if len(all) != 1 || all[0].Kind != "Role" || all[0].Metadata.Namespace != admission.Namespace || len(all[0].Rules) != 1 {
		t.Fatalf("the file has the roles %v, want one in %s", all, admission.Namespace)
	}
	if r := all[0].Rules[0]; strings.Join(r.Resources, " ") != "configmaps" || strings.Join(r.Verbs, " ") != "get list" {
		t.Errorf("the role grants %v", r)
	}
}
