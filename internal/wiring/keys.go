package wiring

import (
	"context"
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/repo/signing"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// readKeys reads the credentials and the signing key of a repository.
type readKeys func(context.Context) (gitwire.Keys, error)

// heldKeys reads keys once. If it fails, the next call reads them again.
type heldKeys struct {
	read readKeys

	mu    sync.Mutex
	found *gitwire.Keys
}

func (h *heldKeys) get(ctx context.Context) (gitwire.Keys, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.found == nil {
		keys, err := h.read(ctx)
		if err != nil {
			return gitwire.Keys{}, err
		}
		h.found = &keys
	}
	return *h.found, nil
}

// inSecrets reports whether credentials or the signing key are in Secrets Manager.
func (o *Opener) inSecrets() bool {
	return o.Config.Repository.Credential.Name != "" || o.Config.Commit.Signing.InVault()
}

// keys returns a function that reads the secrets of the repository from Secrets Manager,
// once. known has the keys that are not in a secret. Members of a fleet share the
// function.
func (o *Opener) keys(known gitwire.Keys) readKeys {
	shared := o.shared()
	if shared != nil && shared.held != nil {
		return shared.held.get
	}
	host := o.Config.Repository.Host()
	held := &heldKeys{read: func(ctx context.Context) (keys gitwire.Keys, err error) {
		keys = known
		if o.Config.Repository.Credential.Name != "" && host.Kind != repo.GitHub { // the login to GitHub reads its own secret
			if keys.Auth, keys.SSH, err = o.gitLogin(ctx, host.URL); err != nil {
				return keys, err
			}
		}
		if o.Config.Commit.Signing.InVault() {
			keys.Signer, err = o.signer(ctx)
		}
		return keys, err
	}}
	if shared != nil {
		shared.held = held
	}
	return held.get
}

// gitLogin reads the credentials for the repository at a URL. Errors do not show them.
func (o *Opener) gitLogin(ctx context.Context, url string) (wire.Auth, wire.SSH, error) {
	const field = "repository.credential"
	at := o.Config.Repository.Credential
	text, err := o.reveal(ctx, field, at)
	if err != nil {
		return wire.Auth{}, wire.SSH{}, err
	}
	auth, keys, err := local.Login(text, url)
	if err != nil {
		return wire.Auth{}, wire.SSH{}, fmt.Errorf("%s: %w", at.At(field), err)
	}
	return auth, keys, nil
}

// signer reads the key that signs commits, and its passphrase. Errors do not show them.
func (o *Opener) signer(ctx context.Context) (*signing.Key, error) {
	s := o.Config.Commit.Signing
	key, err := o.reveal(ctx, "commit.signingKey", s.Key)
	if err != nil {
		return nil, err
	}
	passphrase, err := o.reveal(ctx, "commit.signingPassphrase", s.Passphrase)
	if err != nil {
		return nil, err
	}
	signer, err := signing.Open([]byte(key), []byte(passphrase))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Key.At("commit.signingKey"), err)
	}
	return signer, nil
}

// reveal reads a secret from its location; "" for the zero value.
func (o *Opener) reveal(ctx context.Context, field string, at config.Secret) (string, error) {
	if at.Name == "" {
		return at.Read(field, o.Getenv)
	}
	own, err := o.In(ctx, field, regionOf(at.Name))
	if err != nil {
		return "", err
	}
	return secret{field: field, name: at.Name}.text(ctx, secretsmanager.NewFromConfig(own))
}
