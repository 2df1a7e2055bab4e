//go:build gitops

package rebuild

import (
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	capacity = 0.1 // cores that a pod can use: its request, and its limit
	target   = 0.5 // the autoscalers' target, as a share of capacity
)

// A member is one Deployment of the fleet, with an autoscaler.
type member struct {
	namespace, name string
	need            int // pods that its load keeps at the target
	// stated is true if git gives its autoscaler a selectPolicy, which a GitOps tool
	// would put in place of a brake.
	stated bool
}

func (m member) String() string { return m.namespace + "/" + m.name }
func (m member) load() float64  { return float64(m.need) * capacity * target }
func (m member) id() workload.ID {
	return workload.ID{Namespace: m.namespace, Kind: workload.Deployment, Name: m.name}
}

// fleet consists of workloads of several sizes. No size is a level.
func (f form) fleet() []member {
	share := f.pods / 40
	return []member{
		{"shop", "web", 18 * share, false},
		{"shop", "api", 12 * share, true},
		{"pay", "queue", 7 * share, true},
		{"pay", "auth", 3 * share, false},
	}
}

// levels returns the 1-2-5 levels that the fleet rounds up to.
func (f form) levels() map[workload.ID]int32 {
	levels := map[workload.ID]int32{}
	for _, m := range f.fleet() {
		levels[m.id()] = level(m.need)
	}
	return levels
}

func level(need int) int32 {
	for decade := 1; ; decade *= 10 {
		for _, digit := range []int{1, 2, 5} {
			if digit*decade >= need {
				return int32(digit * decade)
			}
		}
	}
}

func (f form) loads() map[string]float64 {
	loads := map[string]float64{}
	for _, m := range f.fleet() {
		loads[m.String()] = m.load()
	}
	return loads
}

// room is the number of nodes of 1,000 pods, with room for more than twice the workloads.
func (f form) room() int { return 1 + f.pods*3/1000 }

var namespaces = []string{"pay", "shop"}

// plain is the folder of the manifests on the branch. It has a part for each namespace, in a
// folder with its name. The part everything is the folder itself.
const (
	plain      = "apps"
	everything = ""
)

// files returns the team's files in git. No manifest states replicas.
func (f form) files() map[string]string {
	files := map[string]string{"gitlatch.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5}]\n"}
	kustomization := func(folder string, resources []string) {
		files[folder+"/kustomization.yaml"] = fmt.Sprintf("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s]\n", strings.Join(resources, ", "))
	}
	for _, namespace := range namespaces {
		folder, resources := plain+"/"+namespace, []string{"namespace.yaml"}
		files[folder+"/namespace.yaml"] = namespaceManifest(namespace)
		for _, m := range f.fleet() {
			if m.namespace == namespace {
				resources = append(resources, m.name+".yaml")
				files[folder+"/"+m.name+".yaml"] = f.manifest(m, "")
			}
		}
		kustomization(folder, resources)
	}
	kustomization(plain, namespaces)
	return files
}

func namespaceManifest(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", name)
}

// grown returns the manifests of the workloads with their desired replicas.
func (f form) grown() string {
	var all []string
	for _, namespace := range namespaces {
		all = append(all, namespaceManifest(namespace))
	}
	for _, m := range f.fleet() {
		all = append(all, f.manifest(m, fmt.Sprint(m.need)))
	}
	return strings.Join(all, "---\n")
}

// manifest returns the manifests of a workload and its autoscaler. In git, count is "".
func (f form) manifest(m member, count string) string {
	if count != "" {
		count = "\n  replicas: " + count
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: Deployment
metadata: {name: %[2]s, namespace: %[1]s}
spec:%[3]s
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: %[2]s:1
        resources: {requests: {cpu: %[4]dm}, limits: {cpu: %[4]dm}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[2]s}
  minReplicas: 1
  maxReplicas: %[5]d
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: %[6]d}}}]%[7]s
`, m.namespace, m.name, count, int(capacity*1000), 4*m.need, int(target*100), f.behaviour(m))
}
