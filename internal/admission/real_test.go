//go:build gitops

package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// settle bounds the time until the API server acts on a new policy, kind or binding. It
// takes at most a second for a policy, and five for a kind.
const settle = 2 * time.Minute

// definitions are the CustomResourceDefinitions of custom kinds, by kind. They are
// like most others: a field for replicas that may be null, without a default. teams have
// no schema.
func definitions() map[workload.Kind]string {
	const none = "{type: object, x-kubernetes-preserve-unknown-fields: true}"
	count := func(name string) string {
		return "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {" + name + ": {type: integer, format: int32, nullable: true}}}"
	}
	spec := func(schema string) string { return "{type: object, properties: {spec: " + schema + "}}" }
	all := map[workload.Kind]string{}
	for kind, schema := range map[workload.Kind]string{
		workload.ArgoRollout: spec(count("replicas")),
		"crew":               spec("{type: object, properties: {note: {type: string}, workers: " + count("replicas") + "}}"),
		"squad":              spec(count("replicas")),
		"team":               none,
		"pool":               spec(count("node-count")),
	} {
		o, _ := custom.Object(kind)
		all[kind] = definition(o, schema)
	}
	return all
}

func definition(o workload.Object, schema string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[4]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[4]s, singular: %[5]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - {name: %[2]s, served: true, storage: true, schema: {openAPIV3Schema: %[6]s}}
`, o.Group, o.Version, o.Kind, o.Resource, strings.ToLower(o.Kind), schema)
}

// levels returns the ConfigMap with the levels of a namespace, as JSON.
func levels(namespace string, data map[string]string) string {
	text, _ := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": data,
		"metadata": map[string]any{"name": namespace, "namespace": admission.Namespace}})
	return string(text)
}

func namespaced(name string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %q}}", name)
}

// manifest returns a workload with a count at the path of its kind, as JSON; "" omits it.
func manifest(kind workload.Kind, namespace, name, asks string) string {
	o, _ := custom.Object(kind)
	spec := map[string]any{}
	if o.Group == "apps" || kind == workload.ArgoRollout {
		labels := map[string]any{"app": "web"}
		spec["selector"] = map[string]any{"matchLabels": labels}
		spec["template"] = map[string]any{"metadata": map[string]any{"labels": labels},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": "app:v2"}}}}
	}
	if asks != "" {
		fields := spec
		names := o.Replicas.Names()[1:]
		for _, parent := range names[:len(names)-1] {
			inner := map[string]any{}
			fields[parent] = inner
			fields = inner
		}
		fields[names[len(names)-1]] = json.RawMessage(asks)
	}
	text, _ := json.Marshal(map[string]any{"apiVersion": o.APIVersion(), "kind": o.Kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": namespace}})
	return string(text)
}

// try creates objects in a dry run, which goes through admission like any other creation,
// and returns them.
func try(ctx context.Context, cp *controlplane.ControlPlane, manifests ...string) (all []map[string]any, err error) {
	out, err := cp.TryKubectl(ctx, strings.Join(manifests, "\n---\n"), "create", "--dry-run=server", "-f", "-", "-o", "json")
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(strings.NewReader(out))
	for {
		var o struct {
			Items []map[string]any
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &o); err != nil {
			return nil, err
		}
		if o.Items == nil {
			var one map[string]any
			if err := json.Unmarshal(raw, &one); err != nil {
				return nil, err
			}
			o.Items = append(o.Items, one)
		}
		all = append(all, o.Items...)
	}
}

func create(t *testing.T, cp *controlplane.ControlPlane, manifests ...string) []map[string]any {
	t.Helper()
	all, err := try(t.Context(), cp, manifests...)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != len(manifests) {
		t.Fatalf("%d of %d objects are created", len(all), len(manifests))
	}
	return all
}

// get returns a value of an object; "none" if it has no such value.
func get(o any, names ...string) string {
	for _, name := range names {
		fields, _ := o.(map[string]any)
		o = fields[name]
	}
	if o == nil {
		return "none"
	}
	return fmt.Sprint(o)
}

// outcome returns the count and the mark of a workload.
func outcome(kind workload.Kind, o map[string]any) string {
	of, _ := custom.Object(kind)
	return get(o, of.Replicas.Names()...) + " " + get(o, "metadata", "annotations", admission.Mark)
}

// eventually waits until a creation has the wanted outcome.
func eventually(t *testing.T, cp *controlplane.ControlPlane, kind workload.Kind, text, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		all, err := try(ctx, cp, text)
		if err != nil {
			return err
		}
		if got := outcome(kind, all[0]); got != want {
			return fmt.Errorf("%s is created with %s, want %s", kind, got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// creator is a user with the rights to apply the file with the policy, and no others.
const creator = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: creator}
rules:
- apiGroups: ["", admissionregistration.k8s.io, rbac.authorization.k8s.io]
  resources: [namespaces, mutatingadmissionpolicies, mutatingadmissionpolicybindings, roles, rolebindings]
  verbs: [get, create, patch]
- {apiGroups: [""], resources: [configmaps], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: creator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: creator}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: creator}]
`

// raised are the kinds that the policy raises.
var raised = []workload.Kind{workload.Deployment, workload.StatefulSet, workload.ArgoRollout, "crew", "squad", "team"}

func TestOnARealAPIServer(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Apply(t, slices.Collect(maps.Values(definitions()))...)
	cp.Established(t)
	file := format(t, policies["all"])
	cp.Apply(t, creator)
	cp.Kubectl(t, string(file), "--as=creator", "apply", "--server-side", "-f", "-")
	cp.Apply(t, namespaced("probe"), string(admission.Binding("probe")))
	data := map[string]string{}
	for _, kind := range raised {
		data[string(kind)+".web"] = "7"
	}
	cp.Apply(t, levels("probe", data))
	for _, kind := range raised {
		eventually(t, cp, kind, manifest(kind, "probe", "web", ""), "7 7")
	}
	for name, test := range map[string]func(*testing.T, *controlplane.ControlPlane){
		"raises each kind to its level":         raises,
		"leaves other workloads alone":          leavesAlone,
		"replaces the images of the new target": replacesImages,
		"grants the rights of an applier":       grants,
		"does not obey a tenant":                tenant,
	} {
		t.Run(name, func(t *testing.T) { test(t, cp) })
	}
	t.Run("equals the file", func(t *testing.T) { equals(t, cp, file) })
	t.Run("replaces no images without the option", func(t *testing.T) { withoutImages(t, cp) })
}

// An outcomeCase is a workload with a level in the ConfigMap and a count in the manifest.
// want is the count and the mark; "none" is the default of the kind, and no mark.
type outcomeCase struct{ name, level, asks, want string }

func raises(t *testing.T, cp *controlplane.ControlPlane) {
	cases := []outcomeCase{
		{"omitted", "20", "", "20 20"},
		{"asks-for-1", "20", "1", "20 20"},
		{"asks-for-less", "20", "3", "20 20"},
		{"asks-for-as-many", "20", "20", "20 20"},
		{"asks-for-more", "20", "30", "30 20"},
		{"asks-for-0", "20", "0", "0 20"},
		{"level-1", "1", "", "1 1"},
		{"longest", "999999", "", "999999 999999"},
		{"with.dots.v2", "20", "", "20 20"},
		{"with.dots", "21", "", "21 21"},
		{"bad-word", "abc", "", "none"},
		{"bad-negative", "-1", "", "none"},
		{"bad-zero", "0", "", "none"},
		{"bad-empty", "", "", "none"},
		{"bad-20-digits", "12345678901234567890", "", "none"},
		{"bad-int32", "2147483647", "", "none"},
		{"bad-7-digits", "1000000", "", "none"},
		{"bad-octal", "020", "", "none"},
		{"bad-space", " 20", "", "none"},
		{"bad-exponent", "1e3", "", "none"},
		{"bad-lines", "20\n30", "", "none"},
		{"bad-asks-for-3", "abc", "3", "3 none"},
	}
	for _, namespace := range []string{"shop", "1e3", "0-x", "kustomization", "site", "admission", "gitlatch", "gitlatch-levels"} {
		data := map[string]string{}
		for _, kind := range append(raised, "pool", workload.DaemonSet) {
			for _, c := range cases {
				data[string(kind)+"."+c.name] = c.level
			}
		}
		cp.Apply(t, namespaced(namespace), string(admission.Binding(namespace)), levels(namespace, data))
		eventually(t, cp, workload.Deployment, manifest(workload.Deployment, namespace, "omitted", ""), "20 20")
		for _, kind := range raised {
			var manifests []string
			// The API server accepts no dot in the name of a StatefulSet.
			created := slices.DeleteFunc(slices.Clone(cases), func(c outcomeCase) bool { return kind == workload.StatefulSet && strings.Contains(c.name, ".") })
			for _, c := range created {
				manifests = append(manifests, manifest(kind, namespace, c.name, c.asks))
			}
			for i, o := range create(t, cp, manifests...) {
				want := created[i].want
				if want == "none" {
					want = map[bool]string{true: "1 none", false: "none none"}[custom[kind].Group == "" && kind != workload.ArgoRollout]
				}
				if got := outcome(kind, o); got != want {
					t.Errorf("%s, %s %s is created with %s, want %s", namespace, kind, created[i].name, got, want)
				}
			}
		}
	}
	unscaled := create(t, cp, manifest("pool", "shop", "omitted", "3"), manifest(workload.DaemonSet, "shop", "omitted", ""))
	if got := outcome("pool", unscaled[0]); got != "3 none" {
		t.Errorf("a kind whose path has a dash is created with %s", got)
	}
	if got := get(unscaled[1], "metadata", "annotations", admission.Mark) + get(unscaled[1], "spec", "replicas"); got != "nonenone" {
		t.Errorf("a DaemonSet with a level is created with %s", got)
	}
	for name, c := range map[string]struct {
		kind       workload.Kind
		text, want string
	}{
		"null":             {"crew", manifest("crew", "shop", "omitted", "null"), "20 20"},
		"no parent":        {"crew", strings.Replace(manifest("crew", "shop", "omitted", ""), `"spec":{}`, `"spec":{"note":"x"}`, 1), "20 20"},
		"no spec":          {"crew", strings.Replace(manifest("crew", "shop", "omitted", ""), `,"spec":{}`, "", 1), "20 20"},
		"a null of Argo":   {workload.ArgoRollout, manifest(workload.ArgoRollout, "shop", "omitted", "null"), "20 20"},
		"a mark of a user": {workload.Deployment, strings.Replace(manifest(workload.Deployment, "shop", "omitted", ""), `"metadata":{"name"`, `"metadata":{"annotations":{"gitlatch.dev/floor":"99","team":"a"},"name"`, 1), "20 20"},
	} {
		all, err := try(t.Context(), cp, c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := outcome(c.kind, all[0]); got != c.want {
			t.Errorf("%s is created with %s, want %s", name, got, c.want)
		}
	}
}

func leavesAlone(t *testing.T, cp *controlplane.ControlPlane) {
	cp.Apply(t, namespaced("unbound"), levels("unbound", map[string]string{"deployment.web": "9"}),
		namespaced("missing"), string(admission.Binding("missing")),
		namespaced("hollow"), string(admission.Binding("hollow")),
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: hollow, namespace: gitlatch-levels}}")
	time.Sleep(2 * time.Second)
	for _, namespace := range []string{"unbound", "missing", "hollow"} {
		if got := outcome(workload.Deployment, create(t, cp, manifest(workload.Deployment, namespace, "web", ""))[0]); got != "1 none" {
			t.Errorf("a Deployment in namespace %s is created with %s", namespace, got)
		}
	}
	unnamed := strings.Replace(manifest(workload.Deployment, "probe", "web", ""), `"name":"web","namespace"`, `"generateName":"web","namespace"`, 1)
	if got := outcome(workload.Deployment, create(t, cp, unnamed)[0]); got != "1 none" {
		t.Errorf("a Deployment without a name is created with %s", got)
	}

	// A level acts at creation only: an update, and an apply of the same manifest, keep the
	// replicas of a running workload.
	text := manifest(workload.Deployment, "probe", "web", "")
	cp.Apply(t, text)
	cp.Kubectl(t, "", "scale", "deployment/web", "-n", "probe", "--replicas=2")
	cp.Apply(t, strings.Replace(text, "app:v2", "app:v3", 1))
	if got := cp.Kubectl(t, "", "get", "deployment/web", "-n", "probe", "-o", "jsonpath={.spec.replicas}"); got != "2" {
		t.Errorf("a running Deployment has %s replicas after an apply, want 2", got)
	}
}

// inFlight are the keys of a rollout from v1 to v2 that a rebuild returns from.
func inFlight(key string) map[string]string {
	return map[string]string{key: "7", key + "_milestone": "25", key + "_phase": "progressing", key + "_from": "5d4f", key + "_to": "7c9b",
		key + "_returns": "from", key + "_differ": "images", key + "_from_main": "app:v1", key + "_to_main": "app:v2"}
}

func replacesImages(t *testing.T, cp *controlplane.ControlPlane) {
	cases := []struct{ name, key, value, want string }{
		{"target", "", "", "app:v1"},
		{"selects-new", "_returns", "to", "app:v2"},
		{"selects-nothing", "_returns", "", "app:v2"},
		{"differ-in-more", "_differ", "more", "app:v2"},
		{"other-target", "_to_main", "app:v3", "app:v2"},
		{"another-container", "_to_proxy", "proxy:v2", "app:v2"},
		{"another-old-container", "_from_proxy", "proxy:v1", "app:v2"},
		{"no-old-image", "_from_main", "", "app:v2"},
	}
	kinds := []workload.Kind{workload.Deployment, workload.StatefulSet, workload.DaemonSet, workload.ArgoRollout}
	data := map[string]string{}
	for _, kind := range kinds {
		for _, c := range cases {
			key := string(kind) + "." + c.name
			for k, v := range inFlight(key) {
				data[k] = v
			}
			if c.key != "" {
				data[key+c.key] = c.value
			}
		}
	}
	cp.Apply(t, namespaced("images"), string(admission.Binding("images")), levels("images", data))
	eventually(t, cp, workload.Deployment, manifest(workload.Deployment, "images", "target", ""), "7 7")
	for _, kind := range kinds {
		var manifests []string
		for _, c := range cases {
			manifests = append(manifests, manifest(kind, "images", c.name, ""))
		}
		for i, o := range create(t, cp, manifests...) {
			want := cases[i].want
			if kind == workload.ArgoRollout {
				want = "app:v2" // its containers do not merge by name
			}
			if got := imagesOf(o); got != want {
				t.Errorf("%s %s is created with image %s, want %s", kind, cases[i].name, got, want)
			}
			if got := outcome(kind, o); kind != workload.DaemonSet && got != "7 7" {
				t.Errorf("%s %s is created with %s, want 7 7", kind, cases[i].name, got)
			}
		}
	}
	two := strings.Replace(manifest(workload.Deployment, "images", "target", ""), `[{"image"`, `[{"name":"more","image":"more:v1"},{"image"`, 1)
	if got := imagesOf(create(t, cp, two)[0]); got != "more:v1 app:v2" {
		t.Errorf("a Deployment with another container is created with images %s", got)
	}
}

func imagesOf(o map[string]any) string {
	var all []string
	template, _ := o["spec"].(map[string]any)["template"].(map[string]any)
	containers, _ := template["spec"].(map[string]any)["containers"].([]any)
	for _, c := range containers {
		all = append(all, get(c, "image"))
	}
	return strings.Join(all, " ")
}

// read reads an object or a list.
func read(t *testing.T, cp *controlplane.ControlPlane, path string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := cp.Read(t.Context(), "/apis/admissionregistration.k8s.io/v1/"+path, &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func equals(t *testing.T, cp *controlplane.ControlPlane, file []byte) {
	live := admission.Present(read(t, cp, "mutatingadmissionpolicies/gitlatch-levels"))
	if got := admission.Compare(file, live); got.State != admission.Equal {
		t.Errorf("the policy: %s", got)
	}
	if got := admission.Compare(format(t, admission.Policy{}), live); got.State != admission.Differs {
		t.Errorf("the policy of other kinds: %s", got)
	}
	for _, kind := range raised {
		o, _ := custom.Object(kind)
		if got := admission.Covers(kind, o, live); got.State != admission.Equal {
			t.Errorf("kind %s: %s", kind, got)
		}
	}
	if got := admission.Covers("pool", custom["pool"], live); got.State != admission.Differs {
		t.Errorf("kind pool: %s", got)
	}
	var items []map[string]any
	for _, item := range read(t, cp, "mutatingadmissionpolicybindings")["items"].([]any) {
		items = append(items, item.(map[string]any))
	}
	for namespace, want := range map[string]admission.State{"shop": admission.Equal, "1e3": admission.Equal, "unbound": admission.Absent} {
		if got := admission.CompareBinding(namespace, admission.Find(items, admission.BindingName(namespace))); got.State != want {
			t.Errorf("binding of %s: %s, want %s", namespace, got, want)
		}
	}
	if got := admission.CompareWatchBinding(file, admission.Find(items, admission.WatchBinding)); got.State != admission.Equal {
		t.Errorf("the watch binding: %s", got)
	}
	for patch, want := range map[string]string{
		`{"spec":{"failurePolicy":"Fail"}}`:                                                                          "spec.failurePolicy",
		`{"spec":{"matchConstraints":{"namespaceSelector":{"matchLabels":{"a":"b"}}}}}`:                              "spec.matchConstraints.namespaceSelector",
		`{"spec":{"matchConstraints":{"matchPolicy":"Exact"}}}`:                                                      "spec.matchConstraints.matchPolicy",
		`{"spec":{"matchConditions":[{"name":"never","expression":"false"}]}}`:                                       "spec.matchConditions[0].expression",
		`{"spec":{"matchConditions":null}}`:                                                                          "spec.matchConditions",
		`{"spec":{"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}]}}`: "spec.mutations[0].applyConfiguration.expression",
	} {
		out := cp.Kubectl(t, "", "patch", "mutatingadmissionpolicy", "gitlatch-levels", "--type=merge", "-p", patch, "--dry-run=server", "-o", "json")
		var changed map[string]any
		if err := json.Unmarshal([]byte(out), &changed); err != nil {
			t.Fatal(err)
		}
		if got := admission.Compare(file, admission.Present(changed)); got.State != admission.Differs || got.Field != want {
			t.Errorf("%s: %s, want %s", patch, got, want)
		}
	}
}

func grants(t *testing.T, cp *controlplane.ControlPlane) {
	cp.Apply(t, string(admission.Applier("flux-system", "applier")))
	folder := string(admission.Binding("granted")) + "---\n" + levels("granted", map[string]string{"deployment.web": "9"})
	applier := []string{"--as=system:serviceaccount:flux-system:applier"}
	server := []string{"apply", "--server-side", "-f", "-"}
	may := func(input string, as []string, args ...string) {
		t.Helper()
		err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
			_, err := cp.TryKubectl(ctx, input, append(as, args...)...)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	mayNot := func(input string, as []string, args ...string) {
		t.Helper()
		_, err := cp.TryKubectl(t.Context(), input, append(as, args...)...)
		if err == nil || !strings.Contains(err.Error(), "orbidden") {
			t.Errorf("%v as %v: %v, want a refusal", args, as, err)
		}
	}
	may(folder, applier, server...)
	may(strings.Replace(folder, `"9"`, `"10"`, 1), applier, server...)
	may(folder, applier, "apply", "-f", "-")
	may(folder, applier, "delete", "-f", "-")
	may("", applier, "delete", "mutatingadmissionpolicybinding", admission.WatchBinding, "--dry-run=server")
	mayNot(string(format(t, admission.Policy{})), applier, server...)
	mayNot(strings.Replace(string(admission.Binding("granted")), "namespace: gitlatch-levels", "namespace: kube-system", 1), applier, server...)
	mayNot("{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: default}}", applier, server...)
	for _, as := range [][]string{
		{"--as=tick", "--as-group=gitlatch:samplers"}, {"--as=user", "--as-group=gitlatch:people"}, {"--as=drill", "--as-group=gitlatch:drillers"},
		{"--as=system:serviceaccount:gitlatch:gitlatch"}, {"--as=system:serviceaccount:gitlatch:gitlatch-checks"},
	} {
		may("", as, "get", "configmaps", "-n", admission.Namespace)
		mayNot("", as, "get", "configmaps", "-n", "default")
		mayNot(levels("granted", nil), as, server...)
	}
}

// owner is a user with all rights in the namespace tenant.
const owner = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: owner, namespace: tenant}
rules: [{apiGroups: ["*"], resources: ["*"], verbs: ["*"]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: owner, namespace: tenant}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: owner}
subjects: [{kind: User, name: owner}]
`

// tenant tries to change a level and an image with all rights in the namespace of the
// workload.
func tenant(t *testing.T, cp *controlplane.ControlPlane) {
	data := inFlight("deployment.web")
	data["deployment.web"] = "9"
	cp.Apply(t, namespaced("tenant"), owner, string(admission.Binding("tenant")), levels("tenant", data))
	eventually(t, cp, workload.Deployment, manifest(workload.Deployment, "tenant", "web", ""), "9 9")
	as := func(input string, args ...string) error {
		_, err := cp.TryKubectl(t.Context(), input, append([]string{"--as=owner"}, args...)...)
		return err
	}
	server := []string{"apply", "--server-side", "-f", "-"}
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		return as("", "get", "deployments", "-n", "tenant")
	})
	if err != nil {
		t.Fatal(err)
	}
	data["deployment.web"] = "99"
	data["deployment.web_from_main"] = "app:evil"
	own := strings.Replace(levels("tenant", data), `"namespace":"`+admission.Namespace+`"`, `"namespace":"tenant"`, 1)
	if err := as(own, server...); err != nil {
		t.Errorf("a ConfigMap of the tenant: %v", err)
	}
	bound := strings.Replace(string(admission.Binding("tenant")), "namespace: "+admission.Namespace, "namespace: tenant", 1)
	for what, c := range map[string]struct {
		input string
		args  []string
	}{
		"the levels":             {levels("tenant", data), server},
		"the policy":             {string(format(t, admission.Policy{})), server},
		"the binding":            {bound, server},
		"a binding of another":   {strings.Replace(bound, admission.BindingName("tenant"), "own", 1), server},
		"the removal of a level": {"", []string{"delete", "configmap", "-n", admission.Namespace, "tenant"}},
		"the removal of binding": {"", []string{"delete", "mutatingadmissionpolicybinding", admission.BindingName("tenant")}},
	} {
		if err := as(c.input, c.args...); err == nil || !strings.Contains(err.Error(), "orbidden") {
			t.Errorf("%s: %v, want a refusal", what, err)
		}
	}
	// The API server sets this label again in each write.
	if err := as("", "label", "namespace", "tenant", "kubernetes.io/metadata.name=shop", "--overwrite"); err != nil {
		t.Errorf("a label of the namespace: %v", err)
	}
	all := create(t, cp, manifest(workload.Deployment, "tenant", "web", ""))
	if got := outcome(workload.Deployment, all[0]) + " " + imagesOf(all[0]); got != "9 9 app:v1" {
		t.Errorf("the workload is created with %s, want 9 9 app:v1", got)
	}
}

// withoutImages runs last, because it changes the policy.
func withoutImages(t *testing.T, cp *controlplane.ControlPlane) {
	cp.Apply(t, string(format(t, policies["custom"])))
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		all, err := try(ctx, cp, manifest(workload.Deployment, "images", "target", ""))
		if err != nil {
			return err
		}
		if got := imagesOf(all[0]) + " " + outcome(workload.Deployment, all[0]); got != "app:v2 7 7" {
			return fmt.Errorf("it is created with %s, want app:v2 7 7", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The API server reads the schemas of custom kinds every five seconds. Until it has read the
// one of a new kind, it refuses to create an object that a policy applies to, or creates it
// without its level if it knows another kind of the same group and version. It never
// refuses an object without an entry.
func TestANewKindIsRaisedAfterSeconds(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Apply(t, string(format(t, policies["custom"])))
	data := map[string]string{"deployment.web": "7"}
	added := []workload.Kind{workload.ArgoRollout, "crew", "team", "squad"}
	for _, kind := range added {
		data[string(kind)+".web"] = "7"
	}
	cp.Apply(t, namespaced("probe"), string(admission.Binding("probe")), levels("probe", data))
	eventually(t, cp, workload.Deployment, manifest(workload.Deployment, "probe", "web", ""), "7 7")
	all := definitions()
	for _, kind := range added {
		o, _ := custom.Object(kind)
		cp.Apply(t, all[kind])
		cp.Established(t)
		since := time.Now()
		refused, unraised := 0, 0
		unknown := fmt.Sprintf("Resource kind %s, Kind=%s not found", o.APIVersion(), o.Kind)
		err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
			if _, err := try(ctx, cp, manifest(kind, "probe", "other", "")); err != nil {
				t.Errorf("%s without an entry is refused: %v", kind, err)
			}
			made, err := try(ctx, cp, manifest(kind, "probe", "web", ""))
			if err != nil && strings.Contains(err.Error(), unknown) {
				refused++
				return err
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := outcome(kind, made[0]); got != "7 7" {
				unraised++
				return fmt.Errorf("%s is created with %s, want 7 7", kind, got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		t.Logf("%s: refused %d times, created %d times without its level, in %s", kind, refused, unraised, time.Since(since))
	}
}
