// Package keda starts a real KEDA for tests, with a real control plane: the operator,
// which writes HPAs and scales workloads to and from zero, and the metrics adapter, which
// HPAs read their external metrics from. KEDA's admission webhooks are not part of it.
package keda

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of KEDA in the API server.
const User = "system:serviceaccount:keda:keda-operator"

// Start starts KEDA and returns its version, such as v2.21.0, once HPAs can read
// external metrics. KEDA ends when the test ends. If it cannot be built, the test is
// skipped, and in CI it fails.
func Start(t testing.TB, cp *controlplane.ControlPlane) (version string) {
	t.Helper()
	bin := program.Folder(t, "a real KEDA", filepath.Join("scripts", "keda", "build.sh"))
	cp.Apply(t, read(t, filepath.Join(bin, "crds.yaml")))
	cp.Established(t)

	certificates := certificates(t)
	kubeconfig := cp.KubeconfigAs(t, User, "system:masters")
	variables := []string{"KUBECONFIG=" + kubeconfig, "WATCH_NAMESPACE=", "KEDA_CLUSTER_OBJECT_NAMESPACE=default"}
	free := controlplane.Ports(t, 3)
	metrics, probe, adapter := free[0], free[1], free[2]
	cp.Run(t, "http://"+probe+"/readyz", variables, filepath.Join(bin, "keda"),
		"--cert-dir="+certificates, "--metrics-service-bind-address="+metrics, "--health-probe-bind-address="+probe,
		"--enable-prometheus-metrics=false", "--kube-api-qps=2000", "--kube-api-burst=4000")
	host, port, err := net.SplitHostPort(adapter)
	if err != nil {
		t.Fatalf("start KEDA: %v", err)
	}
	// Its port for Prometheus can only be one of all interfaces: with 0 it collides with
	// nothing.
	cp.Run(t, "", variables, filepath.Join(bin, "keda-adapter"),
		"--cert-dir="+certificates, "--metrics-service-address="+metrics, "--port=0", "--bind-address="+host, "--secure-port="+port,
		"--lister-kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--authentication-skip-lookup")
	serve(t, cp, host, port)
	return strings.TrimSpace(read(t, filepath.Join(bin, "version")))
}

// serve adds the adapter to the API server, and waits until it is available. The API
// server of the tests has no certificate as a client of the adapter, so its requests are
// anonymous there.
func serve(t testing.TB, cp *controlplane.ControlPlane, host, port string) {
	t.Helper()
	cp.Apply(t, fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: keda-metrics-apiserver, namespace: kube-system}
spec: {type: ExternalName, externalName: %[1]q, ports: [{port: %[2]s}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  service: {name: keda-metrics-apiserver, namespace: kube-system, port: %[2]s}
  insecureSkipTLSVerify: true
  groupPriorityMinimum: 100
  versionPriority: 100
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: external-metrics}
rules: [{apiGroups: [external.metrics.k8s.io], resources: ["*"], verbs: [get, list]}, {nonResourceURLs: ["*"], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: external-metrics}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: external-metrics}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: system:anonymous}]
`, host, port))
	cp.Kubectl(t, "", "wait", "--for=condition=Available", "apiservice/v1beta1.external.metrics.k8s.io", "--timeout=280s")
}

// certificates returns a folder with the certificate that the operator and the adapter
// show each other.
func certificates(t testing.TB) string {
	t.Helper()
	certificate, key, err := controlplane.Certificate("keda-operator")
	if err != nil {
		t.Fatalf("start KEDA: %v", err)
	}
	dir := t.TempDir()
	for name, content := range map[string][]byte{"ca.crt": certificate, "tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatalf("start KEDA: %v", err)
		}
	}
	return dir
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("start KEDA: %v", err)
	}
	return string(text)
}
