package ways_test

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
)

// example is the place of the files in infra/gitops.
var example = ways.Place{
	Site: "prod-eu", Repository: "https://git.example.com/platform/fleet.git", Branch: "main",
	Name: "prod-eu", Path: "clusters/prod-eu", Writers: []string{flux.User, argocd.User},
}

// settle is the time limit for a controller's work, which takes seconds on an idle
// machine.
const settle = 3 * time.Minute

// counts returns the desired replicas of workloads in a namespace, separated by spaces.
// Each workload is in the form "deployments/web".
func counts(ctx context.Context, cp *controlplane.ControlPlane, namespace string, workloads ...string) (string, error) {
	var all []string
	for _, w := range workloads {
		var object struct{ Spec struct{ Replicas int } }
		if err := cp.Read(ctx, "/apis/apps/v1/namespaces/"+namespace+"/"+w, &object); err != nil {
			return "", err
		}
		all = append(all, strconv.Itoa(object.Spec.Replicas))
	}
	return strings.Join(all, " "), nil
}
