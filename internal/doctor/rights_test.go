package doctor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

const rights = "../../infra/rbac"

func file(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(rights, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The role grants the requests of doctor, and nothing else.
func TestTheRoleGrantsTheRequests(t *testing.T) {
	t.Parallel()
	granted := func(path string) (all []string) {
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict([]byte(file(t, path)), &role); err != nil {
			t.Fatal(err)
		}
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				name := strings.TrimSuffix(resource+"."+rule.APIGroups[0], ".")
				all = append(all, fmt.Sprint(name, rule.ResourceNames, rule.Verbs))
			}
		}
		return all
	}
	want := append(granted("clusterrole.yaml"), "mutatingadmissionpolicies.admissionregistration.k8s.io[gitlatch-levels] [get]", "mutatingadmissionpolicybindings.admissionregistration.k8s.io[] [list]")
	for _, s := range doctor.Sources() {
		want = append(want, s.Name+"[] [list]")
	}
	got := granted("doctor/clusterrole.yaml")
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("the role grants\n%s\nand the requests are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
