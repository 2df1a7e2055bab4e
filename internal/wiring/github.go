package wiring

import (
	"context"
	"fmt"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo/github"
)

// credentials reads the credentials for GitHub from their location. Errors do not show them.
func (o *Opener) credentials(ctx context.Context) (github.Credentials, error) {
	const field = "repository.credential"
	at := o.Config.Repository.Credential
	text, err := o.reveal(ctx, field, at)
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
