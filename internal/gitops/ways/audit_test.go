//go:build gitops

package ways_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// auditPolicy logs every write to a workload, with its result.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources: [{group: apps, resources: [deployments, deployments/scale, deployments/status, statefulsets, statefulsets/scale, statefulsets/status]}]
- level: None
`

// A write is one change to a workload in the API server, with its user.
type write struct {
	user, agent, workload string
	revision, replicas    int  // after the write
	names                 bool // the request contained replicas
	available, updated    int  // pods, in the status
}

// writes returns every change of a workload in a namespace, in the order of the changes.
// It does not return dry runs.
func writes(t *testing.T, cp *controlplane.ControlPlane, namespace string) []write {
	t.Helper()
	var all []write
	for _, r := range cp.Audit(t) {
		if r.Object.Namespace != namespace || r.Code >= 300 || strings.Contains(r.URI, "dryRun=") {
			continue
		}
		var answer, asked struct {
			Metadata struct{ ResourceVersion string }
			Spec     struct{ Replicas *int }
			Status   struct{ AvailableReplicas, UpdatedReplicas int }
		}
		if err := json.Unmarshal(r.Answers, &answer); err != nil {
			t.Fatalf("read the answer to %s %s: %v", r.Verb, r.URI, err)
		}
		revision, err := strconv.Atoi(answer.Metadata.ResourceVersion)
		if err != nil || answer.Spec.Replicas == nil {
			t.Fatalf("the answer to %s %s has no revision or no count: %s", r.Verb, r.URI, r.Answers)
		}
		_ = json.Unmarshal(r.Asked, &asked) // a JSON patch is a list; its result shows the change
		all = append(all, write{
			user: r.User, agent: r.Agent, workload: r.Object.Resource + "/" + r.Object.Name,
			revision: revision, replicas: *answer.Spec.Replicas, names: asked.Spec.Replicas != nil && r.Object.Subresource != "status",
			available: answer.Status.AvailableReplicas, updated: answer.Status.UpdatedReplicas,
		})
	}
	slices.SortFunc(all, func(a, b write) int { return a.revision - b.revision })
	return all
}

// scaleEvents returns the writes that changed the replicas. A creation does not count.
func scaleEvents(all []write) []write {
	counts := map[string]int{}
	return slices.DeleteFunc(slices.Clone(all), func(w write) bool {
		before, ok := counts[w.workload]
		counts[w.workload] = w.replicas
		return !ok || before == w.replicas
	})
}

// by returns how many writes each user made.
func by(all []write) map[string]int {
	users := map[string]int{}
	for _, w := range all {
		users[w.user]++
	}
	return users
}
