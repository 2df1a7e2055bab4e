// Package signing signs commits as git does: by an SSH key or by an OpenPGP key.
package signing

import (
	"bytes"
	"errors"
	"time"
)

// A Key signs. The same content at the same time is signed alike.
type Key interface {
	// Sign returns a detached signature of a commit, in the armour that git has
	// for it. The time is that of the commit; an OpenPGP signature is made then.
	Sign(commit []byte, when time.Time) (string, error)
	// Fingerprint names the key by its public half.
	Fingerprint() string
}

// A Format is how a signature is made.
type Format string

// The formats of git's gpg.format.
const (
	SSH     Format = "ssh"
	OpenPGP Format = "openpgp"
)

// Open reads a private key: for SSH in PEM, such as ssh-keygen makes, for OpenPGP
// what gpg --export-secret-keys gives, armoured or not. The passphrase is that of
// the key; without one it is empty. No error shows any of either.
func Open(format Format, key, passphrase []byte) (Key, error) {
	if len(bytes.TrimSpace(key)) == 0 {
		return nil, errors.New("the key is empty")
	}
	switch format {
	case SSH:
		return openSSH(key, passphrase)
	case OpenPGP:
		return openPGP(key, passphrase)
	}
	return nil, errors.New("the format must be ssh or openpgp")
}

var (
	errNoPassphrase    = errors.New("the key has a passphrase: give it, too")
	errWrongPassphrase = errors.New("the passphrase is not that of the key")
)
