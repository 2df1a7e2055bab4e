package doctor

import (
	"net/url"
	"regexp"
	"strings"
)

// address normalizes the address of an API server. Two addresses of the same server are
// equal after it.
func address(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return server
	}
	return strings.ToLower(u.Scheme+"://"+strings.TrimSuffix(u.Host, ":443")) + strings.TrimRight(u.Path, "/")
}

// shapes are the forms of a repository's URL. Each captures a host and a path. An HTTP
// port is part of the host unless it is the default port. An SSH port is ignored, because
// a server can listen on different ports for HTTP and SSH.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`^(?i:http)://(?:[^/]*@)?([^/]+?)(?::80)?(?:/+(.*))?$`),
	regexp.MustCompile(`^(?i:https)://(?:[^/]*@)?([^/]+?)(?::443)?(?:/+(.*))?$`),
	regexp.MustCompile(`^[A-Za-z][A-Za-z+]*://(?:[^/]*@)?([^/:]+)(?::\d*)?/*(.*)$`),
	regexp.MustCompile(`^(?:[^/@]*@)?([^/@:]+):(.*)$`), // scp syntax
}

// second maps the hosts that a provider uses only for SSH to its hosts for HTTPS.
var second = []struct {
	over *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^ssh\.github\.com/`), "github.com/"},
	{regexp.MustCompile(`^ssh\.dev\.azure\.com/v3/([^/]+)/([^/]+)/`), "dev.azure.com/$1/$2/_git/"},
}

// place returns the host and path of a repository, without user, password or default
// port. Two URLs of the same repository return the same place, for any protocol.
func place(repository string) string {
	for _, shape := range shapes {
		part := shape.FindStringSubmatch(repository)
		if part == nil {
			continue
		}
		at := strings.ToLower(part[1]) + "/" + strings.TrimSuffix(strings.Trim(part[2], "/"), ".git")
		for _, s := range second {
			at = s.over.ReplaceAllString(at, s.as)
		}
		return at
	}
	return repository[strings.LastIndex(repository, "@")+1:]
}
