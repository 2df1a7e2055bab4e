package admission_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var (
	web    = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	ledger = workload.ID{Namespace: "pay", Kind: workload.StatefulSet, Name: "ledger.v2"}
	inGit  = map[workload.ID]int32{web: 200, ledger: 5}
)

// objectsIn returns the YAML documents of a file.
func objectsIn(t *testing.T, file []byte) (all []map[string]any) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(file))
	for {
		var one map[string]any
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
}

// A cluster has the objects of gitlatch after an apply.
type cluster struct {
	policy   map[string]any
	bindings map[string]map[string]any
	levels   map[string]map[string]string // by ConfigMap
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	file, err := admission.Policy{}.Format()
	if err != nil {
		t.Fatal(err)
	}
	c := cluster{bindings: map[string]map[string]any{}, levels: map[string]map[string]string{
		"shop":             {"deployment.web": "200", "deployment.web_min": "3", "note": "by a user"},
		"pay":              {"statefulset.ledger.v2": "5"},
		"gitlatch.site":    {"name": "prod-eu"},
		"kube-root-ca.crt": {"ca.crt": "..."},
	}}
	all := objectsIn(t, file)
	for _, namespace := range []string{"shop", "pay", "unused"} {
		all = append(all, objectsIn(t, admission.Binding(namespace))...)
	}
	for _, o := range all {
		name, _ := o["metadata"].(map[string]any)["name"].(string)
		switch o["kind"] {
		case "MutatingAdmissionPolicy":
			c.policy = o
		case "MutatingAdmissionPolicyBinding":
			c.bindings[name] = o
		}
	}
	return c
}

// read returns a reading of all parts of the cluster.
func (c cluster) read() admission.Levels {
	var bindings []map[string]any
	for _, b := range c.bindings {
		bindings = append(bindings, b)
	}
	var maps []admission.ConfigMap
	for name, data := range c.levels {
		maps = append(maps, admission.ConfigMap{Name: name, Data: data})
	}
	policy := admission.Missing()
	if c.policy != nil {
		policy = admission.Present(c.policy)
	}
	return admission.Levels{Version: admission.Observed(37), Policy: policy, Bindings: admission.Observed(bindings), ConfigMaps: admission.Observed(maps)}
}

// text returns the comparison, one line for each difference and each unknown part.
func text(a admission.Applied) string {
	var lines []string
	supported, read := a.Supported.Value()
	if !read {
		lines = append(lines, "version: "+a.Supported.Why())
	} else if !supported {
		lines = append(lines, "not supported")
	}
	other, read := a.Other.Value()
	if !read {
		lines = append(lines, "site: "+a.Other.Why())
	} else if other != "" {
		lines = append(lines, "site is "+other)
	}
	for _, subject := range admission.Subjects() {
		all, read := a.Differences[subject].Value()
		if !read {
			lines = append(lines, string(subject)+": "+a.Differences[subject].Why())
		}
		for _, d := range all {
			lines = append(lines, fmt.Sprint(d))
		}
	}
	return strings.Join(lines, "\n")
}

func TestCompareLevels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*cluster)
		want   string
	}{
		{"applied", func(*cluster) {}, ""},
		{"a level is absent", func(c *cluster) { delete(c.levels["shop"], "deployment.web") }, "level shop/deployment/web (200 in git, absent in the cluster)"},
		{"a level differs", func(c *cluster) { c.levels["shop"]["deployment.web"] = "50" }, "level shop/deployment/web (200 in git, 50 in the cluster)"},
		{"a level is no number", func(c *cluster) { c.levels["shop"]["deployment.web"] = "2\n" + strings.Repeat("0", 100) }, `level shop/deployment/web (200 in git, "2\n00000000000000000000000000000000000000..." in the cluster)`},
		{"a level is not in git", func(c *cluster) { c.levels["shop"]["rollout.api"] = "7" }, "level shop/rollout/api (absent in git, 7 in the cluster)"},
		{"a file is not in git", func(c *cluster) { c.levels["old"] = map[string]string{"deployment.web": "2"} }, "level old/deployment/web (absent in git, 2 in the cluster)"},
		{"keys that are not levels", func(c *cluster) {
			c.levels["shop"] = map[string]string{"deployment.web": "200", "deployment.API": "1", "daemonset.agent": "1", "job.x": "1", "deployment.": "1", "deployment": "1"}
		}, ""},
		{"a ConfigMap is absent", func(c *cluster) { delete(c.levels, "pay") }, "level pay/statefulset/ledger.v2 (5 in git, absent in the cluster)"},
		{"a binding is absent", func(c *cluster) { delete(c.bindings, "gitlatch-levels.pay") }, "binding gitlatch-levels.pay (absent in the cluster)"},
		{"a binding differs", func(c *cluster) {
			c.bindings["gitlatch-levels.shop"]["spec"].(map[string]any)["policyName"] = "another"
		}, `binding gitlatch-levels.shop (spec.policyName is "another", want "gitlatch-levels" in the cluster)`},
		{"a binding that nothing needs is absent", func(c *cluster) { delete(c.bindings, "gitlatch-levels.unused") }, ""},
		{"the binding that keeps the watch is absent", func(c *cluster) { delete(c.bindings, "gitlatch-levels") }, "binding gitlatch-levels (absent in the cluster)"},
		{"the policy is absent", func(c *cluster) { c.policy = nil }, "admission policy gitlatch-levels (absent in the cluster)"},
		{"the policy does not cover a kind", func(c *cluster) {
			c.policy["spec"].(map[string]any)["matchConstraints"] = nil
		}, "admission policy gitlatch-levels (spec.matchConstraints.resourceRules has no rule for deployments.apps in the cluster)"},
		{"another site", func(c *cluster) { c.levels["gitlatch.site"]["name"] = "stage" }, "site is stage"},
		{"no identity", func(c *cluster) { delete(c.levels, "gitlatch.site") }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			test.change(&c)
			got := text(admission.CompareLevels("prod-eu", inGit, nil, c.read()))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A part that could not be read is unknown, and the others are compared. Without the version,
// and below 1.36, all parts are unknown.
func TestCompareLevelsInPart(t *testing.T) {
	t.Parallel()
	parts := func(why string) string {
		return strings.ReplaceAll("\nsite: WHY\nadmission policy: WHY\nbinding: WHY\nlevel: WHY", "WHY", why)
	}
	for _, test := range []struct {
		name   string
		change func(*admission.Levels)
		want   string
	}{
		{"nothing", func(l *admission.Levels) { *l = admission.Levels{} }, "version: not read" + parts("not read")},
		{"version", func(l *admission.Levels) { l.Version = admission.Unread[int]("no answer") }, "version: no answer" + parts("no answer")},
		{"below 1.36", func(l *admission.Levels) { l.Version = admission.Observed(35) }, "not supported" + parts("Kubernetes 1.35 does not serve the admission policy of gitlatch")},
		{"1.36", func(l *admission.Levels) { l.Version = admission.Observed(36) }, "level shop/deployment/web (200 in git, 9 in the cluster)"},
		{"policy", func(l *admission.Levels) { l.Policy = admission.Failed("forbidden") }, "admission policy: forbidden\nlevel shop/deployment/web (200 in git, 9 in the cluster)"},
		{"bindings", func(l *admission.Levels) { l.Bindings = admission.Unread[[]map[string]any]("forbidden") }, "binding: forbidden\nlevel shop/deployment/web (200 in git, 9 in the cluster)"},
		{"ConfigMaps", func(l *admission.Levels) { l.ConfigMaps = admission.Unread[[]admission.ConfigMap]("forbidden") }, "site: forbidden\nlevel: forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.levels["shop"]["deployment.web"] = "9"
			l := c.read()
			test.change(&l)
			got := text(admission.CompareLevels("prod-eu", inGit, nil, l))
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// A site without levels needs no policy. A kind that no policy can raise needs no rule.
func TestCompareLevelsWithoutNeed(t *testing.T) {
	t.Parallel()
	empty := admission.Levels{Version: admission.Observed(37), Policy: admission.Missing(), Bindings: admission.Observed([]map[string]any{}), ConfigMaps: admission.Observed([]admission.ConfigMap{})}
	got := text(admission.CompareLevels("prod-eu", nil, nil, empty))
	if got != "" {
		t.Errorf("a site without levels: %s", got)
	}
	c := newCluster(t)
	c.levels["shop"]["pool.a"] = "3"
	pool := workload.ID{Namespace: "shop", Kind: "pool", Name: "a"}
	kinds := workload.Kinds{"pool": {Group: "example.com", Version: "v1", Kind: "Pool", Resource: "pools", Replicas: ".spec.node-count"}}
	declared := map[workload.ID]int32{web: 200, ledger: 5, pool: 3}
	got = text(admission.CompareLevels("prod-eu", declared, kinds, c.read()))
	if got != "" {
		t.Errorf("a kind that no policy can raise: %s", got)
	}
	got = text(admission.CompareLevels("prod-eu", declared, nil, c.read()))
	if got != "" {
		t.Errorf("a level of a kind that the site no longer has: %s", got)
	}
	kinds["pool"] = workload.Object{Group: "example.com", Version: "v1", Kind: "Pool", Resource: "pools", Replicas: ".spec.replicas"}
	got = text(admission.CompareLevels("prod-eu", declared, kinds, c.read()))
	if got != "admission policy gitlatch-levels (spec.matchConstraints.resourceRules has no rule for pools.example.com in the cluster)" {
		t.Errorf("a kind without a rule: %s", got)
	}
}
