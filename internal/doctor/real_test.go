//go:build cluster || gitops

package doctor_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	set "github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const rights = "../../infra/rbac/doctor"

func TestTheRoleIsWhatIsRead(t *testing.T) {
	t.Parallel()
	var role, sampler rbacv1.ClusterRole
	for name, into := range map[string]*rbacv1.ClusterRole{"doctor/clusterrole.yaml": &role, "clusterrole.yaml": &sampler} {
		if err := yaml.UnmarshalStrict([]byte(file(t, filepath.Join(rights, "..", name))), into); err != nil {
			t.Fatal(err)
		}
	}
	granted := func(of rbacv1.ClusterRole) (all []string) {
		for _, rule := range of.Rules {
			for _, resource := range rule.Resources {
				name := strings.TrimSuffix(resource+"."+rule.APIGroups[0], ".")
				all = append(all, fmt.Sprint(name, rule.ResourceNames, rule.Verbs))
			}
		}
		return all
	}
	want := append(granted(sampler), "configmaps[argocd-cm] [get]")
	for _, s := range doctor.Sources() {
		want = append(want, s.Name+"[] [list]")
	}
	for _, k := range set.Kinds() {
		want = append(want, k.Name+"[] [list]")
	}
	got := granted(role)
	slices.Sort(got)
	slices.Sort(want)
	want = slices.Compact(want) // a sample and doctor list the same autoscalers
	if !slices.Equal(got, want) {
		t.Errorf("the role grants\n%s\nand read are\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const running = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 180
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "app:1"}]}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {minReplicas: 3, maxReplicas: 500, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
`

func TestOnARealControlPlane(t *testing.T) {
	t.Parallel()
	minor, options := controlplane.Minor(t), controlplane.Options{}
	if doctor.Old(minor) {
		options.APIServerFlags = []string{"--feature-gates=MutatingAdmissionPolicy=true", "--runtime-config=" + beta + "=true"}
	}
	cp := controlplane.Start(t, options)
	for _, namespace := range []string{"shop", "flux-system", "argocd"} {
		cp.Kubectl(t, "", "create", "namespace", namespace)
	}
	cp.Apply(t, running, file(t, filepath.Join(rights, "clusterrole.yaml")), file(t, filepath.Join(rights, "clusterrolebinding.yaml")))

	t.Run("a cluster without any tool", func(t *testing.T) {
		seen := look(t, cp, "flux", "gitlatch:people")
		if r := doctor.Examine(seen); len(r.Unread) > 0 || !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Trap == doctor.NoApplier }) {
			t.Errorf("%s", tell(r))
		}
		if seen.Cluster.Minor != minor {
			t.Errorf("the server is 1.%d, want 1.%d", seen.Cluster.Minor, minor)
		}
	})
	t.Run("a person without rights", func(t *testing.T) {
		c := doctor.ReadCluster(t.Context(), objects(t, cp, "nobody"), nil)
		if len(c.Unread) != len(doctor.Sources()) || !strings.Contains(strings.Join(workload.Texts(c.Unread), "\n"), "applications.argoproj.io: forbidden") {
			t.Errorf("unread %q", c.Unread)
		}
		if want := 2 + len(set.Kinds()) + len(workload.Kinds{}.All()); len(c.Objects.Unknown) != want { // ResourceQuotas and Namespaces
			t.Errorf("%d readings of the room failed, want %d: %+v", len(c.Objects.Unknown), want, c.Objects.Unknown)
		}
	})

	cp.Define(t, controlplane.Kustomization, controlplane.GitRepository, controlplane.HelmRelease, controlplane.Application)
	if doctor.Old(minor) {
		t.Run("an admission policy before v1", func(t *testing.T) { beforeV1(t, cp) })
	}
	for _, way := range good {
		if way == "admission" && doctor.Old(minor) {
			continue // see beforeV1
		}
		t.Run(way, func(t *testing.T) {
			f := read(t, way)
			cp.Apply(t, f["cluster.yaml"])
			defer func() { cp.Kubectl(t, f["cluster.yaml"], "delete", "-f", "-") }()
			if got := tell(doctor.Examine(look(t, cp, way, "gitlatch:people"))); got != f["want"] {
				t.Errorf("got\n%s\nwant\n%s", got, f["want"])
			}
			if way == "admission" {
				createdAt(t, cp, f, "200")
				scaledByHand(t, cp)
			}
		})
	}
}

// beta is the API of admission policies before Kubernetes 1.36.
const beta = "admissionregistration.k8s.io/v1beta1"

// beforeV1 checks that an API server before Kubernetes 1.36 does not serve admission
// policies in v1, although they are turned on. doctor does not find the policy in v1beta1,
// so no rule protects the workload.
func beforeV1(t *testing.T, cp *controlplane.ControlPlane) {
	manifests := read(t, "admission")["cluster.yaml"]
	if _, err := cp.TryKubectl(t.Context(), manifests, "apply", "--dry-run=server", "-f", "-"); err == nil || !strings.Contains(err.Error(), `no matches for kind "MutatingAdmissionPolicy" in version "admissionregistration.k8s.io/v1"`) {
		t.Errorf("in v1, the API server answers %v", err)
	}
	manifests = strings.ReplaceAll(manifests, "admissionregistration.k8s.io/v1\n", beta+"\n")
	cp.Apply(t, manifests)
	defer func() { cp.Kubectl(t, manifests, "delete", "-f", "-") }()
	r := doctor.Examine(look(t, cp, "admission", "gitlatch:people"))
	if len(r.Unread) > 0 || len(r.Workloads) != 1 || len(r.Workloads[0].Inert) > 0 || !slices.ContainsFunc(r.Findings, func(f doctor.Finding) bool { return f.Trap == doctor.NoRule }) {
		t.Errorf("with a policy in v1beta1, doctor reports\n%s", tell(r))
	}
}

// createdAt compares doctor's result for a rebuild with the replicas that the server
// sets. It deletes the Deployment.
func createdAt(t *testing.T, cp *controlplane.ControlPlane, f fixture, want string) {
	t.Helper()
	cp.Apply(t, f.declare(t)[checkpoint.RecordPath("prod", "shop")])
	manifest := strings.Replace(strings.Split(running, "---")[0], "  replicas: 180\n", "", 1)
	cp.Kubectl(t, "", "delete", "deployment", "-n", "shop", "web")
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error {
		if got := cp.Kubectl(t, manifest, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.replicas}"); got != want {
			return fmt.Errorf("it is created at %s, want %s", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// scaledByHand lets the policy create a workload without an autoscaler and without
// replicas in its manifest. The sample shows a user's scale, even though no manager
// owns the replicas.
func scaledByHand(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	cp.Kubectl(t, "", "delete", "hpa", "-n", "shop", "web")
	manifest := strings.Replace(strings.Split(running, "---")[0], "  replicas: 180\n", "", 1)
	cp.Kubectl(t, manifest, "apply", "--server-side", "-f", "-")
	sampler, err := kube.New(cp.As("person", "gitlatch:people"), kube.Options{Site: "prod", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	applied := ""
	sees := func(after string, desired int32, driver workload.Driver, unstated bool) {
		t.Helper()
		err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
			fleet, err := sampler.Sample(ctx, nil)
			if err != nil {
				return err
			}
			for _, s := range fleet.Samples {
				if s.ID == web && s.Scale != nil && s.Scale.Desired == desired && s.Scale.Driver == driver && s.Scale.Unstated == unstated && s.Scale.Applied == applied {
					return nil
				}
			}
			return fmt.Errorf("it sees %+v", fleet.Samples)
		})
		if err != nil {
			t.Errorf("after %s, want %d by %q, unstated %v: %v", after, desired, driver, unstated, err)
		}
	}
	sees("creation", 200, workload.DrivenByScale, false)
	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=30")
	sees("a scale", 30, workload.DrivenByScale, false)
	cp.Kubectl(t, manifest, "apply", "--server-side", "-f", "-")
	sees("the next apply", 30, workload.DrivenByScale, false)
	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=1")
	sees("a scale to 1", 1, workload.DrivenByNothing, true)

	// A tool that applies replicas owns the field until another manager writes it.
	cp.Kubectl(t, strings.Replace(manifest, "spec:\n", "spec:\n  replicas: 4\n", 1), "apply", "--server-side", "--force-conflicts", "--field-manager=kustomize-controller", "-f", "-")
	applied = "kustomize-controller"
	sees("an apply of 4", 4, workload.DrivenByNothing, false)
	applied = ""
	cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/web", "--replicas=5")
	sees("a scale", 5, workload.DrivenByScale, false)
}

func objects(t *testing.T, cp *controlplane.ControlPlane, group string) *kube.Objects {
	t.Helper()
	o, err := kube.NewObjects(cp.As("person", group))
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// look returns the case that a member of a group can read, with the repository of a
// fixture.
func look(t *testing.T, cp *controlplane.ControlPlane, way, group string) doctor.Case {
	t.Helper()
	sampler, err := kube.New(cp.As("person", group), kube.Options{Site: "prod", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	c := doctor.Case{Site: "prod", Here: here, Set: config.DefaultPolicy(5 * time.Minute), Cluster: doctor.ReadCluster(t.Context(), objects(t, cp, group), nil)}
	if c.Fleet, err = sampler.Sample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f := read(t, way)
	f["uid"] = c.Fleet.Cluster
	files := f.declare(t)
	for name, text := range f {
		if at, ok := strings.CutPrefix(name, "repo/"); ok {
			files[at] = text
		}
	}
	repository := repomem.New(files)
	tip, _, err := repository.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Overlays, err = doctor.ReadOverlays(t.Context(), repository, tip, c.Cluster.Builds(), doctor.Charts{}); err != nil {
		t.Fatal(err)
	}
	bytes := map[string][]byte{}
	for name, text := range files {
		bytes[name] = []byte(text)
	}
	if c.Tree, err = checkpoint.ParseTree("prod", bytes); err != nil {
		t.Fatal(err)
	}
	return c
}
