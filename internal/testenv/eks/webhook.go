package eks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// host is the STS that tokens name, which the webhook asks through a proxy.
const host = "sts." + Region + ".amazonaws.com"

// Access is a cluster's access entries: Kubernetes groups by the ARN of a role.
type Access map[string][]string

// A Webhook authenticates the tokens of one cluster.
type Webhook struct {
	// Flags are the flags of an API server that uses the webhook.
	Flags   []string
	entries string
}

// Authenticate starts the webhook of a cluster, around the verifier that EKS is built
// on, in a separate process. A proxy redirects it to the server instead of the STS that
// a token names.
func (s *Server) Authenticate(t testing.TB, cluster string, access Access) *Webhook {
	t.Helper()
	dir := t.TempDir()
	ca, proxy := s.standIn(t, dir)
	w := &Webhook{entries: filepath.Join(dir, "access.json")}
	w.Set(t, access)
	binary := filepath.Join(dir, "webhook")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/gitlatch/gitlatch/internal/testenv/eks/webhook").CombinedOutput(); err != nil {
		t.Fatalf("build the webhook: %v\n%s", err, out)
	}
	url := program.Serve(t, dir, "env", "HTTPS_PROXY="+proxy, "SSL_CERT_FILE="+ca, binary, cluster, Region, w.entries)
	config := filepath.Join(dir, "webhook.kubeconfig")
	write(t, config, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: webhook
clusters: [{name: webhook, cluster: {server: %q}}]
users: [{name: webhook}]
contexts: [{name: webhook, context: {cluster: webhook, user: webhook}}]
`, url))
	w.Flags = []string{
		"--authentication-token-webhook-config-file=" + config,
		"--authentication-token-webhook-version=v1",
		"--authentication-token-webhook-cache-ttl=0s", // what Set changes counts at once
	}
	return w
}

// Set changes the access list, between one token and the next.
func (w *Webhook) Set(t testing.TB, access Access) {
	t.Helper()
	text, err := json.Marshal(access)
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.entries+".next", text)
	if err := os.Rename(w.entries+".next", w.entries); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// standIn makes the server answer for the STS host over TLS, and returns the
// file of its certificate and the proxy that leads there.
func (s *Server) standIn(t testing.TB, dir string) (ca, proxy string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	ca = filepath.Join(dir, "sts.pem")
	write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))

	secure := httptest.NewUnstartedServer(s)
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	connect := httptest.NewServer(tunnel(secure.Listener.Addr().String()))
	t.Cleanup(connect.Close)
	return ca, connect.URL
}

// tunnel is a proxy to one host, at a fixed address.
func tunnel(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != host+":443" {
			http.Error(w, "no way to "+r.Host, http.StatusBadGateway)
			return
		}
		there, err := net.Dial("tcp", to)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer there.Close()
		here, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(there, here)
			_ = there.Close()
		}()
		_, _ = io.Copy(here, there)
		_ = here.Close()
		<-done
	}
}
