package faults

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Canaries are the secrets for access to the parts. A part answers only with its
// secret.
const (
	gitToken     = "canary-git-7f1c0b9e5d"
	kubeToken    = "canary-kube-5a92d8c41e"
	awsSecret    = "canary-aws-secret-c03b7e19f2"
	awsSession   = "canary-aws-session-91d4f6a8b7"
	measureToken = "canary-prometheus-2be8c5d013"
)

// signingKey is the key that signs commits.
var signingKey = sync.OnceValue(func() string {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		panic(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
})

// canaries returns all secrets. Each line of a PEM key is one.
func (w *world) canaries() []string {
	all := []string{gitToken, kubeToken, awsSecret, awsSession, measureToken}
	for _, secret := range w.environment {
		for line := range strings.Lines(secret) {
			if line = strings.TrimSpace(line); len(line) > 30 && !strings.HasPrefix(line, "---") {
				all = append(all, line)
			}
		}
	}
	return all
}

// forms returns the forms of a secret in headers, addresses and dumps.
func forms(secret string) []string {
	all := []string{secret, url.QueryEscape(secret), hex.EncodeToString([]byte(secret))}
	for shift := range 3 { // base64 of a longer text that contains the secret
		text := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + secret))
		all = append(all, strings.TrimRight(text[4:len(text)-4], "="))
	}
	return slices.Compact(all)
}

// leaks fails the test if a canary is in any output of the site, in its state, its
// commits or its messages.
func (w *world) leaks(t *testing.T) {
	t.Helper()
	said := map[string]string{
		"a log, an error or a report": w.said.String(),
		"git":                         w.origin.Git(t, "log", "-p", "--all", "--format=raw") + w.origin.Git(t, "for-each-ref"),
	}
	if w.told != nil {
		said["an alert"] = strings.Join(w.told(t), "\n")
	}
	if w.held != nil {
		said["the state"] = strings.Join(w.held(t), "\n")
	}
	for where, text := range said {
		for _, secret := range w.canaries() {
			for _, form := range forms(secret) {
				if at := strings.Index(text, form); at >= 0 {
					t.Errorf("%s shows the secret %s as %s: ...%s", where, secret, form, text[max(0, at-200):at+len(form)])
				}
			}
		}
	}
}
