//go:build cluster || gitops

package doctor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const owned = "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, name: web"

// Doctor predicts the start of a workload on a real API server. Then the workload is created
// again, and starts with the predicted number of pods.
func TestOnARealControlPlane(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	for _, namespace := range []string{"shop", "flux-system"} {
		cp.Kubectl(t, "", "create", "namespace", namespace)
	}
	cp.Define(t, controlplane.Kustomization, controlplane.HelmRelease, controlplane.Application)
	cp.Apply(t, file(t, "doctor/clusterrole.yaml"), file(t, "doctor/clusterrolebinding.yaml"), string(levels.Applied()))
	cp.Apply(t, string(admission.Binding("shop")), levels.Kustomizations,
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: shop, namespace: gitlatch-levels, labels: {kustomize.toolkit.fluxcd.io/name: levels, kustomize.toolkit.fluxcd.io/namespace: flux-system}}, data: {deployment.web: "50"}}`)
	manifest := strings.Replace(controlplane.Workload("Deployment", "shop", "web"), "name: web", owned, 1)
	stated := strings.Replace(manifest, "spec:", "spec:\n  replicas: 3", 1)
	for _, c := range []struct {
		name, manifest, want string
		applied              int32 // the replicas after the next apply
	}{
		{"the manifest omits replicas", manifest, "observed 50, without 1: ", 50},
		{"the manifest states replicas", stated, "observed 3, without 3: replicas-reset", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			cp.Apply(t, c.manifest)
			cp.Apply(t, c.manifest) // a tool has reset the replicas that it states
			r := doctor.Examine(look(t, cp, "gitlatch:people"))
			if got := told(r); len(r.Unread) > 0 || got != c.want {
				t.Errorf("got  %s\nwant %s\n%+v, unread %q", got, c.want, r.Findings, r.Unread)
			}
			cp.Kubectl(t, "", "delete", "deployment", "-n", "shop", "web")
			controlled(t, cp, c.manifest)
			cp.Apply(t, c.manifest)
			cp.Apply(t, c.manifest)
			if got := cp.Kubectl(t, "", "get", "deployment", "-n", "shop", "web", "-o", "jsonpath={.spec.replicas}"); got != fmt.Sprint(c.applied) {
				t.Errorf("it has %s replicas, want %d", got, c.applied)
			}
			cp.Kubectl(t, "", "delete", "deployment", "-n", "shop", "web")
		})
	}
	t.Run("a user without rights", func(t *testing.T) {
		r := doctor.Examine(doctor.Case{Site: "prod", Cluster: doctor.ReadCluster(t.Context(), objects(t, cp, "nobody"), nil), Admission: levels.Policy()})
		if len(r.Findings) != 1 || r.Findings[0].Trap != doctor.MissingRights || !strings.Contains(strings.Join(r.Findings[0].Subjects, " "), "applications.argoproj.io") {
			t.Errorf("%+v", r.Findings)
		}
	})
}

// controlled waits until the API server acts on the policy.
func controlled(t *testing.T, cp *controlplane.ControlPlane, manifest string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		got := cp.Kubectl(t, manifest, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.replicas}")
		if got != "50" {
			return fmt.Errorf("it is created with %s replicas", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func objects(t *testing.T, cp *controlplane.ControlPlane, group string) *kube.Objects {
	t.Helper()
	o, err := kube.NewObjects(cp.As("person", group))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// look returns the case that a member of a group can read.
func look(t *testing.T, cp *controlplane.ControlPlane, group string) doctor.Case {
	t.Helper()
	sampler, err := kube.New(cp.As("person", group), kube.Options{Site: "prod", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	c := doctor.Case{Site: "prod", Policy: "gitlatch.yaml", Admission: levels.Policy(), Set: config.DefaultPolicy(5 * time.Minute), Cluster: doctor.ReadCluster(t.Context(), objects(t, cp, group), nil)}
	c.Fleet, err = sampler.Sample(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Tree = checkpoint.Tree{Site: checkpoint.Site{Name: "prod", Cluster: c.Fleet.Cluster}, Records: map[string]checkpoint.Record{
		"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{web: {Replicas: 50}}}}}
	return c
}
