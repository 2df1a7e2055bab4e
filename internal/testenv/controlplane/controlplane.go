package controlplane

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// upDeadline bounds the start, which takes some three seconds of an idle
// machine.
const upDeadline = 5 * time.Minute

// Options are the settings that differ from the default. The zero value is the default
// control plane.
type Options struct {
	// The flags of a program come after the harness's own, so that they win:
	// "--horizontal-pod-autoscaler-sync-period=5s".
	APIServerFlags         []string
	ControllerManagerFlags []string
	SchedulerFlags         []string
	// PodStart is the time until a pod is ready; with 0 it is ready once it has a node.
	PodStart time.Duration
	// Audit has the API server keep an audit log by this policy, a document of
	// kind audit.k8s.io/v1 Policy. See ControlPlane.Audit.
	Audit string
}

// A ControlPlane is one that runs. Its methods are safe for use by parallel
// subtests of the test that started it.
type ControlPlane struct {
	bin, dir   string
	server     string
	id         *identity
	kubeconfig string
	nodes      int
	flags      []string   // of each API server
	programs   []*process // the control plane without the programs of Run
}

// Start starts a control plane without nodes and returns once it answers and
// its controllers work. It ends when the test ends. Where it cannot be had the
// test is skipped, in CI it fails.
func Start(t testing.TB, o Options) *ControlPlane {
	t.Helper()
	bin := Binaries(t)
	cp := &ControlPlane{bin: bin, dir: t.TempDir()}
	id, err := newIdentity(cp.dir)
	if err != nil {
		t.Fatalf("make certificates for the control plane: %v", err)
	}
	cp.id = id

	free := Ports(t, 3)
	client, peer, secure := free[0], free[1], free[2]
	cp.server = "https://" + secure
	etcd := start(t, cp.dir, nil, filepath.Join(bin, "etcd"),
		"--name=test", "--data-dir="+filepath.Join(cp.dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=http://"+client, "--advertise-client-urls=http://"+client,
		"--listen-peer-urls=http://"+peer, "--initial-advertise-peer-urls=http://"+peer,
		"--initial-cluster=test=http://"+peer)
	cp.flags = append([]string{"--etcd-servers=http://" + client}, cp.admission(t)...)
	api := cp.serve(t, secure, slices.Concat(cp.audited(t, o.Audit), o.APIServerFlags))
	cp.wait(t, "the API server is ready", cp.ready, etcd, api)

	cp.kubeconfig = cp.configure(t, "admin")
	if Minor(t) < static {
		cp.Apply(t, endsDeleted)
	}
	manager := start(t, cp.dir, nil, filepath.Join(bin, "kube-controller-manager"), append([]string{
		"--kubeconfig=" + cp.configure(t, "system:kube-controller-manager"),
		"--use-service-account-credentials=true", // without it Deployments stay at 0, in good health
		"--service-account-private-key-file=" + id.path("serving.key"),
		"--secure-port=0", "--leader-elect=false",
		"--horizontal-pod-autoscaler-sync-period=1s",
		"--kube-api-qps=2000", "--kube-api-burst=4000",
	}, o.ControllerManagerFlags...)...)
	scheduler := start(t, cp.dir, nil, filepath.Join(bin, "kube-scheduler"), append([]string{
		"--kubeconfig=" + cp.configure(t, "system:kube-scheduler"),
		"--secure-port=0", "--leader-elect=false",
		"--kube-api-qps=2000", "--kube-api-burst=4000",
	}, o.SchedulerFlags...)...)
	kwok := start(t, cp.dir, nil, filepath.Join(bin, "kwok"),
		"--kubeconfig="+cp.configure(t, "kwok"),
		"--config="+cp.stages(t, o.PodStart), // without stages it plays nothing
		"--manage-all-nodes", "-v=WARN", "--node-lease-duration-seconds=40")
	cp.programs = []*process{etcd, api, manager, scheduler, kwok}
	cp.wait(t, "the controllers work", cp.controlled, cp.programs...)
	return cp
}

// serve starts an API server at an address.
func (cp *ControlPlane) serve(t testing.TB, address string, flags []string) *process {
	t.Helper()
	_, port, _ := net.SplitHostPort(address)
	return start(t, cp.dir, nil, filepath.Join(cp.bin, "kube-apiserver"), slices.Concat([]string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + port,
		"--endpoint-reconciler-type=none", // it refuses a loopback address as endpoint
		"--tls-cert-file=" + cp.id.path("serving.crt"), "--tls-private-key-file=" + cp.id.path("serving.key"),
		"--token-auth-file=" + cp.id.path("tokens.csv"), "--authorization-mode=RBAC",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + cp.id.path("serving.crt"),
		"--service-account-signing-key-file=" + cp.id.path("serving.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
	}, cp.flags, flags)...)
}

// Another starts another API server of the same cluster, without an audit log, and returns
// the client configuration of an administrator for it.
func (cp *ControlPlane) Another(t testing.TB) *rest.Config {
	t.Helper()
	address := Ports(t, 1)[0]
	p := cp.serve(t, address, nil)
	config := cp.Config()
	config.Host = "https://" + address
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatalf("start another API server: %v", err)
	}
	cp.wait(t, "the other API server is ready", func(ctx context.Context) error { return get(ctx, client, config.Host+"/readyz") }, p)
	return config
}

// CPU returns the CPU time that each program of the control plane has used so far, by the
// name of the program. It does not contain the programs of Run. It is empty on a machine
// without /proc.
func (cp *ControlPlane) CPU() map[string]time.Duration {
	used := map[string]time.Duration{}
	for _, p := range cp.programs {
		if cpu := p.cpu(); cpu > 0 {
			used[p.name] = cpu
		}
	}
	return used
}

// Profile returns a CPU profile of the API server over a time from now on, for pprof.
func (cp *ControlPlane) Profile(ctx context.Context, span time.Duration) ([]byte, error) {
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		return nil, err
	}
	url := fmt.Sprintf("%s/debug/pprof/profile?seconds=%.0f", cp.server, span.Seconds())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("profile the API server: %s", answer.Status)
	}
	return io.ReadAll(answer.Body)
}

// Config returns the client configuration of an administrator.
func (cp *ControlPlane) Config() *rest.Config {
	return &rest.Config{
		Host:            cp.server,
		BearerToken:     cp.id.tokens["admin"],
		TLSClientConfig: rest.TLSClientConfig{CAData: cp.id.certificate},
		QPS:             -1, // the server's own fairness is limit enough
	}
}

// As returns the client configuration of a user in the given groups. The user has only
// the rights that a test binds.
func (cp *ControlPlane) As(user string, groups ...string) *rest.Config {
	config := cp.Config()
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups}
	return config
}

// Kubeconfig returns the path of an administrator's kubeconfig, whose one
// context is named test.
func (cp *ControlPlane) Kubeconfig() string { return cp.kubeconfig }

// KubeconfigAs returns the path of a kubeconfig of the user that As is about.
func (cp *ControlPlane) KubeconfigAs(t testing.TB, user string, groups ...string) string {
	t.Helper()
	admin, err := os.ReadFile(cp.kubeconfig)
	if err != nil {
		t.Fatalf("write the kubeconfig of %s: %v", user, err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	names, _ := json.Marshal(groups)
	as := fmt.Sprintf("user: {as: %q, as-groups: %s, ", user, names)
	if err := os.WriteFile(path, bytes.Replace(admin, []byte("user: {"), []byte(as), 1), 0o600); err != nil {
		t.Fatalf("write the kubeconfig of %s: %v", user, err)
	}
	return path
}

// Run starts another program next to the control plane, with the variables in addition
// to the test's, and waits until the URL, if any, answers with 200. The program ends
// with the test.
func (cp *ControlPlane) Run(t testing.TB, url string, variables []string, binary string, args ...string) {
	t.Helper()
	p := start(t, cp.dir, variables, binary, args...)
	if url == "" {
		return
	}
	cp.wait(t, p.name+" is ready", func(ctx context.Context) error {
		return get(ctx, http.DefaultClient, url)
	}, p)
}

func (cp *ControlPlane) configure(t testing.TB, user string) string {
	t.Helper()
	path, err := cp.id.kubeconfig(cp.server, user)
	if err != nil {
		t.Fatalf("write the kubeconfig of %s: %v", user, err)
	}
	return path
}

// ready asks the API server whether it is.
func (cp *ControlPlane) ready(ctx context.Context) error {
	return cp.get(ctx, "/readyz")
}

// controlled checks for the service account that each pod needs, which only a running
// controller creates.
func (cp *ControlPlane) controlled(ctx context.Context) error {
	return cp.get(ctx, "/api/v1/namespaces/default/serviceaccounts/default")
}

// Read asks the API server for a path, as an administrator, and decodes the
// answer. It costs a fraction of a Kubectl: what polls should use it.
func (cp *ControlPlane) Read(ctx context.Context, path string, into any) error {
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, cp.server+path, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("read %s: %s", path, answer.Status)
	}
	return json.NewDecoder(answer.Body).Decode(into)
}

// get returns an error unless the answer is 200.
func (cp *ControlPlane) get(ctx context.Context, path string) error {
	client, err := rest.HTTPClientFor(cp.Config())
	if err != nil {
		return err
	}
	return get(ctx, client, cp.server+path)
}

func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// wait polls until a condition is true, and gives up as soon as one of the programs has
// ended.
func (cp *ControlPlane) wait(t testing.TB, what string, holds func(context.Context) error, programs ...*process) {
	t.Helper()
	err := Eventually(t.Context(), upDeadline, func(ctx context.Context) error {
		for _, p := range programs {
			if err := p.ended(); err != nil {
				t.Fatalf("wait until %s: %v", what, err)
			}
		}
		return holds(ctx)
	})
	if err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

// tryDeadline bounds one try of Eventually, which takes some milliseconds of an idle
// machine. A try that is given up is repeated, so one that is always slower than this
// never ends well.
const tryDeadline = 30 * time.Second

// Eventually calls holds, with a deadline for each call, until it returns nil or the
// time is over. Then it returns the last error.
func Eventually(ctx context.Context, within time.Duration, holds func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		once, done := context.WithTimeout(ctx, tryDeadline)
		err := holds(once)
		done()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// The ports that need no rights and that Linux does not use for the other end of
// connections. For that it uses the ports from 32768 on.
const firstPort, endOfPorts = 10000, 32768

// Ports returns n different free loopback addresses. No connection takes one of them
// before its use, and no other test gets it before this one has ended: a test locks the
// UDP port with the same number.
func Ports(t testing.TB, n int) []string {
	t.Helper()
	var free []string
	for tries := 0; len(free) < n; tries++ {
		if tries > 100 {
			t.Fatalf("of %d ports that were tried, %d are free, want %d", tries, len(free), n)
		}
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+rand.IntN(endOfPorts-firstPort))
		held, err := net.ListenPacket("udp4", address)
		if err != nil {
			continue
		}
		t.Cleanup(func() { held.Close() })
		l, err := net.Listen("tcp4", address)
		if err != nil {
			continue
		}
		l.Close()
		free = append(free, address)
	}
	return free
}
