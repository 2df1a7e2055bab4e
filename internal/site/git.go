package site

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
)

// Git opens the repository at the configured URL, with the credentials that the
// configuration says where to find.
func Git(c config.Config, getenv func(string) string) (*gitwire.Repository, error) {
	r := c.Repository
	username, token, err := r.Auth.Read(getenv)
	if err != nil {
		return nil, err
	}
	auth := gitwire.Auth{Username: username, Password: token}
	if username == "" && token != "" {
		auth = gitwire.Token(token)
	}
	var bundle []byte
	if r.CAFile != "" {
		if bundle, err = os.ReadFile(r.CAFile); err != nil {
			return nil, fmt.Errorf("read repository.caFile: %w", err)
		}
	}
	return gitwire.Open(gitwire.Options{
		URL:      r.URL,
		Branch:   r.Branch,
		Auth:     auth,
		CABundle: bundle,
		MaxBytes: int64(r.MaxBytes),
		Author:   author(c.Commit.Author),
	})
}

func author(a config.Author) gitwire.Author {
	own := gitwire.DefaultAuthor
	if a.Name != "" {
		own.Name = a.Name
	}
	if a.Email != "" {
		own.Email = a.Email
	}
	return own
}

// trusting returns a transport that trusts the certificates in a file instead of
// the system's; nil, which is the standard one, without a file.
func trusting(caFile string) (http.RoundTripper, error) {
	if caFile == "" {
		return nil, nil
	}
	bundle, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read repository.caFile: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("read repository.caFile: %s holds no PEM certificate", caFile)
	}
	t := gitwire.Patient().Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: pool}
	return t, nil
}
