//go:build cluster || argo

package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// inFlight accepts a rollout on the way from one template to another, with the given
// desired and available pods of each.
func inFlight(of int32, target, old [2]int32) func(workload.Sample) bool {
	return func(s workload.Sample) bool {
		r := s.Rollout
		return r != nil && r.InFlight && r.Desired == of && len(r.Templates) == 2 &&
			[2]int32{r.Templates[0].Desired, r.Templates[0].Available} == target &&
			[2]int32{r.Templates[1].Desired, r.Templates[1].Available} == old
	}
}

// between reports a problem with the templates of a rollout from one image to another.
func between(r *workload.Rollout, from, to string) error {
	target, old := r.Templates[0], r.Templates[1]
	if target.Images["main"] != to || old.Images["main"] != from || len(target.Images)+len(old.Images) != 2 {
		return fmt.Errorf("images %v and %v, want %s and %s", target.Images, old.Images, to, from)
	}
	if target.Hash == "" || old.Hash == "" || target.Hash == old.Hash {
		return fmt.Errorf("hashes %q and %q", target.Hash, old.Hash)
	}
	if target.Since.IsZero() || old.Since.IsZero() {
		return fmt.Errorf("since %s and %s", target.Since, old.Since)
	}
	return nil
}

// A rollout of each kind is stopped half-way by minReadySeconds, a partition, or a pod
// without a suitable node. The sample is complete.
func (r *realCluster) rollouts(t *testing.T) {
	r.namespace(t, "rollouts")
	const (
		web = "  replicas: 10\n  minReadySeconds: %d\n  strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}"
		db  = "  serviceName: db\n  replicas: 4\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: 3}}"
	)
	agent := workloadYAML("DaemonSet", "rollouts", "agent", "agent:2", "")
	r.cp.Apply(t,
		workloadYAML("Deployment", "rollouts", "web", "web:1", fmt.Sprintf(web, 0)),
		workloadYAML("StatefulSet", "rollouts", "db", "db:1", db),
		strings.Replace(agent, "agent:2", "agent:1", 1))
	r.untilSample(t, "rollouts/deployment/web", ready(10))
	r.untilSample(t, "rollouts/statefulset/db", ready(4))
	r.cp.Kubectl(t, "", "rollout", "status", "-n", "rollouts", "daemonset/agent", "--timeout=180s")
	r.cp.Apply(t,
		workloadYAML("Deployment", "rollouts", "web", "web:2", fmt.Sprintf(web, 500)),
		workloadYAML("StatefulSet", "rollouts", "db", "db:2", db),
		strings.Replace(agent, "cpu: 10m", "cpu: 2000", 1))

	for _, c := range []struct {
		id          string
		want        func(workload.Sample) bool
		from, to    string
		imagesOnly  bool
		halted      string
		podsHashKey string
	}{
		{"rollouts/deployment/web", inFlight(10, [2]int32{2, 0}, [2]int32{10, 10}), "web:1", "web:2", true, "", "pod-template-hash"},
		{"rollouts/statefulset/db", inFlight(4, [2]int32{1, 1}, [2]int32{3, 3}), "db:1", "db:2", true, "partition 3", "controller-revision-hash"},
		// One of two nodes has the new pod. The status does not show which pod is not
		// available.
		{"rollouts/daemonset/agent", inFlight(2, [2]int32{1, 0}, [2]int32{1, 0}), "agent:1", "agent:2", false, "", "controller-revision-hash"},
	} {
		got := r.untilSample(t, c.id, c.want).Rollout
		if err := between(got, c.from, c.to); err != nil {
			t.Errorf("%s: %v", c.id, err)
		}
		if got.Templates[1].ImagesOnly != c.imagesOnly || got.Halted != c.halted || got.Failure != "" {
			t.Errorf("%s: %+v", c.id, got)
		}
		// The hash is the label value of the pods.
		app := c.id[strings.LastIndex(c.id, "/")+1:]
		borne := strings.Fields(r.cp.Kubectl(t, "", "get", "pods", "-n", "rollouts", "-l", "app="+app,
			"-o", `jsonpath={.items[*].metadata.labels.`+c.podsHashKey+`}`))
		for _, template := range got.Templates {
			if !slices.Contains(borne, template.Hash) {
				t.Errorf("%s: no pod bears %q, but %q", c.id, template.Hash, borne)
			}
		}
	}
}

// During a rollback, the target is older than the template that it replaces.
func (r *realCluster) undone(t *testing.T) {
	r.namespace(t, "undone")
	spec := func(seconds int) string {
		return fmt.Sprintf("  replicas: 6\n  minReadySeconds: %d\n  strategy: {rollingUpdate: {maxSurge: 2, maxUnavailable: 0}}", seconds)
	}
	r.cp.Apply(t, workloadYAML("Deployment", "undone", "web", "web:1", spec(0)))
	r.untilSample(t, "undone/deployment/web", ready(6))
	r.cp.Apply(t, workloadYAML("Deployment", "undone", "web", "web:2", spec(3)))
	r.cp.Kubectl(t, "", "wait", "-n", "undone", "deployment/web", "--timeout=180s", "--for=jsonpath={.status.updatedReplicas}=4")
	r.cp.Apply(t, workloadYAML("Deployment", "undone", "web", "web:1", spec(500)))
	s := r.untilSample(t, "undone/deployment/web", func(s workload.Sample) bool {
		return s.Rollout != nil && s.Rollout.InFlight && len(s.Rollout.Templates) == 2 &&
			s.Rollout.Templates[0].Images["main"] == "web:1" && s.Rollout.Templates[0].Desired+s.Rollout.Templates[1].Desired == 8
	})
	if err := between(s.Rollout, "web:2", "web:1"); err != nil {
		t.Error(err)
	}
	if target, left := s.Rollout.Templates[0], s.Rollout.Templates[1]; target.Since.After(left.Since) || !left.ImagesOnly || s.Rollout.Failure != "" {
		t.Errorf("%s", show(s))
	}
}

// Without the right to list revisions, the rollouts that need them are unknown. The
// rollouts of Deployments are not affected.
func (r *realCluster) withoutRevisions(t *testing.T) {
	fleet := r.without(t, "controllerrevisions")
	for id, known := range map[string]bool{
		"rollouts/deployment/web":  true,
		"rollouts/statefulset/db":  false,
		"rollouts/daemonset/agent": false,
		"rest/statefulset/db":      true,
	} {
		s, err := sampleIn(fleet, id)
		if err != nil || (s.Rollout != nil) != known || (s.Unknown == "") != known {
			t.Errorf("%s: %v, %s", id, err, show(s))
		}
	}
}
