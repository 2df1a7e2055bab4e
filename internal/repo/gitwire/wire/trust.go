package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// SSH has the keys for a repository over SSH.
type SSH struct {
	// Key is the private key of a deploy key, in PEM, without a passphrase.
	Key []byte
	// HostKeys are the keys that the host may present, each in the form "ssh-ed25519
	// AAAA...". If it is empty, no host is trusted.
	HostKeys []string
}

// pins are the places for the keys of a host, in the configuration and in AWS Secrets
// Manager.
const pins = "the credential of the repository, before the private key"

// trust trusts only the keys that are pinned for one host.
type trust struct {
	keys []ssh.PublicKey
	// algorithms are the signature algorithms of the keys. The host must not choose a
	// kind of key that is not pinned.
	algorithms []string
}

// pinned returns the trust in the configured keys of a host.
func pinned(s SSH, at Address) (t trust, err error) {
	if len(s.HostKeys) == 0 {
		return t, fmt.Errorf("host keys: no key is pinned for %[1]s, and gitlatch trusts no unknown host. "+
			"Print its keys with \"ssh-keyscan %[1]s\", compare them with the published keys, and add them to %[2]s", at.host, pins)
	}
	for i, line := range s.HostKeys {
		key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil || len(options) > 0 || len(rest) > 0 {
			return t, fmt.Errorf(`host keys: number %d is not of the form "ssh-ed25519 AAAA..."`, i+1)
		}
		by, err := algorithms(key)
		if err != nil {
			return t, err
		}
		t.keys = append(t.keys, key)
		for _, algorithm := range by {
			if !slices.Contains(t.algorithms, algorithm) {
				t.algorithms = append(t.algorithms, algorithm)
			}
		}
	}
	return t, nil
}

// algorithms returns the signature algorithms of a key.
func algorithms(key ssh.PublicKey) ([]string, error) {
	switch key.Type() {
	case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
		return []string{key.Type()}, nil
	case ssh.KeyAlgoRSA:
		return []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}, nil
	}
	return nil, fmt.Errorf("host keys: a key of the kind %s cannot be pinned", key.Type())
}

// check returns an error if the key of the host is not pinned.
func (t trust) check(at Address, shown ssh.PublicKey) error {
	if slices.ContainsFunc(t.keys, func(key ssh.PublicKey) bool { return bytes.Equal(key.Marshal(), shown.Marshal()) }) {
		return nil
	}
	return fmt.Errorf("%s has the host key %s %s, which is not pinned. Either the host changed its key, or someone intercepts the connection. "+
		"gitlatch sent nothing. Compare the key with the published keys. If it is one of them, add it to %s: %s",
		at.host, shown.Type(), ssh.FingerprintSHA256(shown), pins, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(shown))))
}

// deployKey reads the key that logs in. An RSA key signs with SHA-2 only. Errors do not
// show the key.
func deployKey(pem []byte) (ssh.Signer, error) {
	if len(bytes.TrimSpace(pem)) == 0 {
		return nil, errors.New("deploy key: no key is set, and gitlatch logs in over SSH only with a key")
	}
	key, err := ssh.ParsePrivateKey(append(bytes.TrimSpace(pem), '\n'))
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, errors.New("deploy key: has a passphrase: create a separate key without a passphrase that has access to this repository only")
	case err != nil:
		return nil, errors.New("deploy key: is not a private key in PEM, such as ssh-keygen creates")
	case key.PublicKey().Type() != ssh.KeyAlgoRSA:
		return key, nil
	}
	able, ok := key.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("deploy key: cannot sign by SHA-2")
	}
	return ssh.NewSignerWithAlgorithms(able, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}
