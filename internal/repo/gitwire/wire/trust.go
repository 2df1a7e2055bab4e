package wire

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/skeema/knownhosts"
	"golang.org/x/crypto/ssh"
)

// SSH is how a repository over SSH is reached.
type SSH struct {
	// Key is the private half of a deploy key, in PEM, without a passphrase.
	Key []byte
	// HostKeys are the keys that the host may show, each as "ssh-ed25519 AAAA...".
	// Without any and without KnownHosts, no host is trusted.
	HostKeys []string
	// KnownHosts is the path of a file as OpenSSH has it; "" is none.
	KnownHosts string
}

// Trust is in the keys pinned for one host, and in nothing else.
type trust struct {
	algorithms []string // that the host may prove itself by
	check      ssh.HostKeyCallback
}

const howToPin = "ssh-keyscan %s prints what the host shows; compare it with what the host publishes, then pin it in hostKeys"

// pinned returns the trust in the keys configured for a host.
func pinned(s SSH, at Address) (trust, error) {
	switch {
	case len(s.HostKeys) > 0 && s.KnownHosts != "":
		return trust{}, errors.New("host keys: give them, or the file that holds them")
	case s.KnownHosts != "":
		return knownIn(s.KnownHosts, at)
	case len(s.HostKeys) == 0:
		return trust{}, fmt.Errorf("host keys: none is pinned for %s, and an unknown host is never trusted: "+howToPin, at.host, at.host)
	}
	var keys []ssh.PublicKey
	for i, line := range s.HostKeys {
		key, _, options, rest, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil || len(options) > 0 || len(rest) > 0 {
			return trust{}, fmt.Errorf(`host keys: number %d is not of the form "ssh-ed25519 AAAA..."`, i+1)
		}
		keys = append(keys, key)
	}
	t, err := among(keys)
	t.check = func(_ string, _ net.Addr, shown ssh.PublicKey) error {
		for _, key := range keys {
			if bytes.Equal(key.Marshal(), shown.Marshal()) {
				return nil
			}
		}
		return strange(at, shown)
	}
	return t, err
}

// knownIn returns the trust in what a known_hosts file holds of a host.
func knownIn(file string, at Address) (trust, error) {
	known, err := knownhosts.NewDB(file)
	if err != nil {
		return trust{}, fmt.Errorf("read the file of host keys: %w", err)
	}
	var keys []ssh.PublicKey
	for _, found := range known.HostKeys(at.dial()) {
		if !found.Cert {
			keys = append(keys, found.PublicKey)
		}
	}
	if len(keys) == 0 {
		return trust{}, fmt.Errorf("host keys: %s holds none of %s, and an unknown host is never trusted: "+howToPin, file, at.host, at.host)
	}
	check := known.HostKeyCallback()
	t, err := among(keys)
	t.check = func(host string, remote net.Addr, shown ssh.PublicKey) error {
		if check(host, remote, shown) != nil {
			return strange(at, shown)
		}
		return nil
	}
	return t, err
}

// strange is what is said of a host that shows another key than was pinned.
func strange(at Address, shown ssh.PublicKey) error {
	return fmt.Errorf("%s shows the host key %s %s, which is not pinned: either the host changed its key, or somebody stands in between. "+
		"Nothing was sent. Compare it with what the host publishes before it is pinned", at.host, shown.Type(), ssh.FingerprintSHA256(shown))
}

// among returns the algorithms by which one of the keys proves itself, so that
// the host does not choose a key of a kind that was never pinned.
func among(keys []ssh.PublicKey) (t trust, err error) {
	for _, key := range keys {
		var by []string
		switch key.Type() {
		case ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521:
			by = []string{key.Type()}
		case ssh.KeyAlgoRSA:
			by = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
		default:
			return trust{}, fmt.Errorf("host keys: a key of the kind %s cannot be pinned", key.Type())
		}
		for _, algorithm := range by {
			if !slices.Contains(t.algorithms, algorithm) {
				t.algorithms = append(t.algorithms, algorithm)
			}
		}
	}
	return t, nil
}

// deployKey reads the key that logs in. RSA signs by SHA-2 only. No error shows
// any of it.
func deployKey(pem []byte) (ssh.Signer, error) {
	if len(bytes.TrimSpace(pem)) == 0 {
		return nil, errors.New("deploy key: none is given, and SSH has no other way to log in")
	}
	key, err := ssh.ParsePrivateKey(append(bytes.TrimSpace(pem), '\n'))
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, errors.New("deploy key: has a passphrase: create a separate key without a passphrase that has access to this repository only")
	case err != nil:
		return nil, errors.New("deploy key: is not a private key in PEM, such as ssh-keygen makes")
	case key.PublicKey().Type() != ssh.KeyAlgoRSA:
		return key, nil
	}
	able, ok := key.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("deploy key: cannot sign by SHA-2")
	}
	return ssh.NewSignerWithAlgorithms(able, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}
