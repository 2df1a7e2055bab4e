// Package levels returns the objects of a cluster that Flux fills by the recipe of gitlatch:
// the admission policy, the bindings and the levels of namespaces, which the Kustomization
// levels applies, and the Kustomization apps, which depends on it.
package levels

import (
	"bytes"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/admission"
)

// Policy returns the file of the admission policy. It panics if the policy has no text.
func Policy() []byte {
	file, err := admission.Policy{}.Format()
	if err != nil {
		panic(err)
	}
	return file
}

// Applied returns the file of the admission policy as Flux applies it: with the labels of the
// Kustomization levels.
func Applied() []byte {
	return bytes.Replace(Policy(), []byte("kind: MutatingAdmissionPolicy\nmetadata:\n"), []byte("kind: MutatingAdmissionPolicy\nmetadata:\n  labels: {kustomize.toolkit.fluxcd.io/name: levels, kustomize.toolkit.fluxcd.io/namespace: flux-system}\n"), 1)
}

// Levels returns the objects of gitlatch in the cluster. data has the levels of each
// namespace.
func Levels(site string, data map[string]map[string]string) admission.Levels {
	texts := bytes.Split(Applied(), []byte("\n---\n"))
	maps := []admission.ConfigMap{{Name: admission.Identity, Data: map[string]string{"name": site}}}
	for namespace, levels := range data {
		texts = append(texts, admission.Binding(namespace))
		maps = append(maps, admission.ConfigMap{Name: namespace, Data: levels, Labels: map[string]string{
			"kustomize.toolkit.fluxcd.io/name": "levels", "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
		}})
	}
	l := admission.Levels{Version: admission.Observed(37), ConfigMaps: admission.Observed(maps)}
	var bindings []map[string]any
	for _, text := range texts {
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			panic(err)
		}
		switch o["kind"] {
		case "MutatingAdmissionPolicy":
			l.Policy = admission.Present(o)
		case "MutatingAdmissionPolicyBinding":
			bindings = append(bindings, o)
		}
	}
	l.Bindings = admission.Observed(bindings)
	return l
}

// Kustomizations are the two objects of Flux, as YAML documents.
const Kustomizations = `apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: apps, namespace: flux-system}
spec: {dependsOn: [{name: levels}]}
status: {conditions: [{type: Ready, status: "True"}]}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: levels, namespace: flux-system}
status: {conditions: [{type: Ready, status: "True"}]}
`

// Metadata returns the metadata of an object that the Kustomization apps applies without
// replicas, in the flow style of YAML.
func Metadata(namespace, name string) string {
	return fmt.Sprintf(`{name: %s, namespace: %s, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, managedFields: [{manager: kustomize-controller, operation: Apply, fieldsV1: {"f:spec": {"f:selector": {}}}}]}`, name, namespace)
}

// Objects returns the same objects as an API server sends them, in JSON by the last part of
// the path of their request.
func Objects(site string, data map[string]map[string]string) map[string]string {
	l := Levels(site, data)
	bindings, _ := l.Bindings.Value()
	maps, _ := l.ConfigMaps.Value()
	items := []any{}
	for _, m := range maps {
		items = append(items, map[string]any{"metadata": map[string]any{"name": m.Name, "namespace": admission.Namespace, "labels": m.Labels}, "data": m.Data})
	}
	objects := map[string]string{}
	for text := range bytes.SplitSeq(Applied(), []byte("\n---\n")) {
		if bytes.Contains(text, []byte("kind: MutatingAdmissionPolicy\n")) {
			objects[admission.Name] = string(text)
		}
	}
	for resource, list := range map[string]map[string]any{
		"mutatingadmissionpolicybindings": {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBindingList", "items": bindings},
		"configmaps":                      {"apiVersion": "v1", "kind": "ConfigMapList", "items": items},
	} {
		text, err := json.Marshal(list)
		if err != nil {
			panic(err)
		}
		objects[resource] = string(text)
	}
	objects["kustomizations"] = list(Kustomizations)
	return objects
}

// list returns YAML documents as a list of Kustomizations.
func list(documents string) string {
	all := map[string]any{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "KustomizationList"}
	items := []any{}
	for text := range bytes.SplitSeq([]byte(documents), []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(text, &o); err != nil {
			panic(err)
		}
		items = append(items, o)
	}
	all["items"] = items
	text, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	return string(text)
}
