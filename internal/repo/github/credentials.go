package github

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Credentials are either an App or a Token.
type Credentials struct {
	App   App
	Token string // fine-grained, with contents: write, and pull requests: write for proposals
}

// App is a GitHub App that is installed for the repository.
type App struct {
	ID             int64
	InstallationID int64
	PrivateKey     []byte // PEM, as downloaded from GitHub
}

// ParseSecret parses the credentials in a secret: a token, or for an App a JSON object
// with appId, installationId and privateKey. The error names the invalid fields and does
// not show their values.
func ParseSecret(secret string) (Credentials, error) {
	secret = strings.TrimSpace(secret)
	if strings.HasPrefix(secret, "-----BEGIN") {
		return Credentials{}, errors.New("contains only a private key. Write JSON with appId, installationId and privateKey")
	}
	if !strings.HasPrefix(secret, "{") {
		_, token, both := strings.Cut(secret, ":")
		if both {
			secret = token // GitHub ignores the user of USER:TOKEN
		}
		return Credentials{Token: secret}, checkToken(secret)
	}
	var held struct {
		AppID          json.Number `json:"appId"` // a number, or a string with a number
		InstallationID json.Number `json:"installationId"`
		PrivateKey     string      `json:"privateKey"`
	}
	if json.Unmarshal([]byte(secret), &held) != nil {
		return Credentials{}, errors.New("want a token, or JSON with appId and installationId, which are numbers, and privateKey, a string")
	}
	app, _ := held.AppID.Int64() // if it fails, check refuses 0
	installation, _ := held.InstallationID.Int64()
	c := Credentials{App: App{app, installation, []byte(held.PrivateKey)}}
	return c, c.App.check()
}

func checkToken(token string) error {
	switch {
	case token == "":
		return errors.New("credentials: want an App's or a token")
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("token: contains spaces or characters that no token has")
	}
	return nil
}

func (a App) check() error {
	var problems []error
	if a.ID <= 0 {
		problems = append(problems, errors.New("appId: want the App's id, a number above 0"))
	}
	if a.InstallationID <= 0 {
		problems = append(problems, errors.New("installationId: want the installation's id, a number above 0"))
	}
	return errors.Join(append(problems, checkKey(a.PrivateKey))...)
}

func checkKey(key []byte) error {
	block, _ := pem.Decode(key)
	switch {
	case len(key) == 0:
		return errors.New("privateKey: is missing")
	case block == nil:
		return errors.New("privateKey: is not PEM, or its line breaks were lost")
	}
	if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return nil
	}
	if _, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		return nil
	}
	return fmt.Errorf("privateKey: is PEM of %q, and not an RSA key that can be read", block.Type)
}
