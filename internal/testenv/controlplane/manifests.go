package controlplane

import "fmt"

// Workload returns the manifest of a Deployment or StatefulSet as in git, without
// replicas. Its pods request 10m of CPU each.
func Workload(kind, namespace, name string) string {
	own := ""
	if kind == "StatefulSet" {
		own = "\n  serviceName: " + name + "\n  podManagementPolicy: Parallel"
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[3]s, namespace: %[2]s}
spec:
  selector: {matchLabels: {app: %[3]s}}%[4]s
  template:
    metadata: {labels: {app: %[3]s}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: "app:1", resources: {requests: {cpu: 10m}}}]}
`, kind, namespace, name, own)
}

// Autoscaler returns the manifest of an HPA of a Workload, between 2 and 200 pods. Its
// target is 70 %, 7m a pod: with that use, it keeps any replica count. If it finds one
// pod it sets two, even over a count that was set between its read and its write. So
// scale before the HPA exists, or after it has set them.
func Autoscaler(kind, namespace, name string) string {
	return fmt.Sprintf(`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %[3]s, namespace: %[2]s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: %[1]s, name: %[3]s}
  minReplicas: 2
  maxReplicas: 200
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
  behavior: {scaleDown: {stabilizationWindowSeconds: 0}}
`, kind, namespace, name)
}
