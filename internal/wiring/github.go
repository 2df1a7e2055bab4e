package wiring

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/gitlatch/gitlatch/internal/repo/github"
)

// readCredentials reads the credentials for GitHub. Errors do not show them.
type readCredentials func(context.Context) (github.Credentials, error)

// credentials returns a function that reads the credentials for GitHub from the
// configured file, environment variable, or secret of AWS.
func (o *Opener) credentials(ctx context.Context) (readCredentials, error) {
	held := secret{field: "repository.credential", name: o.Config.Repository.Credential.Name}
	if held.name == "" {
		return o.local, nil
	}
	own, err := o.In(ctx, held.field, regionOf(held.name))
	if err != nil {
		return nil, err
	}
	vault := secretsmanager.NewFromConfig(own)
	return func(ctx context.Context) (github.Credentials, error) { return held.read(ctx, vault) }, nil
}

// local reads credentials from a file or an environment variable.
func (o *Opener) local(context.Context) (github.Credentials, error) {
	const field = "repository.credential"
	at := o.Config.Repository.Credential
	text, err := at.Read(field, o.Getenv)
	if err != nil {
		return github.Credentials{}, err
	}
	credentials, err := github.ParseSecret(text)
	if err != nil {
		return github.Credentials{}, fmt.Errorf("%s: %w", at.At(field), err)
	}
	return credentials, nil
}

// apiOf returns the URL of the API of a GitHub server.
func apiOf(server string) string {
	host, isHTTPS := strings.CutPrefix(server, "https://")
	if isHTTPS && (host == "github.com" || strings.HasSuffix(host, ".ghe.com")) {
		return "https://api." + host
	}
	return server + "/api/v3"
}
