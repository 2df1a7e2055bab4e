// Package kyverno runs Kyverno's real admission controller for tests, with the
// permissions and the configuration of Kyverno's own installation. The API server reaches
// its webhooks by URL, because a control plane of the tests has no Services.
package kyverno

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of Kyverno in the API server.
const User = "system:serviceaccount:kyverno:kyverno-admission-controller"

// A Kyverno is an installation of Kyverno in a control plane.
type Kyverno struct {
	Version string // such as v1.19.1

	cp        *controlplane.ControlPlane
	bin       string
	variables []string
	// The addresses of its webhooks and of its metrics.
	webhooks, metrics string
}

// Install installs Kyverno without starting it. If it cannot be built, the test is
// skipped, and in CI it fails.
func Install(t testing.TB, cp *controlplane.ControlPlane) *Kyverno {
	t.Helper()
	bin := program.Folder(t, "a real Kyverno", filepath.Join("scripts", "kyverno", "build.sh"))
	var manifests []string
	for manifest := range strings.SplitSeq(read(t, filepath.Join(bin, "install.yaml")), "\n---\n") {
		if !strings.Contains(manifest, "\nkind: Deployment\n") { // its pods would only be simulated
			manifests = append(manifests, manifest)
		}
	}
	cp.Apply(t, manifests...)
	cp.Established(t)
	free := controlplane.Ports(t, 2)
	return &Kyverno{Version: strings.TrimSpace(read(t, filepath.Join(bin, "version"))), cp: cp, bin: bin, webhooks: free[0], metrics: free[1],
		variables: []string{"KYVERNO_NAMESPACE=kyverno", "KYVERNO_SERVICEACCOUNT_NAME=kyverno-admission-controller", "KYVERNO_ROLE_NAME=kyverno:admission-controller",
			"KYVERNO_DEPLOYMENT=kyverno-admission-controller", "KYVERNO_POD_NAME=kyverno", "KYVERNO_SVC=kyverno-svc",
			"INIT_CONFIG=kyverno", "METRICS_CONFIG=kyverno-metrics", "HOME=" + t.TempDir()}}
}

// Start starts the admission controller and returns a function that kills it. It does not
// wait until the webhooks answer. The admission controller ends when the test ends.
func (k *Kyverno) Start(t testing.TB) (stop func()) {
	t.Helper()
	host, webhooks, _ := net.SplitHostPort(k.webhooks)
	_, metrics, _ := net.SplitHostPort(k.metrics)
	const pair = "kyverno-svc.kyverno.svc.kyverno-tls-"
	return k.cp.Run(t, "http://"+k.metrics+"/metrics", k.variables, filepath.Join(k.bin, "kyverno"),
		"--kubeconfig="+k.cp.KubeconfigAs(t, User, "system:serviceaccounts", "system:serviceaccounts:kyverno"), "--serverIP="+k.webhooks, "--webhookServerHost="+host, "--webhookServerPort="+webhooks,
		"--caSecretName="+pair+"ca", "--tlsSecretName="+pair+"pair", "--tlsKeyAlgorithm=ECDSA",
		"--backgroundServiceAccountName=system:serviceaccount:kyverno:kyverno-background-controller",
		"--reportsServiceAccountName=system:serviceaccount:kyverno:kyverno-reports-controller",
		"--metricsHost="+host, "--metricsPort="+metrics, "--controllerRuntimeMetricsAddress=0", "--omitEvents=PolicyApplied,PolicySkipped")
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("install Kyverno: %v", err)
	}
	return string(text)
}
