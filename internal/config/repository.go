package config

import (
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"strings"
)

// Repository is the git repository and branch that a site writes. One of URL,
// CodeCommit and GitHub is set.
type Repository struct {
	URL        string // https, file, http to this machine itself, or a local path
	CodeCommit CodeCommit
	GitHub     GitHub
	Mode       Mode
	Branch     string
	PolicyFile string // from the root of the repository
	Auth       Auth   // to the URL
	CAFile     string // PEM, trusted instead of the system's; "" is the system's
	MaxBytes   int    // that one read of the repository may take; 0 is the adapter's own limit
}

// A Mode is how crossings reach the branch.
type Mode string

const (
	// Direct commits them to the branch.
	Direct Mode = "direct"
	// Propose puts them into the site's pull request, for people to merge.
	Propose Mode = "proposal"
)

// Auth is how gitlatch shows itself to the git server. The zero value does not.
type Auth struct {
	Token Secret // an access token, or the password of the user
	// The user name that goes with the token, itself or the name of an
	// environment variable; without either, what the server takes with tokens.
	Username, UsernameEnv string
}

// A Secret is where a secret is found: never the secret. The zero value is
// nowhere.
type Secret struct {
	Env  string // an environment variable
	File string // a file; white space at its end does not count
}

// Read returns the user name and the token, "" for what is not configured.
func (a Auth) Read(getenv func(string) string) (username, token string, err error) {
	username = a.Username
	if a.UsernameEnv != "" {
		if username = getenv(a.UsernameEnv); username == "" {
			return "", "", fmt.Errorf("read repository.auth.usernameEnv: environment variable %s is not set", a.UsernameEnv)
		}
	}
	switch {
	case a.Token.Env != "":
		if token = strings.TrimSpace(getenv(a.Token.Env)); token == "" {
			return "", "", fmt.Errorf("read repository.auth.tokenEnv: environment variable %s is not set", a.Token.Env)
		}
	case a.Token.File != "":
		content, err := os.ReadFile(a.Token.File)
		if err != nil {
			return "", "", fmt.Errorf("read repository.auth.tokenFile: %w", err)
		}
		if token = strings.TrimSpace(string(content)); token == "" {
			return "", "", fmt.Errorf("read repository.auth.tokenFile: %s is empty", a.Token.File)
		}
	}
	return username, token, nil
}

func repositoryFields(repo *Repository) object {
	return object{
		fields: []field{
			{"url", "the repository's https URL, or the path of a local one", false, text{into: &repo.URL, check: wrongURL}},
			{"codecommit", "a repository of AWS CodeCommit", false, codecommitFields(&repo.CodeCommit)},
			{"github", "a repository of GitHub, or of a GitHub Enterprise server", false, githubFields(&repo.GitHub)},
			{"mode", "direct commits crossings to the branch, proposal puts them into one pull request", false,
				word[Mode]{&repo.Mode, []Mode{Direct, Propose}}},
			{"branch", "the branch that is read and written", false,
				text{into: &repo.Branch, pattern: `^[^\s~^:?*\[\\]+$`, must: "the name of a branch", check: wrongBranch}},
			{"policyFile", "the policy's file on the branch, from the root of the repository", false, text{into: &repo.PolicyFile, check: wrongPolicyFile}},
			{"auth", "how to log in to the git server of the URL", false, authFields(&repo.Auth)},
			{"caFile", "PEM certificates that are trusted instead of the system's", false, file{&repo.CAFile}},
			{"maxBytes", "the bytes that one read of the repository may take", false, whole{&repo.MaxBytes, 1}},
		},
		rules: []rule{
			choice{[]string{"url", "codecommit", "github"}, true},
			companion{name: "mode", value: (*string)(&repo.Mode), only: string(Propose), of: []string{"codecommit", "github"}, reason: "a plain git server has no pull requests"},
			companion{name: "auth", of: []string{"url"}, reason: "codecommit takes the AWS credentials, and github names its secret itself"},
			companion{name: "caFile", of: []string{"url", "github"}, reason: "codecommit is reached through the AWS SDK, which takes AWS_CA_BUNDLE"},
			companion{name: "maxBytes", of: []string{"url", "github"}, reason: "codecommit is asked for single files"},
		},
	}
}

func authFields(auth *Auth) object {
	const literal = "must not stand in this file: put the secret into an environment variable and its name into tokenEnv, or into a file and its path into tokenFile"
	return object{
		fields: []field{
			{"tokenEnv", "the environment variable that holds the access token or password", false, variable{&auth.Token.Env}},
			{"tokenFile", "the file that holds the access token or password", false, file{&auth.Token.File}},
			{"username", "the user name that goes with it, where the server wants a certain one", false, text{into: &auth.Username}},
			{"usernameEnv", "the environment variable that holds the user name", false, variable{&auth.UsernameEnv}},
			{"token", "", false, refused(literal)},
			{"password", "", false, refused(literal)},
		},
		rules: []rule{
			choice{[]string{"tokenEnv", "tokenFile"}, true},
			choice{[]string{"username", "usernameEnv"}, false},
		},
	}
}

// wrongURL says what is wrong with a repository's URL, which may hold a
// password and so is not shown.
func wrongURL(s string) string {
	scheme, _, found := strings.Cut(s, "://")
	host, _, colon := strings.Cut(s, ":")
	switch {
	case s == "":
		return "must be the https URL of a repository, or the path of a local one"
	case !found && colon && !strings.Contains(host, "/"), found && (scheme == "ssh" || scheme == "git"):
		return "must be an https URL or a local path: SSH and git:// are not spoken"
	case !found && strings.HasPrefix(s, "~"):
		return "must be a path without ~: write it out"
	case !found:
		return ""
	case scheme != "https" && scheme != "http" && scheme != "file":
		return fmt.Sprintf("must be an https URL or a local path, got scheme %s", quote(scheme))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || scheme != "file" && u.Host == "" || u.Path == "":
		return "must be a whole URL, such as https://git.example.com/team/site.git"
	case u.User != nil:
		return "must hold no user or password: name them in repository.auth"
	case u.RawQuery != "" || u.Fragment != "":
		return "must hold no query and no fragment"
	case scheme == "http" && !loopback(u.Hostname()):
		return "must not be http, which shows the token and the content on the way: use https"
	}
	return ""
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func wrongBranch(s string) string {
	if name, found := strings.CutPrefix(s, "refs/heads/"); found {
		return fmt.Sprintf("must be the branch's name alone: write %s", name)
	}
	for _, bad := range []string{"..", "//", "/.", "@{", ".lock/"} {
		if strings.Contains(s, bad) {
			return fmt.Sprintf("must be the name of a branch, which has no %q in it, got %s", bad, quote(s))
		}
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, ".") || s == "@" ||
		strings.HasSuffix(s, "/") || strings.HasSuffix(s, ".") || strings.HasSuffix(s, ".lock") {
		return fmt.Sprintf("must be the name of a branch, got %s", quote(s))
	}
	return ""
}

func wrongPolicyFile(s string) string {
	switch {
	case !fs.ValidPath(s) || s == ".":
		return fmt.Sprintf("must be a path from the root of the repository, such as gitlatch.yaml, got %s", quote(s))
	case strings.HasPrefix(s, "checkpoints/"):
		return "must not be below checkpoints/, where gitlatch writes"
	}
	return ""
}
