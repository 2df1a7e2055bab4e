package wiring

import (
	"context"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

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
	return o.Config.Repository.CredentialSecret != "" || o.Config.Commit.Signing.KeySecret != ""
}

// keys returns a function that reads the secrets of the repository from Secrets Manager,
// once. known has the keys that are not in a secret. Members of a fleet share the
// function.
func (o *Opener) keys(ctx context.Context, known gitwire.Keys) (readKeys, error) {
	shared := o.shared()
	if shared != nil && shared.held != nil {
		return shared.held.get, nil
	}
	login := secret{field: "repository.credentialSecret"}
	if o.Config.Repository.Host().Kind != repo.GitHub { // the login to GitHub reads its own secret
		login.name = o.Config.Repository.CredentialSecret
	}
	signature := secret{field: "commit.signing.keySecret", name: o.Config.Commit.Signing.KeySecret}
	vaults := map[secret]Vault{}
	for _, s := range []secret{login, signature} {
		if s.name == "" {
			continue
		}
		own, err := o.In(ctx, s.field, regionOf(s.name))
		if err != nil {
			return nil, err
		}
		vaults[s] = secretsmanager.NewFromConfig(own)
	}
	held := &heldKeys{read: func(ctx context.Context) (keys gitwire.Keys, err error) {
		keys = known
		if vault := vaults[login]; vault != nil {
			if keys.Auth, keys.SSH, err = login.login(ctx, vault, o.Config.Repository.Host().URL); err != nil {
				return keys, err
			}
		}
		if vault := vaults[signature]; vault != nil {
			keys.Signer, err = signature.signer(ctx, vault)
		}
		return keys, err
	}}
	if shared != nil {
		shared.held = held
	}
	return held.get, nil
}

// login reads the credentials for the repository at a URL. Errors do not show them.
func (s secret) login(ctx context.Context, vault Vault, url string) (wire.Auth, wire.SSH, error) {
	text, err := s.text(ctx, vault)
	if err != nil {
		return wire.Auth{}, wire.SSH{}, err
	}
	auth, keys, err := local.Login(text, url)
	if err != nil {
		return wire.Auth{}, wire.SSH{}, s.failed(err)
	}
	return auth, keys, nil
}

// signer reads the key that signs commits. Errors do not show it.
func (s secret) signer(ctx context.Context, vault Vault) (*signing.Key, error) {
	text, err := s.text(ctx, vault)
	if err != nil {
		return nil, err
	}
	key, err := signing.Open([]byte(text), nil)
	if err != nil {
		return nil, s.failed(err)
	}
	return key, nil
}
