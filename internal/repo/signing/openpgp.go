package signing

import (
	"bytes"
	"crypto"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
)

type pgpKey struct{ entity *openpgp.Entity }

// alike are the kinds of key whose signatures hold nothing random.
var alike = []packet.PublicKeyAlgorithm{
	packet.PubKeyAlgoRSA, packet.PubKeyAlgoRSASignOnly, packet.PubKeyAlgoEdDSA, packet.PubKeyAlgoEd25519,
}

func openPGP(key, passphrase []byte) (Key, error) {
	read := openpgp.ReadKeyRing
	if bytes.HasPrefix(bytes.TrimSpace(key), []byte("-----BEGIN")) {
		read = openpgp.ReadArmoredKeyRing
	}
	ring, err := read(bytes.NewReader(key))
	switch {
	case err != nil || len(ring) == 0:
		return nil, errors.New("the key is no OpenPGP key: gpg --armor --export-secret-keys gives one")
	case len(ring) > 1:
		return nil, fmt.Errorf("there are %d keys in it: export the one that signs", len(ring))
	}
	k := pgpKey{ring[0]}
	if err := k.unlock(passphrase); err != nil {
		return nil, err
	}
	return k, nil
}

// unlock decrypts what can sign. A key exported without its primary half, as for
// a machine, has the halves of its subkeys alone.
func (k pgpKey) unlock(passphrase []byte) error {
	private := []*packet.PrivateKey{k.entity.PrivateKey}
	for _, sub := range k.entity.Subkeys {
		private = append(private, sub.PrivateKey)
	}
	held := false
	for _, half := range private {
		if half == nil || half.Dummy() {
			continue
		}
		held = true
		switch {
		case half.Encrypted && len(passphrase) == 0:
			return errNoPassphrase
		case half.Encrypted && half.Decrypt(passphrase) != nil:
			return errWrongPassphrase
		}
	}
	if !held {
		return errors.New("the key is the public half: gpg --armor --export-secret-keys gives the private one")
	}
	return nil
}

func (k pgpKey) Fingerprint() string {
	return strings.ToUpper(fmt.Sprintf("%x", k.entity.PrimaryKey.Fingerprint))
}

// Sign leaves out the salt that the library would add, for the same commit to be
// signed alike.
func (k pgpKey) Sign(commit []byte, when time.Time) (string, error) {
	no := false
	config := &packet.Config{
		DefaultHash:                           crypto.SHA512,
		Time:                                  func() time.Time { return when },
		NonDeterministicSignaturesViaNotation: &no,
	}
	half, ok := k.entity.SigningKey(when)
	switch {
	case !ok || half.PrivateKey == nil || half.PrivateKey.Dummy():
		return "", fmt.Errorf("by the OpenPGP key %s: at %s it has no half that may sign: it has expired, was revoked, is younger than the commit, or was exported without it",
			k.Fingerprint(), when.UTC().Format(time.RFC3339))
	case !slices.Contains(alike, half.PrivateKey.PubKeyAlgo):
		return "", fmt.Errorf("by the OpenPGP key %s: it is of a kind whose signatures are random, and a commit made again must be the same: use ed25519 or RSA", k.Fingerprint())
	}
	var b bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&b, k.entity, bytes.NewReader(commit), config); err != nil {
		return "", fmt.Errorf("by the OpenPGP key %s: %w", k.Fingerprint(), err)
	}
	return b.String(), nil
}
