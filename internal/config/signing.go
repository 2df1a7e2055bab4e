package config

import (
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Signing is the SSH key that signs commits. The zero value does not sign.
type Signing struct {
	Key        Secret // the private key
	Passphrase Secret // of Key; the zero value if it has none
}

// InVault reports whether a part of the key is in AWS Secrets Manager.
func (s Signing) InVault() bool { return s.Key.Name != "" || s.Passphrase.Name != "" }

// signable is the rule that commits to CodeCommit cannot be signed.
func signable(r *Repository) yamldoc.Rule {
	within := func(name string, inner schema) schema {
		return schema{"required": []string{name}, "properties": schema{name: inner}}
	}
	return yamldoc.Rule{
		Check: func(of *yamldoc.Reader, _ string) {
			if of.Line("commit.signingKey") > 0 && r.Host().Kind == repo.CodeCommit {
				of.Report("commit.signingKey", "must not be set for a repository in CodeCommit, because AWS creates those commits without a signature")
			}
		},
		Schema: schema{"not": schema{"allOf": []any{
			within("commit", schema{"required": []string{"signingKey"}}), within("repository", at(repo.CodeCommitShape)),
		}}},
	}
}
