//go:build cluster || argo

package kube_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// If no node is suitable for the new pods, the rollout stays in flight with pods of both
// templates, even after its deadline.
func (r *realCluster) stuck(t *testing.T) {
	r.namespace(t, "stuck")
	spec := "  replicas: 10\n  progressDeadlineSeconds: 2"
	v1 := workloadYAML("Deployment", "stuck", "web", "web:1", spec)
	r.cp.Apply(t, v1)
	r.untilSample(t, "stuck/deployment/web", ready(10))

	v2 := strings.Replace(workloadYAML("Deployment", "stuck", "web", "web:2", spec), "spec: {term", "spec: {nodeSelector: {no: such}, term", 1)
	r.cp.Apply(t, v2)
	r.cp.Kubectl(t, "", "wait", "-n", "stuck", "deployment/web", "--timeout=180s",
		`--for=jsonpath={.status.conditions[?(@.type=="Progressing")].reason}=ProgressDeadlineExceeded`)
	s := r.untilSample(t, "stuck/deployment/web", func(s workload.Sample) bool {
		return s.Rollout != nil && s.Rollout.InFlight && len(s.Rollout.Templates) == 2
	})
	target, old := s.Rollout.Templates[0], s.Rollout.Templates[1]
	if target.Images["main"] != "web:2" || target.Desired != 5 || target.Available != 0 ||
		old.Images["main"] != "web:1" || old.Desired != 8 || old.Available != 8 || s.Scale.Ready != 8 {
		t.Errorf("templates %+v with %+v", s.Rollout.Templates, s.Scale)
	}
	if r := s.Rollout; r.Desired != 10 || old.ImagesOnly || r.Halted != "" ||
		!strings.HasPrefix(r.Failure, `ProgressDeadlineExceeded: ReplicaSet "web-`+target.Hash+`" has timed out`) {
		t.Errorf("rollout %+v", r)
	}

	// A rollout is still in flight after the Deployment is scaled in.
	r.cp.Kubectl(t, "", "scale", "-n", "stuck", "deployment/web", "--replicas=4")
	s = r.untilSample(t, "stuck/deployment/web", func(s workload.Sample) bool { return s.Scale != nil && s.Scale.Desired == 4 })
	if !s.Rollout.InFlight {
		t.Errorf("scaled in: %s", show(s))
	}

	// After a rollback, only the first template has pods.
	r.cp.Apply(t, v1)
	r.untilSample(t, "stuck/deployment/web", ready(10))
}

// heldAt accepts a sample of a workload whose rollout someone stopped before its first
// pod. All old pods are ready.
func heldAt(n int32, by, from, to string) func(workload.Sample) bool {
	return func(s workload.Sample) bool {
		r := s.Rollout
		if s.Scale == nil || s.Scale.Ready != n || r == nil || !r.InFlight || r.Mixed() || r.Halted != by || len(r.Templates) < 2 {
			return false
		}
		target, old := r.Templates[0], r.Templates[1]
		return !target.Runs() && target.Hash != "" && target.Images["main"] == to && old.Images["main"] == from && old.Available == n && old.ImagesOnly
	}
}

// predicted is the minor version of the product's k8s.io/api. With the types of another
// version, a template has another hash.
const predicted = 37

// A Deployment that was paused before its template changed is halted. On version predicted,
// it keeps the name of its target once it continues.
func (r *realCluster) paused(t *testing.T) {
	r.namespace(t, "paused")
	r.cp.Apply(t, workloadYAML("Deployment", "paused", "web", "web:1", "  replicas: 3\n  paused: false"))
	r.untilSample(t, "paused/deployment/web", ready(3))
	r.cp.Apply(t, workloadYAML("Deployment", "paused", "web", "web:2", "  replicas: 5\n  paused: true"))
	target := r.untilSample(t, "paused/deployment/web", heldAt(5, "paused", "web:1", "web:2")).Rollout.Templates[0].Hash
	r.cp.Apply(t, workloadYAML("Deployment", "paused", "web", "web:2", "  replicas: 5\n  paused: false"))
	r.untilSample(t, "paused/deployment/web", ready(5))
	if made := r.cp.Kubectl(t, "", "get", "replicasets", "-n", "paused", "-o", "name"); controlplane.Minor(t) == predicted && !strings.Contains(made, "web-"+target) {
		t.Errorf("the target was %s, and the ReplicaSets are %q", target, made)
	}
}

func (r *realCluster) partitioned(t *testing.T) {
	r.namespace(t, "partition")
	spec := func(partition int) string {
		return fmt.Sprintf("  serviceName: db\n  replicas: 3\n  podManagementPolicy: Parallel\n  updateStrategy: {rollingUpdate: {partition: %d}}", partition)
	}
	r.cp.Apply(t, workloadYAML("StatefulSet", "partition", "db", "db:1", spec(3)))
	r.untilSample(t, "partition/statefulset/db", ready(3))
	r.cp.Apply(t, workloadYAML("StatefulSet", "partition", "db", "db:2", spec(3)))
	r.untilSample(t, "partition/statefulset/db", heldAt(3, "partition 3", "db:1", "db:2"))
	r.cp.Apply(t, workloadYAML("StatefulSet", "partition", "db", "db:2", spec(2)))
	r.untilSample(t, "partition/statefulset/db", func(s workload.Sample) bool {
		return s.Rollout != nil && s.Rollout.InFlight && s.Scale.Ready == 3
	})
	r.cp.Apply(t, workloadYAML("StatefulSet", "partition", "db", "db:2", spec(0)))
	r.untilSample(t, "partition/statefulset/db", ready(3))
}

// A StatefulSet under OnDelete is halted before a user deletes its first pod, and in
// flight until the last.
func (r *realCluster) onDelete(t *testing.T) {
	r.namespace(t, "ondelete")
	spec := "  serviceName: db\n  replicas: 2\n  updateStrategy: {type: OnDelete}"
	r.cp.Apply(t, workloadYAML("StatefulSet", "ondelete", "db", "db:1", spec))
	r.untilSample(t, "ondelete/statefulset/db", ready(2))
	r.cp.Apply(t, workloadYAML("StatefulSet", "ondelete", "db", "db:2", spec))
	r.untilSample(t, "ondelete/statefulset/db", heldAt(2, "OnDelete", "db:1", "db:2"))
	r.cp.Kubectl(t, "", "delete", "-n", "ondelete", "pod/db-1")
	r.untilSample(t, "ondelete/statefulset/db", func(s workload.Sample) bool {
		return s.Rollout != nil && s.Rollout.InFlight && s.Scale.Ready == 2
	})
	r.cp.Kubectl(t, "", "delete", "-n", "ondelete", "pod/db-0")
	r.untilSample(t, "ondelete/statefulset/db", ready(2))
}
