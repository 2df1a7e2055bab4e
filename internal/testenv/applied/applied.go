// Package applied is a cluster with the objects of gitlatch: the admission policy, its
// bindings, and the levels. It answers like ReadLevels of package kube, and like an API
// server.
package applied

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Cluster has the objects that a tool applied. The zero value has no object, and an
// unknown version.
type Cluster struct {
	Minor  int                   // the minor version of Kubernetes; 0 is unknown
	Site   string                // in the identity; "" without an identity
	Kinds  workload.Kinds        // the custom kinds that the policy covers
	Levels map[workload.ID]int32 // with a binding for each namespace
	// Lost are parts that a user deleted: "policy", "watch" for the binding that keeps the
	// watch, a namespace for its binding, or a workload for its level.
	Lost map[string]bool
	// Forbidden are the parts that gitlatch may not read: "version", "policy", "bindings" or
	// "configmaps".
	Forbidden map[string]bool
}

// Read returns the objects, as ReadLevels does.
func (c Cluster) Read() admission.Levels {
	why := func(part string) string { return part + " could not be read: forbidden: no" }
	l := admission.Levels{
		Version:    admission.Observed(c.Minor),
		Policy:     admission.Missing(),
		Bindings:   admission.Observed(c.bindings()),
		ConfigMaps: admission.Observed(c.configMaps()),
	}
	policy := c.policy()
	if policy != nil {
		l.Policy = admission.Present(policy)
	}
	if c.Forbidden["version"] || c.Minor == 0 {
		l.Version = admission.Unread[int](why("version"))
	}
	if c.Forbidden["policy"] {
		l.Policy = admission.Failed(why("policy"))
	}
	if c.Forbidden["bindings"] {
		l.Bindings = admission.Unread[[]map[string]any](why("bindings"))
	}
	if c.Forbidden["configmaps"] {
		l.ConfigMaps = admission.Unread[[]admission.ConfigMap](why("configmaps"))
	}
	return l
}

// policy returns the admission policy; nil if it is absent.
func (c Cluster) policy() map[string]any {
	if c.Levels == nil || c.Lost["policy"] {
		return nil
	}
	return file(c.Kinds)[0]
}

// bindings returns the bindings, sorted by namespace.
func (c Cluster) bindings() []map[string]any {
	all := []map[string]any{}
	if c.Levels != nil && !c.Lost["watch"] {
		all = append(all, file(c.Kinds)[1])
	}
	for _, namespace := range c.namespaces() {
		if c.Binds(namespace) {
			all = append(all, documents(admission.Binding(namespace))...)
		}
	}
	return all
}

// Binds reports whether the cluster has a binding for a namespace.
func (c Cluster) Binds(namespace string) bool {
	return !c.Lost[namespace] && slices.Contains(c.namespaces(), namespace)
}

// namespaces returns the namespaces with a level, sorted.
func (c Cluster) namespaces() []string {
	of := map[string]bool{}
	for id := range c.Levels {
		of[id.Namespace] = true
	}
	return slices.Sorted(maps.Keys(of))
}

// configMaps returns the ConfigMaps in the namespace of the levels. Kubernetes adds one.
func (c Cluster) configMaps() []admission.ConfigMap {
	data := map[string]map[string]string{"kube-root-ca.crt": {"ca.crt": "a certificate"}}
	if c.Site != "" {
		data[admission.Identity] = map[string]string{"name": c.Site}
	}
	for id, level := range c.Levels {
		if c.Lost[id.String()] {
			continue
		}
		if data[id.Namespace] == nil {
			data[id.Namespace] = map[string]string{}
		}
		data[id.Namespace][string(id.Kind)+"."+id.Name] = fmt.Sprint(level)
	}
	all := []admission.ConfigMap{}
	for _, name := range slices.Sorted(maps.Keys(data)) {
		all = append(all, admission.ConfigMap{Name: name, Data: data[name]})
	}
	return all
}

var (
	mu    sync.Mutex
	files = map[string][]map[string]any{}
)

// file returns the policy and the binding in the file that init writes for the kinds. The
// caller must not change them.
func file(kinds workload.Kinds) []map[string]any {
	mu.Lock()
	defer mu.Unlock()
	key := fmt.Sprint(kinds)
	if files[key] == nil {
		text, err := admission.Policy{Kinds: kinds}.Format()
		if err != nil {
			panic(err)
		}
		files[key] = slices.DeleteFunc(documents(text), func(o map[string]any) bool {
			return !strings.HasPrefix(fmt.Sprint(o["kind"]), "MutatingAdmissionPolicy")
		})
	}
	return files[key]
}

// documents returns the YAML documents of a text.
func documents(text []byte) (all []map[string]any) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var one map[string]any
		if decoder.Decode(&one) != nil {
			return all
		}
		all = append(all, one)
	}
}

// paths are the paths of the parts in the API of Kubernetes.
var paths = map[string]string{
	"/version": "version",
	"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/" + admission.Name: "policy",
	"/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings":             "bindings",
	"/api/v1/namespaces/" + admission.Namespace + "/configmaps":                         "configmaps",
}

// Serves reports whether a path of the API is one of the parts.
func Serves(path string) bool { return paths[path] != "" }

// ServeHTTP answers a request to an API server for one of the parts. See Serves.
func (c Cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	part := paths[r.URL.Path]
	code, body := http.StatusOK, any(nil)
	switch policy := c.policy(); {
	case c.Forbidden[part]:
		code, body = http.StatusForbidden, refused(http.StatusForbidden, "Forbidden")
	case part == "version":
		body = map[string]any{"major": "1", "minor": fmt.Sprint(c.Minor)}
	case part == "bindings":
		body = map[string]any{"kind": "MutatingAdmissionPolicyBindingList", "metadata": map[string]any{}, "items": c.bindings()}
	case part == "configmaps":
		items := []any{}
		for _, one := range c.configMaps() {
			items = append(items, map[string]any{"metadata": map[string]any{"name": one.Name}, "data": one.Data})
		}
		body = map[string]any{"kind": "ConfigMapList", "metadata": map[string]any{}, "items": items}
	case policy == nil:
		code, body = http.StatusNotFound, refused(http.StatusNotFound, "NotFound")
	default:
		body = policy
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// refused returns the body of a response that refuses a request.
func refused(code int, reason string) map[string]any {
	return map[string]any{"kind": "Status", "status": "Failure", "code": code, "message": "no", "reason": reason}
}
