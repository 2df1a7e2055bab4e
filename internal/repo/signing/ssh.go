package signing

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// The format is OpenSSH's PROTOCOL.sshsig. The namespace keeps a signature of a
// commit from being taken for one of anything else.
const (
	magic     = "SSHSIG"
	version   = 1
	namespace = "git"
	digest    = "sha512"
)

type sshKey struct{ signer ssh.Signer }

func openSSH(key, passphrase []byte) (Key, error) {
	text := append(bytes.TrimSpace(key), '\n')
	signer, err := ssh.ParsePrivateKey(text)
	var locked *ssh.PassphraseMissingError
	switch block, _ := pem.Decode(text); {
	case errors.As(err, &locked) && len(passphrase) == 0:
		return nil, errNoPassphrase
	case errors.As(err, &locked):
		if signer, err = ssh.ParsePrivateKeyWithPassphrase(text, passphrase); err != nil {
			return nil, errWrongPassphrase
		}
	case block == nil:
		return nil, errors.New("the key is not a private key in PEM, such as ssh-keygen makes")
	case err != nil:
		return nil, errors.New("the key is none that SSH signs by: make one with ssh-keygen -t ed25519")
	}
	return sshKey{signer}, nil
}

func (k sshKey) Fingerprint() string { return ssh.FingerprintSHA256(k.signer.PublicKey()) }

// Sign needs no randomness: keys of ed25519 and RSA sign alike by themselves, and
// ECDSA does so where it is given none (RFC 6979).
func (k sshKey) Sign(commit []byte, _ time.Time) (string, error) {
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

// sign keeps RSA from SHA-1, which the format does not take.
func (k sshKey) sign(content []byte) (*ssh.Signature, error) {
	if k.signer.PublicKey().Type() != ssh.KeyAlgoRSA {
		return k.signer.Sign(nil, content)
	}
	able, ok := k.signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("it cannot sign by SHA-2")
	}
	return able.SignWithAlgorithm(nil, content, ssh.KeyAlgoRSASHA512)
}

// armour is OpenSSH's, which has 70 characters a line.
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
