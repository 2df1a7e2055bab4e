package gitwire

import (
	"errors"
	"fmt"
	"net"
	"strings"
)

// An address is a repository over SSH.
type address struct {
	user, host, port string
	path             string // as the server takes it
	text             string // as it was written
}

// parseSSH reads ssh://git@host:22/path. The path of git@host:path is relative to
// where the server puts the user, that of a URL begins at its root.
func parseSSH(text string) (address, bool, error) {
	if rest, ok := strings.CutPrefix(text, "ssh://"); ok {
		login, path, _ := strings.Cut(rest, "/")
		user, place := splitLogin(login)
		host, port, err := net.SplitHostPort(place)
		if err != nil {
			host, port = strings.Trim(place, "[]"), "22"
		}
		at := address{user, host, port, "/" + path, text}
		if strings.HasPrefix(path, "~") {
			at.path = path
		}
		return at, true, at.problem()
	}
	login, path, colon := strings.Cut(text, ":")
	if !colon || strings.Contains(text, "://") || strings.ContainsAny(login, `/\`) {
		return address{}, false, nil
	}
	user, host := splitLogin(login)
	at := address{user, host, "22", path, text}
	return at, true, at.problem()
}

// splitLogin splits user@host; the user is "" where none is named.
func splitLogin(login string) (user, host string) {
	if at := strings.LastIndex(login, "@"); at >= 0 {
		return login[:at], login[at+1:]
	}
	return "", login
}

// problem says what is wrong with an address. One that may hold a password is
// not repeated.
func (a address) problem() error {
	switch {
	case strings.Contains(a.user, ":"), strings.Contains(a.user, "@"):
		return errors.New("repository: a password does not belong in the url, and SSH logs in by a deploy key")
	case a.user == "":
		return fmt.Errorf("repository at host %q: the url names no user, such as git@", a.host)
	case a.host == "" || strings.HasPrefix(a.host, "-"):
		return errors.New("repository: the url names no host")
	case strings.Trim(a.path, "/") == "" || strings.HasPrefix(a.path, "-") || strings.ContainsAny(a.path, "?#\x00\n"):
		return fmt.Errorf("repository at host %q: the url must end with the path of a repository", a.host)
	}
	return nil
}

func (a address) dial() string { return net.JoinHostPort(a.host, a.port) }

func (a address) String() string { return a.text }

// quoted is the path for the server's shell.
func (a address) quoted() string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(a.path) + "'"
}
