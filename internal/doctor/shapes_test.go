package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

// application returns a fixture with an Application of a chart in the repository. The
// Application ignores replicas and lists the workload, and no policy sets the level of 10.
func application(workload, helm string, files map[string]string) fixture {
	part := strings.Split(workload, "/")
	kind := map[string]string{"deployment": "Deployment", "statefulset": "StatefulSet"}[part[1]]
	f := fixture{"live": workload + " 10 1 20\n", "declared": workload + " 10 1 20\n"}
	for name, text := range files {
		f["repo/charts/web/"+name] = text
	}
	f["cluster.yaml"] = fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: web, namespace: argocd}
spec:
  destination: {server: https://kubernetes.default.svc, namespace: shop}
  source: {repoURL: https://git.example.com/platform/fleet.git, targetRevision: main, path: charts/web, helm: %s}
  ignoreDifferences:
  - {group: apps, kind: %s, jsonPointers: [/spec/replicas]}
  syncPolicy: {syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}
status: {sync: {status: Synced}, resources: [{group: apps, kind: %[2]s, namespace: shop, name: %s}]}
`, helm, kind, part[2])
	return f
}

// Charts of our own with the shapes of public charts (read): the field that states the
// replicas, its guard and the defaults of both.
func TestShapesOfPublicCharts(t *testing.T) {
	t.Parallel()
	const guard = "  {{- if not .Values.autoscaling.enabled }}\n  replicas: {{ .Values.replicaCount }}\n  {{- end }}\n"
	for name, c := range map[string]struct {
		files    map[string]string
		values   string
		workload string
		start    int32
		trap     doctor.Trap
	}{
		"Traefik": {shaped("Deployment", "deployment: {replicas: 1}\nautoscaling: {enabled: false}\n",
			"  {{- if not .Values.autoscaling.enabled }}\n  replicas: {{ default 1 .Values.deployment.replicas }}\n  {{- end }}\n"),
			"{deployment: {replicas: 3}}", "shop/deployment/web", 3, doctor.StatedCount},
		"the gateway of Istio, which scales by default": {shaped("Deployment", "autoscaling: {enabled: true}\n",
			"  {{- if not .Values.autoscaling.enabled }}\n  {{- with .Values.replicaCount }}\n  replicas: {{ . }}\n  {{- end }}\n  {{- end }}\n"),
			"{replicaCount: 10}", "shop/deployment/web", 1, doctor.ChartGuard},
		"Grafana, without a count": {shaped("Deployment", "replicas: 1\nautoscaling: {enabled: false}\n",
			"  {{- if and (not .Values.autoscaling.enabled) .Values.replicas }}\n  replicas: {{ .Values.replicas }}\n  {{- end }}\n"),
			"{replicas: null}", "shop/deployment/web", 1, doctor.ChartGuard},
		"nginx of Bitnami": {shaped("Deployment", "replicaCount: 1\nautoscaling: {enabled: \"\"}\n", guard),
			"{replicaCount: 10, autoscaling: {enabled: true}}", "shop/deployment/web", 1, doctor.ChartGuard},
		"the replicas of Redis of Bitnami": {shaped("StatefulSet", "replica: {kind: StatefulSet, replicaCount: 3, autoscaling: {enabled: false}}\n",
			"  {{- if and (ne .Values.replica.kind \"DaemonSet\") (not .Values.replica.autoscaling.enabled) }}\n  replicas: {{ .Values.replica.replicaCount }}\n  {{- end }}\n"),
			"{}", "shop/statefulset/web", 3, doctor.StatedCount},
		"podinfo": {shaped("Deployment", "replicaCount: 1\nhpa: {enabled: false}\n",
			"  {{- if not .Values.hpa.enabled }}\n  replicas: {{ .Values.replicaCount }}\n  {{- end }}\n"),
			"{replicaCount: 10, hpa: {enabled: true}}", "shop/deployment/web", 1, doctor.ChartGuard},
		"CoreDNS, which states replicas under an HPA": {shaped("Deployment", "replicaCount: 1\nautoscaler: {enabled: false}\nhpa: {enabled: false}\n",
			"  {{- if not .Values.autoscaler.enabled }}\n  replicas: {{ .Values.replicaCount }}\n  {{- end }}\n"),
			"{replicaCount: 4, hpa: {enabled: true}}", "shop/deployment/web", 4, doctor.StatedCount},
		"KEDA": {shaped("Deployment", "operator: {replicaCount: 1}\n", "  replicas: {{ .Values.operator.replicaCount }}\n"),
			"{operator: {replicaCount: 2}}", "shop/deployment/web", 2, doctor.StatedCount},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := application(c.workload, "{valuesObject: "+c.values+"}", c.files).examine(t)
			if r.Workloads[0].Start != c.start || traps(r) != string(c.trap) {
				t.Errorf("want %d, %q:\n%s", c.start, c.trap, tell(r))
			}
		})
	}
}
