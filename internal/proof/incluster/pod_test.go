//go:build cluster || prometheus

package incluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// The folder with a pod's own token, which the API server mounts into each pod.
const ownToken = "/var/run/secrets/kubernetes.io/serviceaccount"

// A container is a pod as its program sees it after the kubelet's work. Its mounts are
// folders of this machine, and files and arguments name these folders instead.
type container struct {
	name  string // of the pod
	args  []string
	paths *strings.Replacer
	now   time.Time
}

// jobs is the number of Jobs that the tests created, for their names.
var jobs atomic.Int32

// start lets a Job of a CronJob create its pod, and returns the pod's container. The API
// server admits only pods that meet the restricted standard. services are pairs of a URL
// in the cluster and the URL on this machine.
func start(t *testing.T, cp *controlplane.ControlPlane, cronjob string, services ...string) *container {
	t.Helper()
	job := fmt.Sprintf("%s-test-%d", cronjob, jobs.Add(1))
	cp.Kubectl(t, "", "create", "job", "-n", "gitlatch", "--from=cronjob/"+cronjob, job)
	var pods corev1.PodList
	if err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		err := cp.Read(ctx, "/api/v1/namespaces/gitlatch/pods?labelSelector=job-name%3D"+job, &pods)
		if err == nil && len(pods.Items) != 1 {
			err = errors.New("the Job has no pod: " + cp.Kubectl(t, "", "get", "events", "-n", "gitlatch"))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	spec := pods.Items[0].Spec
	own := spec.Containers[0]
	if s := own.SecurityContext; s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || *spec.SecurityContext.RunAsUser != 65532 {
		t.Errorf("security is %+v, of the pod %+v", s, spec.SecurityContext)
	}
	if want := found(t, "../../../infra/cluster/image/kustomization.yaml", `newName: (\S+)`) + ":" + tag(t); own.Image != want {
		t.Errorf("image %s, want %s", own.Image, want)
	}

	root := t.TempDir()
	pairs := append(services, "https://kubernetes.default.svc", cp.Config().Host)
	for _, m := range own.VolumeMounts {
		pairs = append(pairs, m.MountPath, filepath.Join(root, m.MountPath))
	}
	c := &container{name: pods.Items[0].Name, paths: strings.NewReplacer(pairs...), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
	for _, arg := range own.Args {
		c.args = append(c.args, c.paths.Replace(arg))
	}
	for _, m := range own.VolumeMounts {
		for name, content := range files(t, cp, spec, m) {
			write(t, filepath.Join(root, m.MountPath, name), c.paths.Replace(content))
		}
	}
	return c
}

// files returns the files of a mount.
func files(t *testing.T, cp *controlplane.ControlPlane, pod corev1.PodSpec, m corev1.VolumeMount) map[string]string {
	t.Helper()
	if m.MountPath == ownToken {
		token := cp.Kubectl(t, "", "create", "token", "-n", "gitlatch", pod.ServiceAccountName)
		return map[string]string{"token": token, "ca.crt": string(cp.Config().CAData)}
	}
	for _, v := range pod.Volumes {
		switch {
		case v.Name != m.Name:
		case v.ConfigMap != nil:
			var held corev1.ConfigMap
			get(t, cp, "configmaps/"+v.ConfigMap.Name, &held)
			return held.Data
		case v.Secret != nil:
			var held corev1.Secret
			get(t, cp, "secrets/"+v.Secret.SecretName, &held)
			content := map[string]string{}
			for key, value := range held.Data {
				content[key] = string(value)
			}
			return content
		}
	}
	return nil // a folder to write to
}

func get(t *testing.T, cp *controlplane.ControlPlane, what string, into any) {
	t.Helper()
	if err := cp.Read(t.Context(), "/api/v1/namespaces/gitlatch/"+what, into); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// run runs the container's program to its end, and returns its exit status and its
// log. The next run is a period later.
func (c *container) run() (status int, log string) {
	var said bytes.Buffer
	status = cli.Run(cli.Env{
		Out: &said, Err: &said, Build: build.Info{Version: "v1.2.3"},
		Getenv: func(string) string { return "" },
		Clock:  func() time.Time { return c.now },
	}, c.args)
	c.now = c.now.Add(5 * time.Minute)
	return status, said.String()
}

// succeeds reports to the API server that the pod succeeded, as the kubelet does. Its Job
// then completes.
func (c *container) succeeds(t *testing.T, cp *controlplane.ControlPlane) {
	t.Helper()
	cp.Kubectl(t, "", "patch", "pod", "-n", "gitlatch", c.name, "--subresource=status", "--type=merge", "-p", `{"status": {"phase": "Succeeded"}}`)
}
