package wire

import (
	"net"
	"strings"
)

// An Address is the address of a repository over SSH.
type Address struct {
	user, host, port string
	path             string // in the form for the server
	text             string // as configured
}

// ParseSSH parses an address that repo.CheckURL accepts. The path of git@host:path is
// relative to the user's folder on the server. The path of ssh://git@host:22/path starts
// at the root of the server.
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

// String returns the address as configured.
func (a Address) String() string { return a.text }

// quoted returns the path, quoted for the server's shell.
func (a Address) quoted() string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(a.path) + "'"
}
