//go:build cluster || argo

package kube_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestRealControlPlane samples workloads that real controllers manage. The subtests share
// one control plane, and each has a separate namespace.
func TestRealControlPlane(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 2)
	cp.Kubectl(t, "", "apply", "-k", filepath.Dir(roleFile))
	real := &realCluster{cp: cp, sampler: sampler(t, cp.As("gitlatch", "gitlatch:samplers"))}

	t.Run("a fleet at rest", real.atRest)
	t.Run("a stuck rollout", real.stuck)
	t.Run("a paused deployment", real.paused)
	t.Run("a partitioned statefulset", real.partitioned)
	t.Run("a statefulset updated by hand", real.onDelete)
	t.Run("rollouts of each kind", real.rollouts)
	t.Run("an undo", real.undone)
	t.Run("what drives a scale", real.drivers)
	t.Run("a deployment that is being deleted", real.terminating)
	t.Run("many rollouts at once", real.many)
	t.Run("the role and no more", real.rights)
	t.Run("a role without autoscalers", real.withoutAutoscalers)
	t.Run("a role without deployments", real.withoutDeployments)
	t.Run("a role without revisions", real.withoutRevisions)
	t.Run("with KEDA", real.keda)
	t.Run("what pods carry", real.load)
}

type realCluster struct {
	cp      *controlplane.ControlPlane
	sampler *kube.Sampler
}

// namespace creates a namespace for one subtest.
func (r *realCluster) namespace(t *testing.T, name string) {
	t.Helper()
	r.cp.Kubectl(t, "", "create", "namespace", name)
}

// until samples until the fleet is as wanted, and returns it.
func (r *realCluster) until(t *testing.T, want func(workload.Fleet) error) (fleet workload.Fleet) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) (err error) {
		if fleet, err = r.sampler.Sample(ctx, nil); err != nil {
			return err
		}
		if len(fleet.Unread) > 0 {
			return fmt.Errorf("unread: %q", fleet.Unread)
		}
		return want(fleet)
	})
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// untilSample samples until a workload is as wanted, and returns its sample.
func (r *realCluster) untilSample(t *testing.T, id string, want func(workload.Sample) bool) (found workload.Sample) {
	t.Helper()
	r.until(t, func(f workload.Fleet) (err error) {
		if found, err = sampleIn(f, id); err == nil && !want(found) {
			err = fmt.Errorf("%s: %s", id, show(found))
		}
		return err
	})
	return found
}

func sampleIn(f workload.Fleet, id string) (workload.Sample, error) {
	i := slices.IndexFunc(f.Samples, func(s workload.Sample) bool { return s.ID.String() == id })
	if i < 0 {
		return workload.Sample{}, fmt.Errorf("no sample of %s", id)
	}
	return f.Samples[i], nil
}

// ready accepts a workload at rest with n ready pods.
func ready(n int32) func(workload.Sample) bool {
	return func(s workload.Sample) bool {
		return s.Scale != nil && s.Scale.Desired == n && s.Scale.Ready == n && s.Rollout != nil && !s.Rollout.InFlight
	}
}

// workloadYAML returns a manifest of a workload. extra has more lines of its spec.
func workloadYAML(kind, namespace, name, image, extra string) string {
	return fmt.Sprintf(`
apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: %s, labels: {app: %s}}
spec:
  selector: {matchLabels: {app: %s}}
%s
  template:
    metadata: {labels: {app: %s}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: %q, resources: {requests: {cpu: 10m}}}]}
`, kind, name, namespace, name, name, extra, name, image)
}

func hpaYAML(namespace, name, target string, least, most int) string {
	return fmt.Sprintf(`
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %s, namespace: %s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %s}
  minReplicas: %d
  maxReplicas: %d
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
`, name, namespace, target, least, most)
}

func (r *realCluster) atRest(t *testing.T) {
	r.namespace(t, "rest")
	r.cp.Apply(t,
		workloadYAML("Deployment", "rest", "web", "web:1", "  replicas: 4"),
		hpaYAML("rest", "web", "web", 2, 20),
		workloadYAML("StatefulSet", "rest", "db", "db:1", "  serviceName: db\n  replicas: 2"),
		workloadYAML("DaemonSet", "rest", "agent", "agent:1", ""))

	web := r.untilSample(t, "rest/deployment/web", func(s workload.Sample) bool {
		return ready(4)(s) && strings.HasPrefix(s.Scale.Blind, "ScalingActive is False")
	})
	want := workload.Scale{Desired: 4, Ready: 4, Driver: workload.DrivenByHPA, Min: 2, Max: 20, Target: 0.7,
		Blind: "ScalingActive is False: FailedGetResourceMetric"}
	if *web.Scale != want || !web.Labels.Has("app", "web") {
		t.Errorf("web: %s, want %+v", show(web), want)
	}
	r.untilSample(t, "rest/statefulset/db", ready(2))
	fleet := r.until(t, func(f workload.Fleet) error {
		agent, err := sampleIn(f, "rest/daemonset/agent")
		if err == nil && (agent.Scale != nil || agent.Rollout == nil || agent.Unknown != "") {
			err = errors.New(show(agent))
		}
		return err
	})

	uid := r.cp.Kubectl(t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	if fleet.Cluster != uid || fleet.Site != "prod-eu" || !fleet.At.Equal(lookedAt) {
		t.Errorf("fleet of cluster %q, site %q at %s; want %q, prod-eu, %s", fleet.Cluster, fleet.Site, fleet.At, uid, lookedAt)
	}
	if !slices.IsSortedFunc(fleet.Samples, func(a, b workload.Sample) int { return workload.Compare(a.ID, b.ID) }) {
		t.Error("samples are not in order")
	}
}

func (r *realCluster) drivers(t *testing.T) {
	r.namespace(t, "drivers")
	stated := workloadYAML("Deployment", "drivers", "stated", "web:1", "  replicas: 2")
	r.cp.Apply(t, stated, workloadYAML("Deployment", "drivers", "scaled", "web:1", "  replicas: 2"))
	r.cp.Kubectl(t, "", "scale", "-n", "drivers", "deployment/scaled", "--replicas=5")

	if s := r.untilSample(t, "drivers/deployment/stated", ready(2)); s.Scale.Driver != workload.DrivenByNothing {
		t.Errorf("stated by a manifest: %s", show(s))
	}
	if s := r.untilSample(t, "drivers/deployment/scaled", ready(5)); s.Scale.Driver != workload.DrivenByScale || s.Scale.Hand != "kubectl" {
		t.Errorf("written through /scale: %s", show(s))
	}
	// A manifest that sets the replicas again does not count as a driver.
	r.cp.Apply(t, workloadYAML("Deployment", "drivers", "scaled", "web:1", "  replicas: 3"))
	if s := r.untilSample(t, "drivers/deployment/scaled", ready(3)); s.Scale.Driver != workload.DrivenByNothing || s.Scale.Hand != "" {
		t.Errorf("taken back by a manifest: %s", show(s))
	}
	// An HPA also uses the scale subresource, but the driver is the HPA.
	r.cp.Apply(t, hpaYAML("drivers", "stated", "stated", 4, 9))
	if s := r.untilSample(t, "drivers/deployment/stated", ready(4)); s.Scale.Driver != workload.DrivenByHPA || s.Scale.Hand != "" {
		t.Errorf("lifted to its minimum: %s", show(s))
	}
	// Kubernetes enforces the minimum and the maximum of each of two HPAs.
	r.cp.Apply(t, hpaYAML("drivers", "second", "stated", 6, 8))
	if s := r.untilSample(t, "drivers/deployment/stated", ready(6)); s.Scale.Min != 6 || s.Scale.Max != 8 || !strings.HasSuffix(s.Scale.Blind, "both scale it") {
		t.Errorf("lifted to the larger minimum: %s", show(s))
	}
	r.cp.Kubectl(t, "", "scale", "-n", "drivers", "deployment/stated", "--replicas=9")
	r.untilSample(t, "drivers/deployment/stated", ready(8))
}

// The pods request 10m and use 5m, so their utilisation is 50 %. The target of the HPA is
// 70 %.
func (r *realCluster) load(t *testing.T) {
	r.namespace(t, "load")
	r.cp.Metrics(t, func(namespace string) string { return map[string]string{"load": "5m"}[namespace] })
	r.cp.Apply(t, workloadYAML("Deployment", "load", "web", "web:1", "  replicas: 4"), hpaYAML("load", "web", "web", 2, 20))
	s := r.untilSample(t, "load/deployment/web", func(s workload.Sample) bool { return s.Scale != nil && s.Scale.Blind == "" })
	if off := s.Scale.Load - 5.0/7; off < -0.02 || off > 0.02 {
		t.Errorf("load %g: %s", s.Scale.Load, show(s))
	}
}

func (r *realCluster) terminating(t *testing.T) {
	r.namespace(t, "ending")
	manifest := workloadYAML("Deployment", "ending", "web", "web:1", "  replicas: 1")
	r.cp.Apply(t, strings.Replace(manifest, "metadata: {", "metadata: {finalizers: [gitlatch.dev/test], ", 1))
	r.untilSample(t, "ending/deployment/web", func(s workload.Sample) bool { return ready(1)(s) && !s.Terminating })
	r.cp.Kubectl(t, "", "delete", "-n", "ending", "deployment/web", "--wait=false")
	r.untilSample(t, "ending/deployment/web", func(s workload.Sample) bool { return s.Terminating })
	r.cp.Kubectl(t, "", "patch", "-n", "ending", "deployment/web", "--type=json", `-p=[{"op": "remove", "path": "/metadata/finalizers"}]`)
}

// If many rollouts are in flight, the sampler lists all ReplicaSets in one list.
func (r *realCluster) many(t *testing.T) {
	r.namespace(t, "many")
	var v1, v2 []string
	for i := range 25 {
		name, spec := fmt.Sprintf("web-%d", i), "  replicas: 2"
		v1 = append(v1, workloadYAML("Deployment", "many", name, "web:1", spec))
		v2 = append(v2, strings.Replace(workloadYAML("Deployment", "many", name, "web:2", spec), "spec: {term", "spec: {nodeSelector: {no: such}, term", 1))
	}
	all := func(want func(workload.Sample) bool) func(workload.Fleet) error {
		return func(f workload.Fleet) error {
			for i := range 25 {
				s, err := sampleIn(f, fmt.Sprintf("many/deployment/web-%d", i))
				if err != nil || !want(s) {
					return errors.Join(err, errors.New(show(s)))
				}
			}
			return nil
		}
	}
	r.cp.Apply(t, v1...)
	r.until(t, all(ready(2)))
	r.cp.Apply(t, v2...)
	r.until(t, all(func(s workload.Sample) bool {
		return s.Rollout != nil && s.Rollout.InFlight && len(s.Rollout.Templates) == 2 &&
			s.Rollout.Templates[0].Images["main"] == "web:2" && s.Rollout.Templates[1].Images["main"] == "web:1"
	}))
}
