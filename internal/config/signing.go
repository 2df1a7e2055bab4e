package config

import (
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Signing is the SSH key that signs commits. The zero value does not sign.
type Signing struct {
	Key           Secret // the private key
	KeySecret     string // name or ARN of a secret in AWS Secrets Manager with the private key, in place of Key
	PassphraseEnv string // environment variable with the passphrase of the key; "" if the key has no passphrase
}

// Read returns the private key and its passphrase, each "" if it is not configured. It
// does not read KeySecret.
func (s Signing) Read(getenv func(string) string) (key, passphrase string, err error) {
	if key, err = s.Key.Read("commit.signing.key", getenv); err != nil {
		return "", "", err
	}
	passphrase, err = Secret{Env: s.PassphraseEnv}.Read("commit.signing.passphrase", getenv)
	return key, passphrase, err
}

func signingFields(s *Signing) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("keyEnv", "environment variable that contains the private SSH key for signing commits", yamldoc.Into(&s.Key.Env, variable)),
		yamldoc.Optional("keyFile", "path of the file that contains the private SSH key for signing commits", file(&s.Key.File)),
		yamldoc.Optional("passphraseEnv", "environment variable that contains the passphrase of the signing key, if the key has a passphrase", yamldoc.Into(&s.PassphraseEnv, variable)),
		yamldoc.Optional("keySecret", "name or ARN of the AWS Secrets Manager secret that contains the private SSH key for signing commits", yamldoc.Into(&s.KeySecret, secretName, noToken)),
	).With(
		yamldoc.OneOf("keyEnv", "keyFile", "keySecret"),
		yamldoc.AtMostOne("keySecret", "passphraseEnv"),
	)
}

// signable is the rule that commits to CodeCommit cannot be signed.
func signable(r *Repository) yamldoc.Rule {
	within := func(name string, inner schema) schema {
		return schema{"required": []string{name}, "properties": schema{name: inner}}
	}
	return yamldoc.Rule{
		Check: func(of *yamldoc.Reader, _ string) {
			if of.Line("commit.signing") > 0 && r.Host().Kind == repo.CodeCommit {
				of.Report("commit.signing", "must not be set for a repository in CodeCommit, because AWS creates those commits without a signature")
			}
		},
		Schema: schema{"not": schema{"allOf": []any{
			within("commit", schema{"required": []string{"signing"}}), within("repository", at(repo.CodeCommitShape)),
		}}},
	}
}
