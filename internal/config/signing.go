package config

import "fmt"

// Signing is how commits are signed. The zero value signs none.
type Signing struct {
	Format        SigningFormat
	Key           Secret // the private key
	PassphraseEnv string // the environment variable that holds the key's passphrase; "" where it has none
}

// A SigningFormat is one of git's gpg.format.
type SigningFormat string

// The formats of a signature.
const (
	SSH     SigningFormat = "ssh"
	OpenPGP SigningFormat = "openpgp"
)

// Read returns the private key and its passphrase, "" for what is not configured.
func (s Signing) Read(getenv func(string) string) (key, passphrase string, err error) {
	if key, err = s.Key.read("commit.signing.key", getenv); err != nil || s.PassphraseEnv == "" {
		return key, "", err
	}
	if passphrase = getenv(s.PassphraseEnv); passphrase == "" {
		return "", "", fmt.Errorf("read commit.signing.passphraseEnv: environment variable %s is not set", s.PassphraseEnv)
	}
	return key, passphrase, nil
}

func signingFields(s *Signing) object {
	return object{
		fields: []field{
			{"format", "the kind of key", true, word[SigningFormat]{&s.Format, []SigningFormat{SSH, OpenPGP}}},
			{"keyEnv", "the environment variable that holds the private key", false, variable{&s.Key.Env}},
			{"keyFile", "the file that holds the private key", false, file{&s.Key.File}},
			{"passphraseEnv", "the environment variable that holds the passphrase of the key, where it has one", false, variable{&s.PassphraseEnv}},
			{"key", "", false, refused(fmt.Sprintf(literal, "key"))},
			{"passphrase", "", false, refused("must not stand in this file: put it into an environment variable, and its name into passphraseEnv")},
		},
		rules: []rule{choice{[]string{"keyEnv", "keyFile"}, true}},
	}
}

// signable is the rule that whoever makes the commits can sign them.
type signable struct{}

func (signable) check(r *reader, _ string) {
	if r.lines["commit.signing"] > 0 && r.lines["repository.codecommit"] > 0 {
		r.report("commit.signing", "must not stand beside repository.codecommit: AWS makes those commits itself, and signs none")
	}
}

func (signable) schema() schema {
	within := func(name, inner string) schema {
		return schema{"required": []string{name}, "properties": schema{name: schema{"required": []string{inner}}}}
	}
	return schema{"not": schema{"allOf": []any{within("commit", "signing"), within("repository", "codecommit")}}}
}
