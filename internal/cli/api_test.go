package cli_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/testenv/applied"
)

// An api is an API server with a few workloads. A test can make it fail.
type api struct {
	*httptest.Server
	uid       string           // of kube-system
	minor     string           // of its version
	workloads map[string]*pods // by namespace/kind/name
	refuse    map[string]int   // statuses, by the resource or the path that they answer for
	says      string           // text in the answer to a refused request
	// applied returns the objects of gitlatch that a tool applied; nil if none were.
	applied func() applied.Cluster
	// objects are the objects of other kinds, as YAML by their resource. A kind that
	// has no entry is not installed.
	objects map[string]string
	// flux is true if Flux applies the autoscaled workloads, from manifests without replicas.
	flux bool
}

// pods are the desired and the present pods of a workload.
type pods struct {
	desired, ready int32
	least, most    int32  // of its autoscaler; 0 without one
	blind          bool   // its autoscaler has no metrics
	unstated       bool   // no field manager owns its replicas
	noted          string // its last applied configuration
	rolls          *rolls
	foreign        string // the text of its conditions and annotations
}

// rolls is a rollout in flight, from web:v1 to web:v2.
type rolls struct {
	updated int32  // pods of the target, all of them available
	failed  string // the condition that failed it; "" if it has not failed
}

func newAPI(t *testing.T) *api {
	t.Helper()
	a := &api{uid: "1f0c-blue", minor: "37", refuse: map[string]int{}, workloads: map[string]*pods{
		"kube-system/deployment/dns": {desired: 2, ready: 2, least: 2, most: 4},
		"pay/statefulset/ledger":     {desired: 3, ready: 3, least: 2, most: 9},
		"shop/deployment/api":        {desired: 45, ready: 45, least: 2, most: 300},
		"shop/deployment/batch":      {desired: 4, ready: 4},
		"shop/deployment/cart":       {desired: 18, ready: 18, least: 2, most: 60},
		"shop/deployment/web":        {desired: 87, ready: 87, least: 3, most: 500},
	}}
	a.Server = httptest.NewServer(a)
	t.Cleanup(a.Close)
	return a
}

// nodes are a node of a NodePool with room for all workloads.
const nodes = `kind: NodeList
items:
- metadata: {name: n1, labels: {karpenter.sh/nodepool: default}}
  status: {capacity: {cpu: "16", pods: "110"}, allocatable: {cpu: "16", pods: "110"}}
`

const nodePools = `kind: NodePoolList
items:
- {metadata: {name: default}, spec: {limits: {pods: "330"}}}
`

// ServeHTTP answers in JSON, like a proxy that does not know protobuf.
func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	resource := path.Base(r.URL.Path)
	_, others := a.objects[resource]
	if a.applied != nil && applied.Serves(r.URL.Path) && resource != "version" && !others {
		a.applied().ServeHTTP(w, r)
		return
	}
	answer := map[string]any{}
	status := 0
	switch resource {
	case "kube-system":
		answer = object("Namespace", "v1", map[string]any{"name": "kube-system", "uid": a.uid})
	case "deployments", "statefulsets", "daemonsets":
		answer = map[string]any{"apiVersion": "apps/v1", "kind": map[string]string{
			"deployments": "DeploymentList", "statefulsets": "StatefulSetList", "daemonsets": "DaemonSetList"}[resource], "items": a.items(strings.TrimSuffix(resource, "s"))}
	case "replicasets":
		answer = map[string]any{"apiVersion": "apps/v1", "kind": "ReplicaSetList", "items": a.replicaSets()}
	case "horizontalpodautoscalers":
		answer = map[string]any{"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscalerList", "items": a.autoscalers()}
	case "version":
		answer = map[string]any{"major": "1", "minor": a.minor}
	case "priorityclasses":
		answer = map[string]any{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClassList", "items": []any{}}
	case "scale":
		answer = a.scale(r)
	default:
		text, installed := a.objects[resource]
		if resource == "nodes" && !installed {
			text, installed = nodes, true
		}
		if resource == "nodepools" && !installed {
			text, installed = nodePools, true
		}
		if !installed {
			status = http.StatusNotFound
			break
		}
		if err := yaml.Unmarshal([]byte(text), &answer); err != nil {
			status = http.StatusInternalServerError
		}
	}
	if refused := a.refuse[resource]; refused != 0 {
		status = refused
	}
	if status != 0 {
		reason := strings.ReplaceAll(http.StatusText(status), " ", "")
		answer = map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": status, "reason": reason,
			"message": fmt.Sprintf("user \"ci\" gets %d for %s%s", status, resource, a.says)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(max(status, http.StatusOK))
	_ = json.NewEncoder(w).Encode(answer)
}

// scale answers requests for the scale subresource of a workload. After a change, the
// pods are ready immediately.
func (a *api) scale(r *http.Request) map[string]any {
	part := strings.Split(r.URL.Path, "/") // /apis/apps/v1/namespaces/shop/deployments/web/scale
	p := a.workloads[part[5]+"/"+strings.TrimSuffix(part[6], "s")+"/"+part[7]]
	if r.Method == http.MethodPut {
		var wanted struct{ Spec struct{ Replicas int32 } }
		_ = json.NewDecoder(r.Body).Decode(&wanted)
		p.desired, p.ready = wanted.Spec.Replicas, wanted.Spec.Replicas
	}
	o := object("Scale", "autoscaling/v1", map[string]any{"namespace": part[5], "name": part[7]})
	o["spec"] = map[string]any{"replicas": p.desired}
	return o
}

func (a *api) items(kind string) []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if id[1] != kind {
			continue
		}
		metadata := map[string]any{"namespace": id[0], "name": id[2], "generation": 1}
		if p.foreign != "" {
			metadata["annotations"] = map[string]any{"gitlatch.dev/policy": p.foreign}
		}
		if a.flux && p.most > 0 {
			p.unstated = true
			metadata["labels"] = map[string]any{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
		}
		if p.noted != "" {
			metadata["annotations"] = map[string]any{"kubectl.kubernetes.io/last-applied-configuration": p.noted}
			metadata["managedFields"] = []any{map[string]any{"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "apps/v1", "time": "2026-03-02T07:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:replicas": map[string]any{}}}}}
		}
		if p.unstated && p.noted == "" {
			metadata["managedFields"] = []any{map[string]any{"manager": "flux", "operation": "Apply", "apiVersion": "apps/v1", "time": "2026-03-02T07:00:00Z",
				"fieldsType": "FieldsV1", "fieldsV1": map[string]any{"f:spec": map[string]any{"f:template": map[string]any{}}}}}
		}
		o := object(map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[kind], "apps/v1", metadata)
		o["spec"] = map[string]any{"replicas": p.desired, "template": map[string]any{"spec": map[string]any{"containers": []any{}}}}
		status := map[string]any{"observedGeneration": 1, "replicas": p.desired, "updatedReplicas": p.desired,
			"readyReplicas": p.ready, "availableReplicas": p.ready, "currentReplicas": p.desired}
		if p.rolls != nil {
			metadata["uid"], status["updatedReplicas"] = key, p.rolls.updated
			o["spec"] = map[string]any{"replicas": p.desired, "selector": map[string]any{"matchLabels": map[string]any{"app": id[2]}}, "template": template("v2")}
			if p.rolls.failed != "" {
				status["conditions"] = []any{map[string]any{"type": "Progressing", "status": "False", "reason": p.rolls.failed, "message": "it timed out" + p.foreign}}
			}
		}
		o["status"] = status
		items = append(items, o)
	}
	return items
}

func template(version string) map[string]any {
	return map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "web:" + version}}}}
}

// replicaSets returns the two ReplicaSets of each Deployment with a rollout.
func (a *api) replicaSets() []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if p.rolls == nil {
			continue
		}
		for i, n := range []int32{p.desired - p.rolls.updated, p.rolls.updated} {
			version := fmt.Sprintf("v%d", i+1)
			o := object("ReplicaSet", "apps/v1", map[string]any{"namespace": id[0], "name": id[2] + "-" + version,
				"labels": map[string]any{"pod-template-hash": "5d8f" + version}, "annotations": map[string]any{"deployment.kubernetes.io/revision": fmt.Sprint(i + 1)},
				"creationTimestamp": fmt.Sprintf("2026-03-02T07:0%d:00Z", i),
				"ownerReferences":   []any{map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": id[2], "uid": key, "controller": true}}})
			o["spec"] = map[string]any{"replicas": n, "template": template(version)}
			o["status"] = map[string]any{"replicas": n, "availableReplicas": n}
			items = append(items, o)
		}
	}
	return items
}

func (a *api) autoscalers() []any {
	items := []any{}
	for _, key := range slices.Sorted(maps.Keys(a.workloads)) {
		p, id := a.workloads[key], strings.Split(key, "/")
		if p.most == 0 {
			continue
		}
		o := object("HorizontalPodAutoscaler", "autoscaling/v2", map[string]any{"namespace": id[0], "name": id[2]})
		spec := map[string]any{"minReplicas": p.least, "maxReplicas": p.most, "scaleTargetRef": map[string]any{
			"apiVersion": "apps/v1", "kind": map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[id[1]], "name": id[2]}}
		if p.foreign != "" {
			o["metadata"].(map[string]any)["annotations"] = map[string]any{"gitlatch.dev/brake": p.foreign}
			spec["behavior"] = map[string]any{"scaleDown": map[string]any{"selectPolicy": "Disabled"}}
		}
		o["spec"] = spec
		active := map[string]any{"type": "ScalingActive", "status": "True", "reason": "ValidMetricFound"}
		if p.blind {
			active["status"], active["reason"] = "False", "FailedGetResourceMetric"+p.foreign
		}
		o["status"] = map[string]any{"conditions": []any{map[string]any{"type": "AbleToScale", "status": "True"}, active}}
		items = append(items, o)
	}
	return items
}

func object(kind, version string, metadata map[string]any) map[string]any {
	return map[string]any{"apiVersion": version, "kind": kind, "metadata": metadata}
}
