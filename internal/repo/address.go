package repo

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// SSHShape is the pattern of a repository address over SSH: ssh://git@host/path or
// git@host:path.
const SSHShape = `^(ssh://|[^/\\:]*@[^/\\]*:)`

// OverSSH reports whether a repository is reached over SSH.
func OverSSH(address string) bool { return regexp.MustCompile(SSHShape).MatchString(address) }

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// CheckURL returns an error unless s is the URL of a repository over HTTP or SSH, or the
// path of a local repository. The error does not show the URL, which may contain a
// password.
func CheckURL(s string) error {
	scheme, _, found := strings.Cut(s, "://")
	host, _, colon := strings.Cut(s, ":")
	switch {
	case s == "" || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("must be the https or ssh URL of a repository, or the path of a local one")
	case OverSSH(s):
		return checkSSH(s)
	case !found && colon && !strings.Contains(host, "/"):
		return errors.New("must contain the user, such as git@host:path, or be a URL or a local path")
	case scheme == "git":
		return errors.New("must be an https or ssh URL or a local path. git:// does not authenticate the server")
	case !found && strings.HasPrefix(s, "~"):
		return errors.New("must be a path without ~. Write the full path")
	case !found:
		return nil
	case scheme != "https" && scheme != "http" && scheme != "file":
		return fmt.Errorf("must be an https or ssh URL or a local path, got scheme %s", strconv.Quote(scheme))
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || scheme != "file" && u.Host == "" || u.Path == "":
		return errors.New("must be a complete URL, such as https://git.example.com/team/site.git")
	case u.User != nil:
		return errors.New("must not contain a user or a password. Set them in the credential of the repository")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("must not have a query or a fragment")
	case scheme == "http" && !Loopback(u.Hostname()):
		return errors.New("must not be http, which sends the token and the content unencrypted. Use https")
	}
	return nil
}

func checkSSH(s string) error {
	rest, isURL := strings.CutPrefix(s, "ssh://")
	end := ":"
	if isURL {
		end = "/"
	}
	login, path, _ := strings.Cut(rest, end)
	at := strings.LastIndex(login, "@")
	user, host := login[:max(0, at)], login[at+1:]
	switch {
	case strings.ContainsAny(user, ":@"):
		return errors.New("must not contain a password. Over SSH, gitlatch logs in with the key in the credential of the repository")
	case user == "":
		return errors.New("must contain the user, such as ssh://git@git.example.com/team/site.git or git@git.example.com:team/site.git")
	case host == "", path == "", strings.HasSuffix(path, end), strings.HasPrefix(host, "-"), strings.Contains(end+path, end+"-"):
		return errors.New("must contain the host and the path of a repository, such as ssh://git@git.example.com/team/site.git")
	case strings.ContainsAny(s, "?#"):
		return errors.New("must not have a query or a fragment")
	}
	return nil
}
