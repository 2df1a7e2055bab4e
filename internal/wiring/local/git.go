package local

import (
	"cmp"
	"errors"
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
	url := r.Host().URL
	auth, keys, err := login(r.Credential, url, getenv)
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
		URL:      url,
		Branch:   r.Branch,
		Auth:     auth,
		SSH:      keys,
		CABundle: bundle,
		MaxBytes: int64(r.MaxBytes),
		Author:   Author(c.Commit.Author),
		Signer:   signer,
	}, nil
}

// login reads the login to the repository at a URL; the zero values if at is the zero value.
func login(at config.Secret, url string, getenv func(string) string) (wire.Auth, wire.SSH, error) {
	const field = "repository.credential"
	text, err := at.Read(field, getenv)
	if err != nil || text == "" {
		return wire.Auth{}, wire.SSH{}, err
	}
	auth, keys, err := Login(text, url)
	if err != nil {
		return wire.Auth{}, wire.SSH{}, fmt.Errorf("%s: %w", at.At(field), err)
	}
	return auth, keys, nil
}

// Login parses a credential for the repository at a URL. Errors do not show it.
func Login(text, url string) (wire.Auth, wire.SSH, error) {
	auth, keys, err := wire.ParseSecret(text)
	switch overSSH := repo.OverSSH(url); {
	case err != nil:
		return wire.Auth{}, wire.SSH{}, err
	case overSSH && len(keys.Key) == 0:
		return wire.Auth{}, wire.SSH{}, errors.New("contains a token, and repository.url is an ssh URL. Store the private key and the lines of ssh-keyscan, or use the https URL")
	case !overSSH && len(keys.Key) > 0:
		return wire.Auth{}, wire.SSH{}, errors.New("contains a private key, and repository.url is not an ssh URL. Store a token, or use the ssh URL")
	}
	return auth, keys, nil
}

// Signer returns the key that signs commits; nil if commits are not signed, or the key is
// in a secret of AWS.
func Signer(s config.Signing, getenv func(string) string) (*signing.Key, error) {
	if s.Key == (config.Secret{}) || s.InVault() {
		return nil, nil
	}
	key, err := s.Key.Read("commit.signingKey", getenv)
	if err != nil {
		return nil, err
	}
	passphrase, err := s.Passphrase.Read("commit.signingPassphrase", getenv)
	if err != nil {
		return nil, err
	}
	signer, err := signing.Open([]byte(key), []byte(passphrase))
	if err != nil {
		return nil, fmt.Errorf("commit.signingKey: %w", err)
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
