package admission_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// served returns the policy or the binding in a file as an API server returns it: with the
// metadata and the defaults that it adds.
func served(t *testing.T, file []byte) map[string]any {
	t.Helper()
	decoder := yaml.NewDecoder(strings.NewReader(string(file)))
	for {
		var o map[string]any
		if err := decoder.Decode(&o); err == io.EOF {
			t.Fatal("the file has no policy and no binding")
		} else if err != nil {
			t.Fatal(err)
		}
		switch o["kind"] {
		case "MutatingAdmissionPolicy":
			defaultMatch(o["spec"].(map[string]any)["matchConstraints"].(map[string]any))
		case "MutatingAdmissionPolicyBinding":
			defaultMatch(o["spec"].(map[string]any)["matchResources"].(map[string]any))
		default:
			continue
		}
		metadata := o["metadata"].(map[string]any)
		metadata["uid"] = "0f8a"
		metadata["generation"] = int64(1)
		metadata["managedFields"] = []any{map[string]any{"manager": "kustomize-controller"}}
		metadata["labels"] = map[string]any{"kustomize.toolkit.fluxcd.io/name": "levels"}
		o["status"] = map[string]any{}
		return o
	}
}

// watchBinding returns the part of a file that starts with the WatchBinding.
func watchBinding(file []byte) []byte {
	return bytes.SplitN(file, []byte("---\n"), 3)[2]
}

func defaultMatch(match map[string]any) {
	match["matchPolicy"] = "Equivalent"
	for _, name := range []string{"namespaceSelector", "objectSelector"} {
		if match[name] == nil {
			match[name] = map[string]any{}
		}
	}
	rules, _ := match["resourceRules"].([]any)
	for _, rule := range rules {
		rule.(map[string]any)["scope"] = "*"
	}
}

// policies are the policies that the laws are about.
var policies = map[string]admission.Policy{
	"built-in": {},
	"custom":   {Kinds: custom},
	"images":   {Images: true},
	"all":      {Kinds: custom, Images: true},
}

func TestAGeneratedPolicyEqualsItself(t *testing.T) {
	t.Parallel()
	for name, p := range policies {
		for other, q := range policies {
			got := admission.Compare(format(t, p), admission.Present(served(t, format(t, q))))
			if want := name == other; (got.State == admission.Equal) != want {
				t.Errorf("file %s, cluster %s: %s", name, other, got)
			}
			got = admission.CompareWatchBinding(format(t, p), admission.Present(served(t, watchBinding(format(t, q)))))
			if got.State != admission.Equal {
				t.Errorf("file %s, watch binding of cluster %s: %s", name, other, got)
			}
		}
	}
	for _, namespace := range []string{"shop", "0", "1e3", "null", "gitlatch-levels"} {
		live := admission.Present(served(t, admission.Binding(namespace)))
		if got := admission.CompareBinding(namespace, live); got.State != admission.Equal {
			t.Errorf("binding of %s: %s", namespace, got)
		}
		if got := admission.CompareBinding("other", live); got.Field != "metadata.name" {
			t.Errorf("binding of %s as the binding of other: %s", namespace, got)
		}
	}
}

// edits returns every change of one field below value: each leaf is changed or removed, and
// each map and list gets one more item. An edit changes value in place, and its undo
// restores it.
func edits(field string, value any) map[string]func() (undo func()) {
	all := map[string]func() func(){}
	set := func(m map[string]any, name string, to any) func() func() {
		return func() func() {
			was, had := m[name]
			m[name] = to
			if to == nil {
				delete(m, name)
			}
			return func() {
				m[name] = was
				if !had {
					delete(m, name)
				}
			}
		}
	}
	switch v := value.(type) {
	case map[string]any:
		all[field+".more set"] = set(v, "more", "x")
		for name, item := range v {
			switch item := item.(type) {
			case map[string]any, []any:
				maps.Copy(all, edits(field+"."+name, item))
				if fmt.Sprint(item) != "map[]" {
					all[field+"."+name+" removed"] = set(v, name, nil)
				}
			default:
				all[field+"."+name+" changed"] = set(v, name, "other")
				if name != "matchPolicy" && name != "scope" {
					all[field+"."+name+" removed"] = set(v, name, nil)
				}
			}
		}
	case []any:
		for i, item := range v {
			if _, leaf := item.(string); !leaf {
				maps.Copy(all, edits(field+"["+strconv.Itoa(i)+"]", item))
				continue
			}
			all[field+"["+strconv.Itoa(i)+"] changed"] = func() func() {
				v[i] = "other"
				return func() { v[i] = item }
			}
		}
	}
	return all
}

// An answer to a change names the changed field, or the nearest field around it.
func TestEveryChangedFieldIsFound(t *testing.T) {
	t.Parallel()
	file := format(t, policies["all"])
	for kind, c := range map[string]struct {
		live    map[string]any
		compare func(admission.Read) admission.Answer
	}{
		"policy":        {served(t, file), func(r admission.Read) admission.Answer { return admission.Compare(file, r) }},
		"watch binding": {served(t, watchBinding(file)), func(r admission.Read) admission.Answer { return admission.CompareWatchBinding(file, r) }},
		"binding":       {served(t, admission.Binding("shop")), func(r admission.Read) admission.Answer { return admission.CompareBinding("shop", r) }},
	} {
		changes := edits("spec", c.live["spec"])
		if kind == "policy" && len(changes) < 100 {
			t.Errorf("the law has only %d changes of the policy", len(changes))
		}
		for _, change := range slices.Sorted(maps.Keys(changes)) {
			undo := changes[change]()
			got := c.compare(admission.Present(c.live))
			undo()
			field, _, _ := strings.Cut(change, " ")
			if got.State != admission.Differs || got.Field == "" || !strings.HasPrefix(field, got.Field) {
				t.Errorf("%s, %s: %s", kind, change, got)
			}
		}
		if got := c.compare(admission.Present(c.live)); got.State != admission.Equal {
			t.Errorf("%s, every change undone: %s", kind, got)
		}
	}
}

func TestAnAnswerIsNeverEqualByDefault(t *testing.T) {
	t.Parallel()
	file := format(t, admission.Policy{})
	crew := custom["crew"]
	for name, c := range map[string]struct {
		live admission.Read
		want string
	}{
		"not read":       {admission.Read{}, "unknown: not read"},
		"a nil object":   {admission.Present(nil), "unknown: not read"},
		"not allowed":    {admission.Failed("no right to get it"), "unknown: no right to get it"},
		"no reason":      {admission.Failed(""), "unknown: not read"},
		"not in cluster": {admission.Missing(), "absent"},
		"not in list":    {admission.Find([]map[string]any{served(t, file)}, "other"), "absent"},
	} {
		for call, got := range map[string]admission.Answer{
			"Compare":             admission.Compare(file, c.live),
			"CompareBinding":      admission.CompareBinding("shop", c.live),
			"CompareWatchBinding": admission.CompareWatchBinding(file, c.live),
			"Covers":              admission.Covers("crew", crew, c.live),
		} {
			if got.String() != c.want {
				t.Errorf("%s, %s: %s, want %s", name, call, got, c.want)
			}
		}
	}
	if got := (admission.Answer{}).String(); got != "unknown" {
		t.Errorf("the zero answer is %s", got)
	}
	live := admission.Present(served(t, file))
	for name, c := range map[string]struct{ file, want string }{
		"an empty file":   {"", "unknown: the file in git has no MutatingAdmissionPolicy gitlatch-levels. Run gitlatch init"},
		"another policy":  {"{kind: MutatingAdmissionPolicy, metadata: {name: other}}", "unknown: the file in git has no MutatingAdmissionPolicy gitlatch-levels. Run gitlatch init"},
		"no YAML":         {"{", "unknown: parse the file in git: "},
		"a policy's name": {"{kind: MutatingAdmissionPolicy, metadata: {name: gitlatch-levels}}", "differs: spec is "},
	} {
		if got := admission.Compare([]byte(c.file), live).String(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	old := file[:len(file)-len(watchBinding(file))]
	if got := admission.CompareWatchBinding(old, live).String(); got != "unknown: the file in git has no MutatingAdmissionPolicyBinding gitlatch-levels. Run gitlatch init" {
		t.Errorf("a file without the watch binding: %s", got)
	}
}

// Only checkpoint files add ConfigMaps to the namespace of the levels, with the name of a
// namespace or with gitlatch.site.
func TestTheWatchBindingAppliesToNoWorkload(t *testing.T) {
	t.Parallel()
	live := served(t, watchBinding(format(t, admission.Policy{})))
	if got := admission.CompareBinding(admission.Namespace, admission.Present(live)); got.Field != "metadata.name" {
		t.Errorf("the watch binding as the binding of a namespace: %s", got)
	}
	spec := live["spec"].(map[string]any)
	params := spec["paramRef"].(map[string]any)
	if name := params["name"].(string); workload.ValidLabel(name) || name == "gitlatch.site" {
		t.Errorf("its ConfigMap is %s, which can exist", name)
	}
	if params["parameterNotFoundAction"] != "Allow" || params["namespace"] != admission.Namespace {
		t.Errorf("its parameters are %v", params)
	}
	selector := spec["matchResources"].(map[string]any)["namespaceSelector"].(map[string]any)["matchLabels"].(map[string]any)
	if len(selector) != 1 || selector["kubernetes.io/metadata.name"] != admission.Namespace {
		t.Errorf("it selects namespaces with the labels %v", selector)
	}
}

func TestADifferenceShowsBothValues(t *testing.T) {
	t.Parallel()
	file := format(t, admission.Policy{})
	for field, c := range map[string]struct {
		value any
		want  string
	}{
		"failurePolicy":    {"Fail", `differs: spec.failurePolicy is "Fail", want "Ignore"`},
		"matchConditions":  {nil, `differs: spec.matchConditions is absent, want "[map[expression:[{ 'deployments.apps': [..."`},
		"validations":      {[]any{map[string]any{"name": "a"}}, `differs: spec.validations is "[map[name:a]]", want absent`},
		"matchConstraints": {nil, `differs: spec.matchConstraints is absent, want "map[resourceRules:[map[apiGroups:[apps] ..."`},
		"paramKind":        {"\x1b[31m\n", `differs: spec.paramKind is "\x1b[31m\n", want "map[apiVersion:v1 kind:ConfigMap]"`},
	} {
		live := served(t, file)
		live["spec"].(map[string]any)[field] = c.value
		if got := admission.Compare(file, admission.Present(live)).String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestCovers(t *testing.T) {
	t.Parallel()
	for name, p := range policies {
		live := admission.Present(served(t, format(t, p)))
		kinds := custom.With(nil)
		for _, kind := range kinds.All() {
			o, _ := kinds.Object(kind)
			_, own := p.Kinds[kind]
			_, builtIn := workload.Kinds(nil).Object(kind)
			want := admission.Differs
			switch {
			case kind == "pool":
			case kind == workload.DaemonSet && !p.Images:
			case own, builtIn:
				want = admission.Equal
			}
			if got := admission.Covers(kind, o, live); got.State != want {
				t.Errorf("policy %s, kind %s: %s, want %s", name, kind, got, want)
			}
		}
	}
	live := admission.Present(served(t, format(t, admission.Policy{Kinds: custom})))
	for name, c := range map[string]struct {
		kind   workload.Kind
		change func(*workload.Object)
		want   string
	}{
		"another name":    {"gang", func(*workload.Object) {}, "differs: spec.variables has no kind 'workers.example.com': ['gang', '.spec.workers.replicas']"},
		"another path":    {"crew", func(o *workload.Object) { o.Replicas = ".spec.replicas" }, "differs: spec.variables has no kind 'workers.example.com': ['crew', '.spec.replicas']"},
		"another version": {"crew", func(o *workload.Object) { o.Version = "v2" }, "differs: spec.matchConstraints.resourceRules has no rule for workers.example.com"},
		"a longer name":   {"cre", func(*workload.Object) {}, "differs: spec.variables has no kind 'workers.example.com': ['cre', '.spec.workers.replicas']"},
	} {
		o := custom["crew"]
		c.change(&o)
		if got := admission.Covers(c.kind, o, live).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A policy that a user wrote can have any form.
func TestCoversReadsAnyObject(t *testing.T) {
	t.Parallel()
	for _, spec := range []any{nil, "x", map[string]any{"matchConstraints": 1, "variables": "x"}, map[string]any{"variables": []any{1, map[string]any{"name": "kinds", "expression": 2}}}} {
		live := admission.Present(map[string]any{"spec": spec})
		if got := admission.Covers("crew", custom["crew"], live); got.State != admission.Differs {
			t.Errorf("spec %v: %s", spec, got)
		}
	}
}
