package config

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Auth has the login of gitlatch to the git server, and the keys of the server over SSH.
// The zero value has neither.
type Auth struct {
	Token Secret // an access token, or the password of the user
	// The user name for the token: its value, or the name of an environment variable. If
	// both are empty, gitlatch uses a name that servers accept with tokens.
	Username, UsernameEnv string

	SSHKey   Secret   // the private key of a deploy key
	HostKeys []string // accepted keys of the SSH host, each in the form "ssh-ed25519 AAAA..."

	// Secret is the name or ARN of a secret in AWS Secrets Manager. It replaces the other
	// fields: it contains the token, or the deploy key and the keys of the host.
	Secret string
}

// A Secret is the location of a secret, never the secret itself. The zero value has no
// location.
type Secret struct {
	Env  string // an environment variable
	File string // a file; white space at its end is ignored
}

// Read returns the secret, or "" for the zero value. field is the configuration field for
// errors, without its suffix Env or File.
func (s Secret) Read(field string, getenv func(string) string) (string, error) {
	switch {
	case s.Env != "":
		if secret := strings.TrimSpace(getenv(s.Env)); secret != "" {
			return secret, nil
		}
		return "", fmt.Errorf("read %s is not set", s.At(field))
	case s.File != "":
		content, err := os.ReadFile(s.File)
		secret := strings.TrimSpace(string(content))
		if err == nil && secret == "" {
			err = fmt.Errorf("%s is empty", s.File)
		}
		if err != nil {
			return "", fmt.Errorf("read %sFile: %w", field, err)
		}
		return secret, nil
	}
	return "", nil
}

// At returns the location of the secret for errors. field is the same as for Read.
func (s Secret) At(field string) string {
	if s.Env != "" {
		return field + "Env: environment variable " + s.Env
	}
	return field + "File: " + s.File
}

// Read returns the user name and the token, each "" if it is not configured.
func (a Auth) Read(getenv func(string) string) (username, token string, err error) {
	if username, err = (Secret{Env: a.UsernameEnv}).Read("repository.auth.username", getenv); err != nil {
		return "", "", err
	}
	token, err = a.Token.Read("repository.auth.token", getenv)
	return cmp.Or(username, a.Username), token, err
}

func authFields(auth *Auth) yamldoc.Object {
	const (
		unknown = "gitlatch trusts no unknown host. Print its keys with \"ssh-keyscan HOST\", compare them with the published keys, and pin them"
		useless = "gitlatch identifies an SSH host by its keys"
	)
	return yamldoc.Fields(
		yamldoc.Optional("tokenEnv", "environment variable that contains the access token or password for the git server", yamldoc.Into(&auth.Token.Env, variable)),
		yamldoc.Optional("tokenFile", "path of the file that contains the access token or password for the git server", file(&auth.Token.File)),
		yamldoc.Optional("username", "user name for the git server, if the server requires a specific user name", yamldoc.Into(&auth.Username, anyText)),
		yamldoc.Optional("usernameEnv", "environment variable that contains the user name for the git server", yamldoc.Into(&auth.UsernameEnv, variable)),
		yamldoc.Optional("sshKeyEnv", "environment variable that contains the private deploy key for an ssh URL", yamldoc.Into(&auth.SSHKey.Env, variable)),
		yamldoc.Optional("sshKeyFile", "path of the file that contains the private deploy key for an ssh URL", file(&auth.SSHKey.File)),
		yamldoc.Optional("hostKeys", "list of SSH host keys that gitlatch accepts; each host key consists of the key type and the public key, such as `ssh-ed25519 AAAA...`", texts(&auth.HostKeys, "pin a key", hostKey, wholeKey)),
		yamldoc.Optional("secret", "name or ARN of the AWS Secrets Manager secret that contains the access token, or the private deploy key and the host keys for an ssh URL", yamldoc.Into(&auth.Secret, secretName, noToken)),
	).With(
		yamldoc.OneOf("tokenEnv", "tokenFile", "sshKeyEnv", "sshKeyFile", "secret"),
		yamldoc.AtMostOne(userNames...),
		yamldoc.AtMostOne("secret", "username"),
		yamldoc.AtMostOne("secret", "usernameEnv"),
		yamldoc.Needs("sshKeyEnv", unknown, "hostKeys"),
		yamldoc.Needs("sshKeyFile", unknown, "hostKeys"),
		yamldoc.Needs("hostKeys", useless, deployKeys...),
	)
}

func webhookFields(s *Secret) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("urlEnv", "environment variable that contains the URL of the webhook", yamldoc.Into(&s.Env, variable)),
		yamldoc.Optional("urlFile", "path of the file that contains the URL of the webhook", file(&s.File)),
	).With(yamldoc.OneOf("urlEnv", "urlFile"))
}

// hostKey is the form of a line of ssh-keyscan, without the host before the key.
var hostKey = yamldoc.Text(`^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) AAAA[A-Za-z0-9+/]+=*( .*)?$`,
	"a host key such as ssh-ed25519 AAAA..., without the host name that ssh-keyscan prints")

func wholeKey(s string) error {
	if _, err := base64.StdEncoding.DecodeString(strings.Fields(s)[1]); err != nil {
		return errors.New("must be a complete host key. The end of this key is missing")
	}
	return nil
}

var (
	deployKeys = []string{"sshKeyEnv", "sshKeyFile"}
	userNames  = []string{"username", "usernameEnv"}
)

// sameWay is the rule that the login fits the URL. An SSH URL needs a deploy key and
// allows no user name. Other URLs do not allow a deploy key. The content of a secret is
// compared with the URL after it is read.
func sameWay(url *string) yamldoc.Rule {
	withKey := append(slices.Clone(deployKeys), "secret")
	key := schema{"anyOf": yamldoc.Each(deployKeys)}
	keyAlone := schema{"anyOf": yamldoc.Each(withKey), "not": schema{"anyOf": yamldoc.Each(userNames)}}
	return yamldoc.Rule{
		Check: func(r *yamldoc.Reader, path string) {
			at := yamldoc.Child(path, "auth")
			refuse := func(path, why string, names ...string) {
				for _, name := range r.Standing(path, names) {
					r.Report(yamldoc.Child(path, name), "%s", why)
				}
			}
			switch known := *url != "" && !r.Failed(at); {
			case repo.OverSSH(*url):
				if known && len(r.Standing(at, withKey)) == 0 {
					r.Report(at, "must contain one of %s. Over SSH, gitlatch logs in with a deploy key", strings.Join(withKey, ", "))
				}
				refuse(at, "requires a token. Over SSH, the user is part of the URL", userNames...)
				refuse(path, "requires an https URL. Over SSH, gitlatch identifies the host by its key", "caFile")
			case known:
				refuse(at, "requires an ssh URL: ssh://git@host/path, or git@host:path", deployKeys...)
			}
		},
		Schema: schema{
			"if":   schema{"properties": schema{"url": schema{"pattern": repo.SSHShape}}, "required": []string{"url"}},
			"then": schema{"properties": schema{"auth": keyAlone, "caFile": false}, "required": []string{"auth"}},
			"else": schema{"properties": schema{"auth": schema{"not": key}}},
		},
	}
}
