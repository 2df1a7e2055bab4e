package wiring

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/repo/github"
)

// readCredentials reads the credentials for GitHub. Errors do not show them.
type readCredentials func(context.Context) (github.Credentials, error)

// credentials returns a function that reads the credentials for GitHub from the
// configured file, environment variable, or secret of AWS.
func (o *Opener) credentials(ctx context.Context) (readCredentials, error) {
	g := o.Config.Repository.GitHub
	if g.App != (config.Secret{}) {
		return o.local("repository.github.app", g.App, true), nil
	}
	if g.Token != (config.Secret{}) {
		return o.local("repository.github.token", g.Token, false), nil
	}
	held := secretOf(g)
	own, err := o.In(ctx, held.field, regionOf(held.name))
	if err != nil {
		return nil, err
	}
	vault := secretsmanager.NewFromConfig(own)
	return func(ctx context.Context) (github.Credentials, error) { return held.read(ctx, vault) }, nil
}

// local returns a function that reads credentials from a file or an environment variable.
// app is true if they must be the credentials of a GitHub App.
func (o *Opener) local(field string, at config.Secret, app bool) readCredentials {
	return func(context.Context) (github.Credentials, error) {
		text, err := at.Read(field, o.Getenv)
		if err != nil {
			return github.Credentials{}, err
		}
		credentials, err := parseCredentials(text, app)
		if err != nil {
			return github.Credentials{}, fmt.Errorf("%s: %w", at.At(field), err)
		}
		return credentials, nil
	}
}

// parseCredentials parses the content of a secret. app is true if the content must be the
// credentials of a GitHub App.
func parseCredentials(text string, app bool) (github.Credentials, error) {
	credentials, err := github.ParseSecret(text)
	switch {
	case err != nil:
	case app && credentials.Token != "":
		err = errors.New("contains no JSON of a GitHub App. For a token, use tokenSecret, tokenFile or tokenEnv")
	case !app && credentials.Token == "":
		err = errors.New("contains the key of a GitHub App. Use appSecret, appFile or appEnv")
	}
	if err != nil {
		return github.Credentials{}, err
	}
	return credentials, nil
}
