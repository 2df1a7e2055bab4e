package config

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Repository is the git repository and branch that a site writes.
type Repository struct {
	// URL is an address of repo.ParseHost. Its host decides the kind of the repository.
	URL        string
	Credential Secret // the login; the zero value logs in without one
	Mode       Mode
	Branch     string
	PolicyFile string // from the root of the repository
	CAFile     string // PEM file with trusted certificates; "" uses the system's
	MaxBytes   int    // maximum size of one read; 0 is the adapter's default
}

// Host returns the host of the repository. Without a credential, GitHub and GitLab are
// plain git servers, which have no pull requests.
func (r Repository) Host() repo.Host {
	host, err := repo.ParseHost(r.URL)
	switch {
	case err != nil: // the repository refuses the URL when it is opened
		return repo.Host{Kind: repo.Git, URL: r.URL}
	case host.Kind != repo.CodeCommit && r.Credential == (Secret{}):
		host.Kind = repo.Git
	}
	return host
}

// Address returns the URL of a repository on a git server, as https, ssh, user@host:path, or
// http, which a configuration may use for this machine only. It returns "" for the path of a
// local repository.
func (r Repository) Address() string {
	url := r.Host().URL
	switch {
	case strings.HasPrefix(url, "https://"), r.OnThisMachine(), repo.OverSSH(url):
		return url
	}
	return ""
}

// OnThisMachine reports whether the repository's git server has an address that only this
// machine can reach.
func (r Repository) OnThisMachine() bool { return strings.HasPrefix(r.Host().URL, "http://") }

// HasProposals reports whether the repository's host has pull requests.
func (r Repository) HasProposals() bool { return r.Host().Kind != repo.Git }

// A Mode is the way in which level changes reach the branch.
type Mode string

const (
	// Direct commits level changes to the branch.
	Direct Mode = "direct"
	// Propose puts level changes into the site's pull request, which users merge.
	Propose Mode = "proposal"
)

func repositoryFields(r *Repository) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("url", "URL of the repository (https or ssh), or the path of a local repository; gitlatch recognizes GitHub, GitLab and CodeCommit by the host name; for your own GitHub or GitLab server, add the prefix `github::` or `gitlab::` to the https URL", address(&r.URL)),
		yamldoc.Optional("credential", "location of the credential for the git server"+secretForms+"; the credential is an access token, the text `USER:TOKEN`, or the JSON file of a GitHub App; for SSH, the credential is the output of `ssh-keyscan`, followed by the private key", secret(&r.Credential)),
		yamldoc.Optional("mode", "how gitlatch publishes level changes; `direct` commits them to the branch, and `proposal` opens one pull request for all changes",
			yamldoc.Into(&r.Mode, yamldoc.Word(Direct, Propose))),
		yamldoc.Optional("branch", "branch that contains the policy and the checkpoint files",
			yamldoc.Into(&r.Branch, yamldoc.Text(branchShape, "the name of a branch"), wrongBranch)),
		yamldoc.Optional("policyFile", "path of the policy file, relative to the root of the git repository", yamldoc.Into(&r.PolicyFile, anyText, wrongPolicyFile)),
		yamldoc.Optional("caFile", "path of a PEM file with CA certificates; gitlatch trusts these certificates instead of the operating system's", file(&r.CAFile)),
		yamldoc.Optional("maxBytes", "maximum size of a download in bytes, for git servers without partial clone; the default is 256 MiB", whole(&r.MaxBytes)),
	).With(
		r.requires(repo.SSHShape, "requires credential, with the private key and the lines of ssh-keyscan"),
		proposable(r),
		r.refuses(repo.SSHShape, "requires an https URL. Over SSH, gitlatch identifies the host by its key", "caFile"),
		r.refuses(repo.CodeCommitShape, "must not be set for CodeCommit, to which gitlatch logs in with the AWS credentials", "credential"),
		r.refuses(repo.CodeCommitShape, "must not be set for CodeCommit. The AWS SDK reads AWS_CA_BUNDLE", "caFile"),
		r.refuses(repo.CodeCommitShape, "must not be set for CodeCommit, from which gitlatch reads single files", "maxBytes"),
	)
}

const branchShape = `^[^\s~^:?*\[\\]+$`

// address binds the URL of a repository, or the path of a local one.
func address(into *string) yamldoc.Scalar {
	s := yamldoc.Into(into, anyText, func(text string) error {
		_, err := repo.ParseHost(text)
		return err
	})
	s.Path = into
	return s
}

func wrongBranch(s string) error {
	if name, found := strings.CutPrefix(s, "refs/heads/"); found {
		return fmt.Errorf("must be only the name of the branch. Write %s", name)
	}
	if repo.CheckBranch(s) != nil {
		return fmt.Errorf("must be the name of a branch, such as main, got %s", yamldoc.Quote(s))
	}
	return nil
}

func wrongPolicyFile(s string) error {
	switch {
	case !fs.ValidPath(s) || s == ".":
		return fmt.Errorf("must be a path from the root of the repository, such as gitlatch.yaml, got %s", yamldoc.Quote(s))
	case strings.HasPrefix(s, "checkpoints/"):
		return errors.New("must not be below checkpoints/, which only gitlatch writes")
	}
	return nil
}

// at returns the schema of a repository whose URL has a shape.
func at(shape string) schema {
	return schema{"properties": schema{"url": schema{"type": "string", "pattern": shape}}, "required": []string{"url"}}
}

// withCredential is the schema of a repository with a credential.
var withCredential = schema{"required": []string{"credential"}}

// requires is the rule that a URL of a shape needs a credential.
func (r *Repository) requires(shape, why string) yamldoc.Rule {
	return yamldoc.Rule{
		Check: func(of *yamldoc.Reader, path string) {
			if yamldoc.Like(shape)().MatchString(r.URL) && of.Line(yamldoc.Child(path, "credential")) == 0 {
				of.Report(path, "%s", why)
			}
		},
		Schema: schema{"if": at(shape), "then": withCredential},
	}
}

// refuses is the rule that a URL of a shape does not allow a field.
func (r *Repository) refuses(shape, why, field string) yamldoc.Rule {
	return yamldoc.Rule{
		Check: func(of *yamldoc.Reader, path string) {
			if !yamldoc.Like(shape)().MatchString(r.URL) {
				return
			}
			if at := yamldoc.Child(path, field); of.Line(at) > 0 {
				of.Report(at, "%s", why)
			}
		},
		Schema: schema{"if": at(shape), "then": schema{"not": schema{"required": []string{field}}}},
	}
}

// proposable is the rule that mode proposal requires a host with pull requests.
func proposable(r *Repository) yamldoc.Rule {
	hosted := schema{"allOf": []any{at(repo.HostedShape), withCredential}}
	return yamldoc.Rule{
		Check: func(of *yamldoc.Reader, path string) {
			if r.Mode == Propose && r.URL != "" && !of.Failed(path) && !r.HasProposals() {
				of.Report(yamldoc.Child(path, "mode"), "%s requires CodeCommit, or GitHub or GitLab with an https URL and a credential, because a plain git server has no pull requests", Propose)
			}
		},
		Schema: schema{
			"if":   schema{"properties": schema{"mode": schema{"const": Propose}}, "required": []string{"mode"}},
			"then": schema{"anyOf": []any{at(repo.CodeCommitShape), hosted}},
		},
	}
}
