package config

import (
	"cmp"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Repository is the git repository and branch that a site writes. One of URL,
// CodeCommit and GitHub is set.
type Repository struct {
	URL        string // https, ssh, file, http to this machine itself, user@host:path or a local path
	CodeCommit CodeCommit
	GitHub     GitHub
	Mode       Mode
	Branch     string
	PolicyFile string // from the root of the repository
	// InPlace are the files, likewise, in which counts that are marked follow the
	// record; nil is none.
	InPlace  []string
	Auth     Auth   // to the URL
	CAFile   string // PEM, trusted instead of the system's; "" is the system's
	MaxBytes int    // that one read of the repository may take; 0 is the adapter's own limit
}

// Address is the URL by which others than this machine reach the repository, as
// https, ssh or user@host:path; "" where the configuration does not say.
func (r Repository) Address() string {
	switch {
	case r.GitHub.Repository != "":
		server := strings.TrimSuffix(strings.TrimSuffix(r.GitHub.APIURL, "/"), "/api/v3")
		return cmp.Or(server, "https://github.com") + "/" + r.GitHub.Repository + ".git"
	case r.CodeCommit.Name != "" && r.CodeCommit.Region != "":
		return "https://git-codecommit." + r.CodeCommit.Region + ".amazonaws.com/v1/repos/" + r.CodeCommit.Name
	case strings.HasPrefix(r.URL, "https://"), overSSH(r.URL):
		return r.URL
	}
	return ""
}

// A Mode is how crossings reach the branch.
type Mode string

const (
	// Direct commits them to the branch.
	Direct Mode = "direct"
	// Propose puts them into the site's pull request, for people to merge.
	Propose Mode = "proposal"
)

func repositoryFields(repo *Repository) object {
	return object{
		fields: []field{
			{"url", "the repository's https or ssh URL, or the path of a local one", false, text{into: &repo.URL, check: wrongURL}},
			{"codecommit", "a repository of AWS CodeCommit", false, codecommitFields(&repo.CodeCommit)},
			{"github", "a repository of GitHub, or of a GitHub Enterprise server", false, githubFields(&repo.GitHub)},
			{"mode", "direct commits crossings to the branch, proposal puts them into one pull request", false,
				word[Mode]{&repo.Mode, []Mode{Direct, Propose}}},
			{"branch", "the branch that is read and written", false,
				text{into: &repo.Branch, pattern: branchShape, must: "the name of a branch", check: wrongBranch}},
			{"policyFile", "the policy's file on the branch, from the root of the repository", false, text{into: &repo.PolicyFile, check: wrongPolicyFile}},
			{"inPlace", "files on the branch, from the root of the repository, in which counts marked # {\"$gitlatch\": \"namespace/kind/name\"} follow the checkpoints; each belongs to one site", false,
				texts[string]{&repo.InPlace, inPlaceFile, "leave the field out to edit no file"}},
			{"auth", "how to log in to the git server of the URL", false, authFields(&repo.Auth)},
			{"caFile", "PEM certificates that are trusted instead of the system's", false, file{&repo.CAFile}},
			{"maxBytes", "the bytes that one read of the repository may take", false, whole{&repo.MaxBytes, 1}},
		},
		rules: []rule{
			choice{[]string{"url", "codecommit", "github"}, true},
			companion{name: "mode", value: (*string)(&repo.Mode), only: string(Propose), of: []string{"codecommit", "github"}, reason: "a plain git server has no pull requests"},
			companion{name: "auth", of: []string{"url"}, reason: "codecommit takes the AWS credentials, and github names its secret itself"},
			companion{name: "caFile", of: []string{"url", "github"}, reason: "codecommit is reached through the AWS SDK, which takes AWS_CA_BUNDLE"},
			sameWay{&repo.URL},
			apart{repo},
			companion{name: "maxBytes", of: []string{"url", "github"}, reason: "codecommit is asked for single files"},
		},
	}
}

const branchShape = `^[^\s~^:?*\[\\]+$`

// wrongURL says what is wrong with a repository's URL, which may hold a
// password and so is not shown.
func wrongURL(s string) string {
	scheme, _, found := strings.Cut(s, "://")
	host, _, colon := strings.Cut(s, ":")
	switch {
	case s == "":
		return "must be the https or ssh URL of a repository, or the path of a local one"
	case overSSH(s):
		return wrongSSH(s)
	case !found && colon && !strings.Contains(host, "/"):
		return "must name the user, as git@host:path, or be a URL or a local path"
	case scheme == "git":
		return "must be an https or ssh URL or a local path: git:// is not spoken, it proves nothing of the host"
	case !found && strings.HasPrefix(s, "~"):
		return "must be a path without ~: write it out"
	case !found:
		return ""
	case scheme != "https" && scheme != "http" && scheme != "file":
		return fmt.Sprintf("must be an https or ssh URL or a local path, got scheme %s", quote(scheme))
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

// overSSH reports whether a repository is reached over SSH: ssh://git@host/path
// or git@host:path.
func overSSH(s string) bool { return regexp.MustCompile(sshShape).MatchString(s) }

const sshShape = `^(ssh://|[^/\\:]*@[^/\\]*:)`

func wrongSSH(s string) string {
	rest, isURL := strings.CutPrefix(s, "ssh://")
	end := ":"
	if isURL {
		end = "/"
	}
	at := strings.LastIndex(rest[:max(0, strings.Index(rest, end))], "@")
	switch user, place := rest[:max(0, at)], rest[at+1:]; {
	case strings.ContainsAny(user, ":@"):
		return "must hold no password: over SSH the key of repository.auth logs in"
	case user == "":
		return "must name the user, as in ssh://git@git.example.com/team/site.git or git@git.example.com:team/site.git"
	case strings.HasPrefix(place, end), strings.HasSuffix(place, end), strings.HasPrefix(place, "-"), strings.Contains(place, end+"-"):
		return "must name the host and the path of a repository, as in ssh://git@git.example.com/team/site.git"
	case strings.ContainsAny(s, "?#"):
		return "must hold no query and no fragment"
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

func inPlaceFile(into *string) value { return text{into: into, check: wrongInPlace} }

func wrongInPlace(s string) string {
	inGit := func(name string) bool { return strings.EqualFold(name, ".git") }
	switch {
	case !fs.ValidPath(s) || s == "." || slices.ContainsFunc(strings.Split(s, "/"), inGit) || strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Sprintf("must be the path of a file from the root of the repository, such as apps/shop/values.yaml, got %s", quote(s))
	case strings.ContainsAny(s, "*?"):
		return fmt.Sprintf("must name one file, without a pattern, got %s", quote(s))
	case s == "checkpoints" || strings.HasPrefix(s, "checkpoints/"):
		return "must not be below checkpoints/, which gitlatch writes as a whole"
	}
	return ""
}

// apart is the rule that each file edited in place is named once, and is not the
// policy.
type apart struct{ repo *Repository }

func (a apart) check(r *reader, path string) {
	first := map[string]bool{a.repo.PolicyFile: false}
	for _, file := range a.repo.InPlace {
		switch before, known := first[file]; {
		case known && before:
			r.report(child(path, "inPlace"), "must name each file once, got %s again", quote(file))
		case known:
			r.report(child(path, "inPlace"), "must not name the policy's file, %s", quote(file))
		}
		first[file] = true
	}
}

func (apart) schema() schema {
	return schema{"properties": schema{"inPlace": schema{"uniqueItems": true}}}
}
