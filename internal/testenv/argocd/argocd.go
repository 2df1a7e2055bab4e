// Package argocd starts a real Argo CD for tests, against a real control plane:
// its application-controller, which applies, its repo-server, which builds, and a
// Redis in memory. There is no API server of its, and no web page.
package argocd

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// User is the user of the application-controller in the API server.
const User = "system:serviceaccount:argocd:argocd-application-controller"

const (
	// syncDeadline bounds one sync, which takes some seconds of an idle machine.
	syncDeadline = 5 * time.Minute
	// resync is the interval at which Argo CD refreshes each Application without a
	// request.
	resync = "5s"
)

// account gives the controller the rights that its installation gives it.
const account = `apiVersion: v1
kind: ServiceAccount
metadata: {name: argocd-application-controller, namespace: argocd}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: argocd-application-controller}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: argocd-application-controller, namespace: argocd}]
`

// project is the one that an installation comes with.
const project = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: default, namespace: argocd}
spec:
  sourceRepos: ['*']
  destinations: [{namespace: '*', server: '*'}]
  clusterResourceWhitelist: [{group: '*', kind: '*'}]
`

// An ArgoCD is one that runs.
type ArgoCD struct{ cp *controlplane.ControlPlane }

// URL is where Argo CD reaches a repository.
func URL(origin *gitserver.Origin) string { return "file://" + origin.Dir }

// Start starts Argo CD and returns once it works. Applications are in the
// namespace argocd, and their destination is the control plane itself. It ends
// when the test ends. Without the programs, the test is skipped, and fails in CI. The
// further folders contain programs that the repo-server runs, such as helm.
func Start(t testing.TB, cp *controlplane.ControlPlane, folders ...string) *ArgoCD {
	t.Helper()
	bin := program.Folder(t, "a real Argo CD", filepath.Join("scripts", "argocd", "build.sh"))
	install, err := os.ReadFile(filepath.Join(bin, "install.yaml"))
	if err != nil {
		t.Fatalf("start Argo CD: %v", err)
	}
	cp.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}", account)
	cp.Kubectl(t, string(install), "apply", "--server-side", "-n", "argocd", "-f", "-")
	cp.Established(t)
	cp.Apply(t, project)

	free := controlplane.Ports(t, 5)
	redis, repo, repoMetrics, controller := free[0], free[1], free[2], free[3]
	variables := environment(t, append([]string{bin}, folders...), kubeconfig(t, cp))
	cp.Run(t, "", variables, filepath.Join(bin, "argocd-redis"), redis)
	cp.Run(t, "http://"+repoMetrics+"/healthz", variables, filepath.Join(bin, "argocd-repo-server"),
		"--address=127.0.0.1", "--port="+port(repo), "--metrics-address=127.0.0.1", "--metrics-port="+port(repoMetrics),
		"--redis="+redis, "--disable-tls", "--client-ca-path=") // empty on purpose: no client has a certificate
	cp.Run(t, "http://"+controller+"/healthz", variables, filepath.Join(bin, "argocd-application-controller"),
		"--namespace=argocd", "--repo-server="+repo, "--repo-server-plaintext",
		"--redis="+redis, "--metrics-port="+port(controller), "--app-resync="+strings.TrimSuffix(resync, "s"))
	return &ArgoCD{cp}
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// kubeconfig writes a kubeconfig for the controller's own account. The audit log
// identifies the controller by that account.
func kubeconfig(t testing.TB, cp *controlplane.ControlPlane) string {
	t.Helper()
	admin, err := os.ReadFile(cp.Kubeconfig())
	if err != nil {
		t.Fatalf("write the kubeconfig of Argo CD: %v", err)
	}
	token := cp.Kubectl(t, "", "create", "token", "-n", "argocd", "argocd-application-controller", "--duration=24h")
	path := filepath.Join(t.TempDir(), "kubeconfig")
	own := regexp.MustCompile(`user: \{token: [^}]*\}`).ReplaceAll(admin, []byte("user: {token: "+strings.TrimSpace(token)+"}"))
	if err := os.WriteFile(path, own, 0o600); err != nil {
		t.Fatalf("write the kubeconfig of Argo CD: %v", err)
	}
	return path
}

// environment returns the variables of both programs, which otherwise expect the fixed
// paths of an Argo CD image. The folders contain kustomize, the wrapper of git, and helm
// if an Application has a chart.
func environment(t testing.TB, folders []string, kubeconfig string) []string {
	t.Helper()
	home := t.TempDir()
	variables := []string{
		"PATH=" + strings.Join(append(folders, os.Getenv("PATH")), string(os.PathListSeparator)),
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"),
		"KUBECONFIG=" + kubeconfig, "ARGOCD_FAKE_IN_CLUSTER=true", "ARGOCD_GPG_ENABLED=false",
		"ARGOCD_RECONCILIATION_TIMEOUT=" + resync, "ARGOCD_RECONCILIATION_JITTER=0s",
		"ARGOCD_ASK_PASS_SOCK=" + filepath.Join(home, "askpass.sock"),
	}
	for variable, folder := range map[string]string{
		"TLS_DATA_PATH": "tls", "SSH_DATA_PATH": "ssh", "GPG_DATA_PATH": "gpg", "GNUPGHOME": "gnupg",
		"PLUGINSOCKFILEPATH": "plugins", "APP_CONF_PATH": "app", "": "tmp",
	} {
		dir := filepath.Join(home, folder)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatalf("start Argo CD: %v", err)
		}
		if variable != "" {
			variables = append(variables, "ARGOCD_"+variable+"="+dir)
		}
	}
	return variables
}

// Applied waits until an Application in argocd has read a commit and is in sync with
// it, with or without a sync operation, and no operation is running.
func (a *ArgoCD) Applied(t testing.TB, name, commit string) {
	t.Helper()
	a.refresh(t, name)
	a.wait(t, name, "is in sync with "+commit, func(o application) bool { return o.at(commit) && o.rests() })
}

// Reconcile makes Argo CD refresh an Application in argocd now, and waits until it has
// and is in sync.
func (a *ArgoCD) Reconcile(t testing.TB, name string) {
	t.Helper()
	a.refresh(t, name)
	a.wait(t, name, "reconciles", application.rests)
}

// Sync makes Argo CD sync an Application in argocd, with a user's operation.sync in
// JSON, and waits for the end of the operation.
func (a *ArgoCD) Sync(t testing.TB, name, sync string) {
	t.Helper()
	before := a.read(t, name).Status.OperationState.FinishedAt
	time.Sleep(time.Until(before.Add(time.Second))) // its times are in seconds
	a.cp.Kubectl(t, "", "patch", "-n", "argocd", "applications.argoproj.io/"+name, "--type=merge", "-p", `{"operation":{"sync":`+sync+`}}`)
	a.wait(t, name, "has been synced", func(o application) bool {
		return o.Status.OperationState.FinishedAt.After(before) && o.Operation == nil
	})
}

// refreshAnnotation requests a refresh. Argo CD removes it after the refresh.
const refreshAnnotation = "argocd.argoproj.io/refresh"

func (a *ArgoCD) refresh(t testing.TB, name string) {
	t.Helper()
	a.cp.Kubectl(t, "", "annotate", "--overwrite", "-n", "argocd", "applications.argoproj.io/"+name, refreshAnnotation+"=normal")
}

// application contains the fields of an Application that the tests read.
type application struct {
	Metadata  struct{ Annotations map[string]string }
	Operation any
	Status    struct {
		Sync struct {
			Status, Revision string
			Revisions        []string
		}
		OperationState struct {
			Phase, Message string
			FinishedAt     time.Time
			SyncResult     struct {
				Resources []struct{ Kind, Name, Status, Message string }
			}
		}
		Conditions []struct{ Type, Message string }
	}
}

// at reports whether it has seen a commit, by all of its sources.
func (o application) at(commit string) bool {
	for _, revision := range o.Status.Sync.Revisions {
		if revision != commit {
			return false
		}
	}
	return o.Status.Sync.Revision == commit || len(o.Status.Sync.Revisions) > 0
}

// rests reports whether Argo CD has refreshed the Application, it is in sync, and no
// sync is running.
func (o application) rests() bool {
	_, asked := o.Metadata.Annotations[refreshAnnotation]
	phase := o.Status.OperationState.Phase
	return !asked && o.Operation == nil && o.Status.Sync.Status == "Synced" && (phase == "" || phase == "Succeeded")
}

func (a *ArgoCD) path(name string) string {
	return "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications/" + name
}

func (a *ArgoCD) read(t testing.TB, name string) (o application) {
	t.Helper()
	if err := a.cp.Read(t.Context(), a.path(name), &o); err != nil {
		t.Fatalf("read Application %s: %v", name, err)
	}
	return o
}

// wait polls an Application until holds is true for it. If it never is, wait fails the
// test with Argo CD's conditions.
func (a *ArgoCD) wait(t testing.TB, name, what string, holds func(application) bool) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), syncDeadline, func(ctx context.Context) error {
		var o application
		if err := a.cp.Read(ctx, a.path(name), &o); err != nil {
			return err
		}
		if holds(o) {
			return nil
		}
		return fmt.Errorf("it is %+v", o)
	})
	if err != nil {
		t.Fatalf("wait until Application %s %s: %v", name, what, err)
	}
}
