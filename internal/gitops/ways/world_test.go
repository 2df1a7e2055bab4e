package ways_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// example is the place that the files in infra/gitops are rendered for.
var example = ways.Place{
	Site: "prod-eu", Repository: "https://git.example.com/platform/fleet.git", Branch: "main",
	Name: "prod-eu", Path: "clusters/prod-eu",
}

// settle bounds what a controller does, which takes seconds of an idle machine.
const settle = time.Minute

// eventually polls what a query of kubectl prints until it is as wanted.
func eventually(t *testing.T, cp *controlplane.ControlPlane, want string, query ...string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		if got := strings.TrimSpace(cp.Kubectl(t, "", query...)); got != want {
			return fmt.Errorf("prints %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(query, " "), err)
	}
}

// replicas returns the count that a workload asks for.
func replicas(t *testing.T, cp *controlplane.ControlPlane, namespace, workload string) string {
	t.Helper()
	return cp.Kubectl(t, "", "get", "-n", namespace, workload, "-o", "jsonpath={.spec.replicas}")
}
