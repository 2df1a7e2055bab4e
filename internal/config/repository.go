package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Repository is the git repository and branch that a site writes. One of URL, CodeCommit
// and GitHub is set.
type Repository struct {
	URL        string // https, ssh, file, http to this machine, user@host:path or a local path
	GitLabURL  string // of the GitLab server with the repository in URL; "" opens no merge requests
	CodeCommit CodeCommit
	GitHub     GitHub
	Mode       Mode
	Branch     string
	PolicyFile string // from the root of the repository
	Auth       Auth   // for URL
	CAFile     string // PEM file with trusted certificates; "" uses the system's
	MaxBytes   int    // maximum size of one read; 0 is the adapter's default
}

// Address returns the URL for access from other machines, as https, ssh or
// user@host:path. It returns "" if the configuration does not have one.
func (r Repository) Address() string {
	switch {
	case r.GitHub.Repository != "":
		server := strings.TrimSuffix(strings.TrimSuffix(r.GitHub.APIURL, "/"), "/api/v3")
		return cmp.Or(server, "https://github.com") + "/" + r.GitHub.Repository + ".git"
	case r.CodeCommit.Name != "" && r.CodeCommit.Region != "":
		return "https://git-codecommit." + r.CodeCommit.Region + ".amazonaws.com/v1/repos/" + r.CodeCommit.Name
	case strings.HasPrefix(r.URL, "https://"), repo.OverSSH(r.URL):
		return r.URL
	}
	return ""
}

// HasProposals reports whether the repository's host has pull requests.
func (r Repository) HasProposals() bool {
	return r.CodeCommit != (CodeCommit{}) || r.GitHub != (GitHub{}) || r.GitLabURL != ""
}

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
		yamldoc.Optional("url", "URL of the repository (https or ssh), or the path of a local repository", address(&r.URL)),
		yamldoc.Optional("gitlabURL", "URL of the GitLab server that hosts the repository in `repository.url`, such as `https://gitlab.com`; set this field to let gitlatch open merge requests",
			yamldoc.Into(&r.GitLabURL, yamldoc.Text(`^https?://`, "an https URL"), hostURL("https://gitlab.com", "Set them in repository.auth"))),
		yamldoc.Optional("codecommit", "AWS CodeCommit repository", codecommitFields(&r.CodeCommit)),
		yamldoc.Optional("github", "git repository on GitHub or on a GitHub Enterprise server", githubFields(&r.GitHub)),
		yamldoc.Optional("mode", "method that gitlatch uses to publish level changes; with the value `direct`, gitlatch commits level changes to the branch; with the value `proposal`, gitlatch opens one pull request",
			yamldoc.Into(&r.Mode, yamldoc.Word(Direct, Propose))),
		yamldoc.Optional("branch", "branch that contains the policy and the checkpoint files",
			yamldoc.Into(&r.Branch, yamldoc.Text(branchShape, "the name of a branch"), wrongBranch)),
		yamldoc.Optional("policyFile", "path of the policy file on the branch, relative to the root of the repository", yamldoc.Into(&r.PolicyFile, anyText, wrongPolicyFile)),
		yamldoc.Optional("auth", "credentials for the git server in `repository.url`", authFields(&r.Auth)),
		yamldoc.Optional("caFile", "path of a PEM file with trusted CA certificates; gitlatch uses these certificates instead of the CA certificates of the system", file(&r.CAFile)),
		yamldoc.Optional("maxBytes", "maximum size of a download in bytes, for git servers that do not support partial clone; the default is 256 MiB", whole(&r.MaxBytes)),
	).With(
		yamldoc.OneOf("url", "codecommit", "github"),
		proposable(r),
		yamldoc.Needs("gitlabURL", "gitlatch pushes to this URL", "url"),
		yamldoc.Needs("gitlabURL", "gitlatch opens merge requests with the access token", "auth"),
		yamldoc.Rule{Check: r.onGitLab},
		yamldoc.Needs("auth", "codecommit uses the AWS credentials, and github has its own field for the secret", "url"),
		yamldoc.Needs("caFile", "codecommit uses the AWS SDK, which reads AWS_CA_BUNDLE", "url", "github"),
		sameWay(&r.URL),
		yamldoc.Needs("maxBytes", "gitlatch reads single files from CodeCommit", "url", "github"),
	)
}

const branchShape = `^[^\s~^:?*\[\\]+$`

// address binds the URL of a repository, or the path of a local one.
func address(into *string) yamldoc.Scalar {
	s := yamldoc.Into(into, anyText, repo.CheckURL)
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

// onGitLab reports a URL that is not the https URL of a repository on the GitLab server.
func (r *Repository) onGitLab(of *yamldoc.Reader, path string) {
	server := strings.TrimSuffix(r.GitLabURL, "/") + "/"
	if r.GitLabURL != "" && r.URL != "" && !strings.HasPrefix(r.URL, server) {
		of.Report(yamldoc.Child(path, "url"), "must start with %s, the URL in gitlabURL. For merge requests, use the https URL of the repository", server)
	}
}

// proposable is the rule that mode proposal requires a host with pull requests.
func proposable(repo *Repository) yamldoc.Rule {
	return yamldoc.Rule{
		Check: func(r *yamldoc.Reader, path string) {
			if repo.Mode == Propose && len(r.Standing(path, hosted)) == 0 {
				r.Report(yamldoc.Child(path, "mode"), "%s requires %s, because a plain git server has no pull requests", Propose, strings.Join(hosted, " or "))
			}
		},
		Schema: schema{"anyOf": append([]any{schema{"not": schema{
			"required": []string{"mode"}, "properties": schema{"mode": schema{"const": Propose}},
		}}}, yamldoc.Each(hosted)...)},
	}
}

// hosted are the fields of repositories with pull requests.
var hosted = []string{"codecommit", "github", "gitlabURL"}
