package wire_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const hostKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIvdkbbUoYgNE+tWVBkSAwD0r2fk8hbFzoFoV0nHIvCg"

func TestASecretIsATokenOrAKeyWithItsHost(t *testing.T) {
	t.Parallel()
	key, _ := gitserver.NewKey(t)
	private := string(key)
	for name, c := range map[string]struct {
		secret   string
		auth     wire.Auth
		hostKeys int
		want     string
	}{
		"a token":                       {secret: "glpat-1\n", auth: wire.Token("glpat-1")},
		"a user and a token":            {secret: "x-token-auth:abc", auth: wire.Auth{Username: "x-token-auth", Password: "abc"}},
		"a password with a colon":       {secret: "robot:a:b", auth: wire.Auth{Username: "robot", Password: "a:b"}},
		"a key and its host":            {secret: "git.example.com " + hostKey + "\n" + private, hostKeys: 1},
		"the host after the key":        {secret: private + "\n# git.example.com:22 SSH-2.0-OpenSSH_10.0\n[git.example.com]:2222 " + hostKey + " comment\n", hostKeys: 1},
		"a hashed host, and none":       {secret: "|1|c2FsdHNhbHRzYWx0c2FsdHM=|aGFzaGhhc2hoYXNoaGFzaGg= " + hostKey + "\n" + hostKey + "\n" + private, hostKeys: 2},
		"a key alone":                   {secret: private},
		"lines of Windows":              {secret: strings.ReplaceAll("git.example.com "+hostKey+"\n"+private, "\n", "\r\n"), hostKeys: 1},
		"nothing":                       {secret: " \n", want: "is empty"},
		"the keys and values of AWS":    {secret: `{"token":"hunter2"}`, want: "contains JSON. Store the token as plain text"},
		"two tokens":                    {secret: "hunter2 hunter2", want: "it contains spaces"},
		"a key without its line breaks": {secret: strings.ReplaceAll(private, "\n", " "), want: "whose line breaks were lost"},
		"a key cut short":               {secret: private[:len(private)/2], want: "is not in PEM"},
		"an authority":                  {secret: "@cert-authority *.example.com " + hostKey + "\n" + private, want: "a line that is not a host key"},
		"a revoked key":                 {secret: "@revoked git.example.com " + hostKey + "\n" + private, want: "a line that is not a host key"},
		"a fingerprint":                 {secret: "SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3\n" + private, want: "a line that is not a host key"},
		"a token before a key":          {secret: "hunter2\n" + private, want: "a line that is not a host key"},
	} {
		auth, keys, err := wire.ParseSecret(c.secret)
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case auth != c.auth || len(keys.HostKeys) != c.hostKeys || (len(keys.Key) > 0) != strings.Contains(c.secret, "PRIVATE KEY"):
			t.Errorf("%s: %+v, %q", name, auth, keys.HostKeys)
		}
		for _, line := range keys.HostKeys {
			if line != hostKey {
				t.Errorf("%s: the host key is %q", name, line)
			}
		}
	}
}
