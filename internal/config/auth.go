package config

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

// Auth is how gitlatch shows itself to the git server, and how it knows the
// server over SSH. The zero value does neither.
type Auth struct {
	Token Secret // an access token, or the password of the user
	// The user name that goes with the token, itself or the name of an
	// environment variable; without either, what the server takes with tokens.
	Username, UsernameEnv string

	SSHKey     Secret   // the private half of a deploy key
	HostKeys   []string // that the host may show over SSH, each as "ssh-ed25519 AAAA..."
	KnownHosts string   // the file that holds them instead, as OpenSSH has it
}

// A Secret is where a secret is found: never the secret. The zero value is
// nowhere.
type Secret struct {
	Env  string // an environment variable
	File string // a file; white space at its end does not count
}

// read returns the secret, "" where it is nowhere. The field is that of the
// configuration, less its Env or File.
func (s Secret) read(field string, getenv func(string) string) (string, error) {
	switch {
	case s.Env != "":
		secret := strings.TrimSpace(getenv(s.Env))
		if secret == "" {
			return "", fmt.Errorf("read %sEnv: environment variable %s is not set", field, s.Env)
		}
		return secret, nil
	case s.File != "":
		content, err := os.ReadFile(s.File)
		if err != nil {
			return "", fmt.Errorf("read %sFile: %w", field, err)
		}
		secret := strings.TrimSpace(string(content))
		if secret == "" {
			return "", fmt.Errorf("read %sFile: %s is empty", field, s.File)
		}
		return secret, nil
	}
	return "", nil
}

// Read returns the user name and the token, "" for what is not configured.
func (a Auth) Read(getenv func(string) string) (username, token string, err error) {
	username = a.Username
	if a.UsernameEnv != "" {
		if username = getenv(a.UsernameEnv); username == "" {
			return "", "", fmt.Errorf("read repository.auth.usernameEnv: environment variable %s is not set", a.UsernameEnv)
		}
	}
	if token, err = a.Token.read("repository.auth.token", getenv); err != nil {
		return "", "", err
	}
	return username, token, nil
}

// ReadKey returns the private half of the deploy key, "" where none is
// configured.
func (a Auth) ReadKey(getenv func(string) string) (string, error) {
	return a.SSHKey.read("repository.auth.sshKey", getenv)
}

const literal = "must not stand in this file: put the secret into an environment variable and its name into %[1]sEnv, or into a file and its path into %[1]sFile"

func authFields(auth *Auth) object {
	const (
		unknown = "an unknown host is never trusted: ssh-keyscan HOST prints what a host shows; compare it with what the host publishes, then pin it"
		useless = "they are what a host is known by over SSH"
	)
	return object{
		fields: []field{
			{"tokenEnv", "the environment variable that holds the access token or password", false, variable{&auth.Token.Env}},
			{"tokenFile", "the file that holds the access token or password", false, file{&auth.Token.File}},
			{"username", "the user name that goes with it, where the server wants a certain one", false, text{into: &auth.Username}},
			{"usernameEnv", "the environment variable that holds the user name", false, variable{&auth.UsernameEnv}},
			{"sshKeyEnv", "the environment variable that holds the private half of a deploy key, for an ssh URL", false, variable{&auth.SSHKey.Env}},
			{"sshKeyFile", "the file that holds the private half of a deploy key, for an ssh URL", false, file{&auth.SSHKey.File}},
			{"hostKeys", "the keys that the host may show over SSH, each as ssh-ed25519 AAAA...", false, texts[string]{&auth.HostKeys, hostKey, "pin a key"}},
			{"knownHostsFile", "the file of OpenSSH that holds the keys of the host", false, file{&auth.KnownHosts}},
			{"token", "", false, refused(fmt.Sprintf(literal, "token"))},
			{"password", "", false, refused(fmt.Sprintf(literal, "token"))},
			{"sshKey", "", false, refused(fmt.Sprintf(literal, "sshKey"))},
		},
		rules: []rule{
			choice{[]string{"tokenEnv", "tokenFile", "sshKeyEnv", "sshKeyFile"}, true},
			choice{userNames, false},
			choice{[]string{"hostKeys", "knownHostsFile"}, false},
			companion{name: "sshKeyEnv", of: []string{"hostKeys", "knownHostsFile"}, reason: unknown},
			companion{name: "sshKeyFile", of: []string{"hostKeys", "knownHostsFile"}, reason: unknown},
			companion{name: "hostKeys", of: []string{"sshKeyEnv", "sshKeyFile"}, reason: useless},
			companion{name: "knownHostsFile", of: []string{"sshKeyEnv", "sshKeyFile"}, reason: useless},
		},
	}
}

// hostKey is one line of ssh-keyscan, less the host in front of it.
func hostKey(into *string) value {
	return text{
		into:    into,
		pattern: `^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) AAAA[A-Za-z0-9+/]+=*( .*)?$`,
		must:    "a host key such as ssh-ed25519 AAAA..., which is what ssh-keyscan prints behind the host's name",
		check: func(s string) string {
			if _, err := base64.StdEncoding.DecodeString(strings.Fields(s)[1]); err != nil {
				return "must be a whole host key: the end of this one is missing"
			}
			return ""
		},
	}
}

// sameWay is the rule that what logs in goes the way that the URL does.
type sameWay struct{ url *string }

var (
	deployKeys = []string{"sshKeyEnv", "sshKeyFile"}
	userNames  = []string{"username", "usernameEnv"}
)

func (w sameWay) check(r *reader, path string) {
	at, ca := child(path, "auth"), child(path, "caFile")
	keys := r.standing(at, deployKeys)
	switch {
	case *w.url == "" || r.failedBelow(at):
	case !overSSH(*w.url):
		for _, name := range keys {
			r.report(child(at, name), "needs an ssh URL: ssh://git@host/path, or git@host:path")
		}
	case len(keys) == 0:
		r.report(at, "must hold one of %s: over SSH a deploy key logs in", strings.Join(deployKeys, ", "))
	}
	if !overSSH(*w.url) {
		return
	}
	for _, name := range r.standing(at, userNames) {
		r.report(child(at, name), "needs a token beside it: over SSH the user stands in the URL")
	}
	if r.lines[ca] > 0 {
		r.report(ca, "needs an https URL: over SSH a host is known by its key")
	}
}

func (w sameWay) schema() schema {
	key := schema{"anyOf": each(deployKeys)}
	keyAlone := schema{"anyOf": each(deployKeys), "not": schema{"anyOf": each(userNames)}}
	return schema{
		"if":   schema{"properties": schema{"url": schema{"pattern": sshShape}}, "required": []string{"url"}},
		"then": schema{"properties": schema{"auth": keyAlone, "caFile": false}, "required": []string{"auth"}},
		"else": schema{"properties": schema{"auth": schema{"not": key}}},
	}
}
