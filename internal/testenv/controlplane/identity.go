package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// identity has the credentials of the programs: one certificate that is its own
// authority, a key that signs the tokens of service accounts, and a static token for
// each user.
type identity struct {
	dir         string
	certificate []byte // PEM
	tokens      map[string]string
}

// The users of the control plane, and the groups that give them their rights.
var users = map[string]string{
	"admin":                          "system:masters",
	"kwok":                           "system:masters",
	"system:kube-controller-manager": "",
	"system:kube-scheduler":          "",
}

func newIdentity(dir string) (*identity, error) {
	certificate, key, err := Certificate("gitlatch test control plane")
	if err != nil {
		return nil, err
	}
	id := &identity{dir: dir, certificate: certificate, tokens: map[string]string{}}

	var table strings.Builder
	for user, groups := range users {
		id.tokens[user] = rand.Text()
		fmt.Fprintf(&table, "%s,%s,%s,%s\n", id.tokens[user], user, user, groups)
	}
	for name, content := range map[string][]byte{
		"serving.crt": id.certificate,
		"serving.key": key,
		"tokens.csv":  []byte(table.String()),
	} {
		if err := os.WriteFile(id.path(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	return id, nil
}

// Certificate returns a certificate of this machine for one day, and its key, both as
// PEM. It is its own authority, and servers and clients can use it.
func Certificate(name string) (certificate, key []byte, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(signer)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		DNSNames:              []string{"localhost"},
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &signer.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}

func (id *identity) path(name string) string { return filepath.Join(id.dir, name) }

// kubeconfig writes the kubeconfig of a user and returns its path.
func (id *identity) kubeconfig(server, user string) (string, error) {
	path := id.path(strings.TrimPrefix(user, "system:") + ".kubeconfig")
	return path, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: test
clusters:
- name: test
  cluster: {server: %q, certificate-authority-data: %s}
users:
- name: test
  user: {token: %s}
contexts:
- name: test
  context: {cluster: test, user: test}
`, server, base64.StdEncoding.EncodeToString(id.certificate), id.tokens[user]), 0o600)
}
