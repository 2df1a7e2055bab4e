package wire

import (
	"encoding/pem"
	"errors"
	"strings"

	"golang.org/x/crypto/ssh"
)

// ParseSecret parses the credentials in a secret, which is plain text. It is a token, or
// user:token, or a private SSH key with the keys of the host in the form of known_hosts.
// For a token, the SSH has no key. Errors do not show the text.
func ParseSecret(text string) (Auth, SSH, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return Auth{}, SSH{}, errors.New("contains JSON. Store the token as plain text. For a GitHub App on a server of your own, write github:: before repository.url")
	}
	if start := strings.Index(text, "-----BEGIN "); start >= 0 {
		keys, err := parseKeys(text[:start], text[start:])
		return Auth{}, keys, err
	}
	auth, err := parseToken(text)
	return auth, SSH{}, err
}

func parseToken(text string) (Auth, error) {
	switch {
	case text == "":
		return Auth{}, errors.New("is empty")
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return Auth{}, errors.New("is not a token, user:token or a private key: it contains spaces or characters that no token has")
	}
	if user, token, both := strings.Cut(text, ":"); both {
		return Auth{Username: user, Password: token}, nil
	}
	return Token(text), nil
}

// parseKeys parses the text before a private key, and the text from its start on.
func parseKeys(before, from string) (SSH, error) {
	block, after := pem.Decode([]byte(from))
	if block == nil {
		return SSH{}, errors.New("contains a private key that is not in PEM, or whose line breaks were lost. Store the file that ssh-keygen created")
	}
	keys := SSH{Key: []byte(strings.TrimSuffix(from, string(after)))}
	for line := range strings.Lines(before + "\n" + string(after)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, err := hostKey(line)
		if err != nil {
			return SSH{}, err
		}
		keys.HostKeys = append(keys.HostKeys, key)
	}
	return keys, nil
}

// hostKey returns the key in a line of known_hosts, without the names of the host.
func hostKey(line string) (string, error) {
	marker, _, key, _, _, err := ssh.ParseKnownHosts([]byte(line))
	if err != nil {
		key, _, _, _, err = ssh.ParseAuthorizedKey([]byte(line))
	}
	if err != nil || marker != "" {
		return "", errors.New("contains a line that is not a host key such as \"git.example.com ssh-ed25519 AAAA...\", which ssh-keyscan prints")
	}
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key))), nil
}
