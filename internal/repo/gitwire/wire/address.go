package wire

import (
	"net"
	"strings"
)

// An Address is a repository over SSH.
type Address struct {
	user, host, port string
	path             string // as the server takes it
	text             string // as it was written
}

// ParseSSH reads ssh://git@host:22/path, which repo.CheckURL accepts. The path of
// git@host:path is relative to where the server puts the user, that of a URL begins
// at its root.
func ParseSSH(text string) Address {
	if rest, ok := strings.CutPrefix(text, "ssh://"); ok {
		login, path, _ := strings.Cut(rest, "/")
		user, place := splitLogin(login)
		host, port, err := net.SplitHostPort(place)
		if err != nil {
			host, port = strings.Trim(place, "[]"), "22"
		}
		at := Address{user, host, port, "/" + path, text}
		if strings.HasPrefix(path, "~") {
			at.path = path
		}
		return at
	}
	login, path, _ := strings.Cut(text, ":")
	user, host := splitLogin(login)
	return Address{user, host, "22", path, text}
}

// splitLogin splits user@host.
func splitLogin(login string) (user, host string) {
	at := strings.LastIndex(login, "@")
	return login[:max(0, at)], login[at+1:]
}

func (a Address) dial() string { return net.JoinHostPort(a.host, a.port) }

// String returns the address as it was written.
func (a Address) String() string { return a.text }

// quoted is the path for the server's shell.
func (a Address) quoted() string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(a.path) + "'"
}
