//go:build gitops

package ways_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// record returns the ConfigMap of a checkpoint file with these lines.
func record(namespace string, lines ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gitlatch-checkpoint, namespace: %s}\ndata:\n  %s\n",
		namespace, strings.Join(lines, "\n  "))
}

// named are custom kinds of a site: two that have the same name in two API groups, and
// one that has its replicas in a field that the policy does not set.
var named = workload.Kinds{
	"crew":  {Group: "example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: workload.Replicas},
	"squad": {Group: "other.example.com", Version: "v1", Kind: "Worker", Resource: "workers", Replicas: workload.Replicas},
	"pool":  {Group: "example.com", Version: "v1", Kind: "Pool", Resource: "pools", Replicas: ".spec.size"},
}

// admitting returns a control plane in which both policies act. The API server needs a
// second to see a new policy, and another for its checkpoint file.
func admitting(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{})
	for _, kind := range []workload.Kind{workload.ArgoRollout, "crew", "squad", "pool"} {
		o, _ := named.Object(kind)
		cp.Apply(t, defined(o))
	}
	cp.Established(t)
	place := example
	place.Kinds = named
	cp.Apply(t, string(ways.Admission(place)), string(ways.Images(example)),
		"{apiVersion: v1, kind: Namespace, metadata: {name: probe}}",
		record("probe", `deployment.web: "7"`, `deployment.web_returns: from`, `deployment.web_differ: images`,
			`deployment.web_from_main: probe`, `deployment.web_to_main: app:1`))
	acts(t, cp, "probe", "web", "7 probe")
	for _, kind := range []workload.Kind{workload.ArgoRollout, "crew", "squad"} {
		known(t, cp, kind)
	}
	return cp
}

// known waits until a policy matches a new kind. The API server looks for new kinds
// every 5 s, and until then refuses to create objects that match a mutation.
func known(t *testing.T, cp *controlplane.ControlPlane, kind workload.Kind) {
	t.Helper()
	client, err := kube.Connect(cp.Config(), "test", "application/json")
	if err != nil {
		t.Fatal(err)
	}
	o, _ := named.Object(kind)
	err = controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		return client.Post().AbsPath(o.Path()).Namespace("probe").Resource(o.Resource).Param("dryRun", "All").
			SetHeader("Content-Type", "application/yaml").Body([]byte(manifest(kind, "probe", "web", ""))).Do(ctx).Error()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// acts waits until a workload that is created in the namespace has the wanted replicas
// and image.
func acts(t *testing.T, cp *controlplane.ControlPlane, namespace, name, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		got := cp.Kubectl(t, controlplane.Workload("Deployment", namespace, name), "create", "--dry-run=server", "-f", "-",
			"-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
		if got != want {
			return fmt.Errorf("it is created as %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// defined returns a CustomResourceDefinition like most others: it has a field for
// replicas, without a default.
func defined(o workload.Object) string {
	count := o.Replicas.Names()
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[4]s, singular: %[5]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: %[2]s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true,
      properties: {%[6]s: {type: integer, format: int32, nullable: true}}}}}}
`, o.Group, o.Version, o.Kind, o.Resource, strings.ToLower(o.Kind), count[len(count)-1])
}

// manifest returns the manifest of a workload with replicas; "" omits them.
func manifest(kind workload.Kind, namespace, name, asks string) string {
	o, _ := named.Object(kind)
	text := strings.Replace(controlplane.Workload(o.Kind, namespace, name), "apps/v1", o.APIVersion(), 1)
	if asks != "" {
		text = strings.Replace(text, "spec:\n", "spec:\n  replicas: "+asks+"\n", 1)
	}
	return text
}

// Each creation is a dry run, which goes through admission like any other.
func TestAdmission(t *testing.T) {
	t.Parallel()
	cp := admitting(t)
	for name, test := range map[string]func(*testing.T, *controlplane.ControlPlane){
		"raises what is created":                        raises,
		"puts images back that are the recorded target": putsBack,
		"leaves alone what has no record":               leavesAlone,
		"reads the largest record":                      readsTheLargest,
		"is not in the way of what runs":                keepsRunning,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, cp)
		})
	}
}

func raises(t *testing.T, cp *controlplane.ControlPlane) {
	kinds := []workload.Kind{workload.Deployment, workload.StatefulSet, workload.ArgoRollout, "crew", "squad"}
	for name, c := range map[string]struct {
		line string // of the checkpoint file; %s is kind.name
		asks string
		want string
	}{
		"left-out":         {`%s: "200"`, "", "200"},
		"asks-for-less":    {`%s: "200"`, "3", "200"},
		"asks-for-as-many": {`%s: "200"`, "200", "200"},
		"asks-for-more":    {`%s: "20"`, "50", "50"},
		"suspended":        {`%s: "20"`, "0", "0"},
		"other-line":       {`%s-2: "200"`, "", "1"},
		"longest":          {`%s: "2147483647"`, "", "2147483647"},
		"zero":             {`%s: "0"`, "", "1"},
		"negative":         {`%s: "-5"`, "", "1"},
		"no-number":        {`%s: many`, "", "1"},
		"empty":            {`%s: ""`, "", "1"},
		"octal":            {`%s: "0200"`, "", "1"},
		"too-large":        {`%s: "2147483648"`, "", "1"},
		"far-too-large":    {`%s: "99999999999999999999"`, "", "1"},
		"two-lines":        {"%s: \"5\\n6\"", "", "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []string{`deployment.probe: "9"`}
			for _, kind := range append(kinds, "pool") {
				lines = append(lines, fmt.Sprintf(c.line, string(kind)+"."+name))
			}
			cp.Apply(t, namespaceOf(name), record(name, lines...))
			acts(t, cp, name, "probe", "9 app:1")
			for _, kind := range kinds {
				want := c.want
				if o, _ := named.Object(kind); o.Group != "apps" && want == "1" {
					want = "" // custom kinds have no default
				}
				if got := created(t, cp, manifest(kind, name, name, c.asks)); got != want {
					t.Errorf("%s is created with %q, want %q", kind, got, want)
				}
			}
			if got := created(t, cp, manifest("pool", name, name, c.asks)); got != c.asks {
				t.Errorf("a kind that has its count elsewhere is created with %q", got)
			}
		})
	}
}

func namespaceOf(name string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name)
}

// created returns the replicas of a workload that a manifest would create.
func created(t *testing.T, cp *controlplane.ControlPlane, manifest string) string {
	t.Helper()
	return cp.Kubectl(t, manifest, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.replicas}")
}

// Without an entry, a policy changes and refuses nothing.
func leavesAlone(t *testing.T, cp *controlplane.ControlPlane) {
	cp.Apply(t, namespaceOf("bare"), namespaceOf("hollow"), "{apiVersion: v1, kind: ConfigMap, metadata: {name: gitlatch-checkpoint, namespace: hollow}}")
	for _, namespace := range []string{"bare", "hollow"} {
		for _, kind := range []workload.Kind{workload.Deployment, workload.StatefulSet} {
			if got := created(t, cp, manifest(kind, namespace, "web", "")); got != "1" {
				t.Errorf("%s in %s is created with %s, want 1", kind, namespace, got)
			}
		}
	}
	unnamed := strings.Replace(manifest(workload.Deployment, "probe", "web", ""), "name: web,", "generateName: web-,", 1)
	if got := created(t, cp, unnamed); got != "1" {
		t.Errorf("a workload without a name is created with %s, want 1", got)
	}
	dotted := strings.ReplaceAll(manifest(workload.Deployment, "probe", "web.v2", ""), "app: web.v2", "app: web")
	cp.Apply(t, record("probe", `deployment.web: "7"`, `deployment.web.v2: "11"`, `statefulset.web: "5"`, `crew.web: "3"`, `squad.web: "4"`, `worker.web: "6"`))
	eventuallyCreated(t, cp, dotted, "11")
	for kind, want := range map[workload.Kind]string{workload.Deployment: "7", workload.StatefulSet: "5", "crew": "3", "squad": "4"} {
		if got := created(t, cp, manifest(kind, "probe", "web", "")); got != want {
			t.Errorf("of the kinds with one name, %s is created with %s, want %s", kind, got, want)
		}
	}
}

// The size of the checkpoint file does not matter. This one has the largest possible
// size with a server-side apply, which stores each key a second time.
func readsTheLargest(t *testing.T, cp *controlplane.ControlPlane) {
	lines := []string{`deployment.web: "7"`, `deployment.web_returns: from`, `deployment.web_differ: images`,
		`deployment.web_from_main: old`, `deployment.web_to_main: app:1`}
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf(`deployment.a-workload-with-a-name-of-some-length-%d: "200"`, i))
	}
	cp.Apply(t, namespaceOf("large"), record("large", lines...))
	acts(t, cp, "large", "web", "7 old")
}

// An object that is applied again without replicas keeps its live replicas, for any
// kind, because the applier never owned them.
func keepsRunning(t *testing.T, cp *controlplane.ControlPlane) {
	cp.Apply(t, namespaceOf("runs"), record("runs", `deployment.web: "7"`, `rollout.web: "7"`, `crew.web: "7"`))
	acts(t, cp, "runs", "web", "7 app:1")
	for _, kind := range []workload.Kind{workload.Deployment, workload.ArgoRollout, "crew"} {
		o, _ := named.Object(kind)
		object := o.FullResource() + "/web"
		applied := func(image, want string) {
			t.Helper()
			cp.Apply(t, strings.ReplaceAll(manifest(kind, "runs", "web", ""), "app:1", image))
			if got := cp.Kubectl(t, "", "get", object, "-n", "runs", "-o", "jsonpath={.spec.replicas}"); got != want {
				t.Errorf("%s, applied with image %s, asks for %q, want %s", kind, image, got, want)
			}
		}
		applied("app:1", "7")
		applied("app:2", "7")
		cp.Kubectl(t, "", "patch", object, "-n", "runs", "--type=merge", "-p", `{"spec":{"replicas":3}}`)
		applied("app:3", "3")
	}
}

func eventuallyCreated(t *testing.T, cp *controlplane.ControlPlane, manifest, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		if got := created(t, cp, manifest); got != want {
			return fmt.Errorf("it is created with %s, want %s", got, want)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A policy lists the kinds that it does not raise, because otherwise a rebuild would be
// the first to show that.
func TestAdmissionSaysWhichKindsItLeavesAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kinds workload.Kinds
		says  []string
	}{
		"none of its own": {nil, nil},
		"all it raises":   {workload.Kinds{"crew": named["crew"]}, nil},
		"one elsewhere":   {named, []string{"# The policy does not change the kind Pool, whose replica count is in\n# .spec.size. For this kind, use the ignore rule that \"gitlatch render argocd\" or\n# \"gitlatch render flux\" prints.\n"}},
	} {
		place := example
		place.Kinds = c.kinds
		header, _, _ := strings.Cut(string(ways.Admission(place)), "apiVersion:")
		if n := strings.Count(header, "does not change the kind"); n != len(c.says) {
			t.Errorf("%s: it says of %d kinds that they are not raised:\n%s", name, n, header)
		}
		for _, says := range c.says {
			if !strings.Contains(header, says) {
				t.Errorf("%s: it does not say %q:\n%s", name, says, header)
			}
		}
	}
}

// A narrowed policy leaves other namespaces alone.
func TestAdmissionIsNarrowedToNamespaces(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	place := example
	place.Namespaces = []string{"probe", "pay"}
	cp.Apply(t, string(ways.Admission(place)), namespaceOf("probe"), namespaceOf("shop"),
		record("probe", `deployment.web: "7"`), record("shop", `deployment.web: "7"`))
	acts(t, cp, "probe", "web", "7 app:1")
	if got := created(t, cp, manifest(workload.Deployment, "shop", "web", "")); got != "1" {
		t.Errorf("in another namespace it is created with %s, want 1", got)
	}
}
