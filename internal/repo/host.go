package repo

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
)

// A HostKind is the kind of a git host.
type HostKind string

const (
	Git        HostKind = "git" // any git server, or a local repository
	CodeCommit HostKind = "codecommit"
	GitHub     HostKind = "github"
	GitLab     HostKind = "gitlab"
)

// A Host is the location of a repository.
type Host struct {
	Kind   HostKind
	URL    string // of the repository, or the path of a local one
	Name   string // CodeCommit: name of the repository. GitHub: owner/name. Otherwise ""
	Region string // of CodeCommit; otherwise ""
	Server string // of GitHub and GitLab, such as https://github.com; otherwise ""
}

// Shapes of addresses, as regular expressions.
const (
	// CodeCommitShape is the pattern of a repository in CodeCommit.
	CodeCommitShape = `^https://git-codecommit\.`
	// HostedShape is the pattern of a repository on GitHub or GitLab.
	HostedShape = `^(github::|gitlab::|https://(github\.com|gitlab\.com|[^/]+\.ghe\.com)/)`
)

var codecommit = regexp.MustCompile(CodeCommitShape + `([-a-z0-9]+)\.amazonaws\.com(?:\.cn)?/v1/repos/([-_.0-9A-Za-z]{1,100})$`)

// fips is the start of the URLs of CodeCommit's FIPS endpoints, which only git uses.
const fips = "https://git-codecommit-fips."

// ParseHost parses the address of a repository: the https or ssh URL of the repository, or
// the path of a local one. The kind follows from the host of an https URL. The prefix
// github:: or gitlab:: is for a server of your own. The error does not show the address,
// which may contain a password.
func ParseHost(address string) (Host, error) {
	kind, rest := kindOf(address)
	if err := CheckURL(rest); err != nil {
		return Host{}, err
	}
	found := Host{Kind: kind, URL: rest}
	if kind == Git {
		return found, nil
	}
	if kind == CodeCommit {
		at := codecommit.FindStringSubmatch(rest)
		if strings.HasPrefix(rest, fips) {
			return Host{}, errors.New("must be the URL without -fips. The AWS SDK uses the endpoint of FIPS if AWS_USE_FIPS_ENDPOINT is true")
		}
		if at == nil {
			return Host{}, errors.New("must be the https URL of a repository in CodeCommit, such as https://git-codecommit.eu-west-1.amazonaws.com/v1/repos/fleet")
		}
		found.Region, found.Name = at[1], at[2]
		return found, nil
	}
	if codecommit.MatchString(rest) {
		return Host{}, errors.New("must be a CodeCommit URL without " + string(kind) + "::")
	}
	u, err := url.Parse(rest)
	if err != nil || OverSSH(rest) || u.Scheme != "https" && u.Scheme != "http" {
		return Host{}, errors.New("must be the https URL of a repository after " + string(kind) + "::")
	}
	found.Server = u.Scheme + "://" + u.Host
	path := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	switch parts := strings.Count(path, "/"); {
	case parts == 0, kind == GitHub && parts > 1:
		return Host{}, errors.New("must be the URL of a repository, such as " + found.Server + "/example/fleet")
	case kind == GitHub:
		found.Name = path
	}
	return found, nil
}

// kindOf returns the kind of an address, and the address without the prefix of its kind.
func kindOf(address string) (HostKind, string) {
	for _, kind := range []HostKind{GitHub, GitLab} {
		if rest, found := strings.CutPrefix(address, string(kind)+"::"); found {
			return kind, rest
		}
	}
	switch {
	case regexp.MustCompile(CodeCommitShape).MatchString(address), strings.HasPrefix(address, fips):
		return CodeCommit, address
	case strings.HasPrefix(address, "https://gitlab.com/"):
		return GitLab, address
	case regexp.MustCompile(HostedShape).MatchString(address):
		return GitHub, address
	}
	return Git, address
}
