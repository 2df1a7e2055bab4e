// Package signing signs commits with an SSH key, as git does.
package signing

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// The format is OpenSSH's PROTOCOL.sshsig. Because of the namespace, the signature of a
// commit is not valid as a signature of anything else.
const (
	magic     = "SSHSIG"
	version   = 1
	namespace = "git"
	digest    = "sha512"
)

// A Key is a private SSH key that signs commits.
type Key struct{ signer ssh.Signer }

// Open reads a private key in PEM, such as ssh-keygen makes. The passphrase is empty if
// the key has no passphrase. Errors do not show the key or the passphrase.
func Open(key, passphrase []byte) (*Key, error) {
	text := append(bytes.TrimSpace(key), '\n')
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch block, _ := pem.Decode(text); {
	case string(text) == "\n":
		return nil, errors.New("the key is empty")
	case errors.As(err, &locked) && len(passphrase) == 0:
		return nil, errors.New("the key has a passphrase, which is not set")
	case errors.As(err, &locked):
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(text, passphrase); err != nil {
			return nil, errors.New("the passphrase does not match the key")
		}
	case block == nil:
		return nil, errors.New("the key is not a private key in PEM, such as ssh-keygen creates")
	case err != nil:
		return nil, errors.New("SSH cannot sign with this kind of key. Create a key with \"ssh-keygen -t ed25519\"")
	}
	return &Key{signer}, nil
}

// Fingerprint returns the SHA-256 fingerprint of the public key.
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.signer.PublicKey()) }

// Sign returns a detached signature of a commit, in OpenSSH's armour. The same content
// has the same signature, so a commit that is made again has the same id. Signatures of
// ed25519 and RSA keys use no randomness, and ECDSA signs without it (RFC 6979).
func (k *Key) Sign(commit []byte) (string, error) {
	sum := sha512.Sum512(commit)
	content := append([]byte(magic), ssh.Marshal(struct{ Namespace, Reserved, Digest, Sum string }{
		namespace, "", digest, string(sum[:]),
	})...)
	signature, err := k.sign(content)
	if err != nil {
		return "", fmt.Errorf("by the SSH key %s: %w", k.Fingerprint(), err)
	}
	envelope := append([]byte(magic), ssh.Marshal(struct {
		Version                                         uint32
		PublicKey, Namespace, Reserved, Digest, Content string
	}{
		version, string(k.signer.PublicKey().Marshal()), namespace, "", digest, string(ssh.Marshal(signature)),
	})...)
	return armour(envelope), nil
}

// sign signs with SHA-512 if the key is an RSA key: the format does not allow SHA-1.
func (k *Key) sign(content []byte) (*ssh.Signature, error) {
	if k.signer.PublicKey().Type() != ssh.KeyAlgoRSA {
		return k.signer.Sign(nil, content)
	}
	able, ok := k.signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("it cannot sign by SHA-2")
	}
	return able.SignWithAlgorithm(nil, content, ssh.KeyAlgoRSASHA512)
}

// armour encodes a signature in OpenSSH's armour, with 70 characters a line.
func armour(envelope []byte) string {
	var b strings.Builder
	b.WriteString("-----BEGIN SSH SIGNATURE-----\n")
	for text := base64.StdEncoding.EncodeToString(envelope); text != ""; {
		n := min(70, len(text))
		b.WriteString(text[:n] + "\n")
		text = text[n:]
	}
	b.WriteString("-----END SSH SIGNATURE-----\n")
	return b.String()
}
