package local

import (
	"cmp"
	"fmt"
	"os"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
)

// Git opens the repository at the configured URL, with the configured credentials. It
// reads no secrets of AWS.
func Git(c config.Config, getenv func(string) string) (*gitwire.Repository, error) {
	options, err := GitOptions(c, getenv)
	if err != nil {
		return nil, err
	}
	return gitwire.Open(options)
}

// GitOptions returns the options of the repository at the configured URL, without the
// secrets of AWS.
func GitOptions(c config.Config, getenv func(string) string) (gitwire.Options, error) {
	r := c.Repository
	username, token, err := r.Auth.Read(getenv)
	if err != nil {
		return gitwire.Options{}, err
	}
	auth := wire.Auth{Username: username, Password: token}
	if username == "" && token != "" {
		auth = wire.Token(token)
	}
	key, err := r.Auth.SSHKey.Read("repository.auth.sshKey", getenv)
	if err != nil {
		return gitwire.Options{}, err
	}
	signer, err := Signer(c.Commit.Signing, getenv)
	if err != nil {
		return gitwire.Options{}, err
	}
	bundle, err := CABundle(r)
	if err != nil {
		return gitwire.Options{}, err
	}
	return gitwire.Options{
		URL:      r.URL,
		Branch:   r.Branch,
		Auth:     auth,
		SSH:      wire.SSH{Key: []byte(key), HostKeys: r.Auth.HostKeys},
		CABundle: bundle,
		MaxBytes: int64(r.MaxBytes),
		Author:   Author(c.Commit.Author),
		Signer:   signer,
	}, nil
}

// Signer returns the key that signs commits; nil if commits are not signed, or the key is
// in a secret of AWS.
func Signer(s config.Signing, getenv func(string) string) (*signing.Key, error) {
	if s.Key == (config.Secret{}) {
		return nil, nil
	}
	key, passphrase, err := s.Read(getenv)
	if err != nil {
		return nil, err
	}
	signer, err := signing.Open([]byte(key), []byte(passphrase))
	if err != nil {
		return nil, fmt.Errorf("commit.signing: %w", err)
	}
	return signer, nil
}

// Author returns the author of commits. A missing name or email address is the default.
func Author(a config.Author) repo.Author {
	own := repo.DefaultAuthor
	return repo.Author{Name: cmp.Or(a.Name, own.Name), Email: cmp.Or(a.Email, own.Email)}
}

// CABundle returns the certificates to trust instead of the system's; nil if r has no
// caFile.
func CABundle(r config.Repository) ([]byte, error) {
	if r.CAFile == "" {
		return nil, nil
	}
	bundle, err := os.ReadFile(r.CAFile)
	if err != nil {
		return nil, fmt.Errorf("read repository.caFile: %w", err)
	}
	return bundle, nil
}
