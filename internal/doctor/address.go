package doctor

import (
	"net/url"
	"regexp"
	"strings"
)

// address is that of an API server, so that two of the same server are equal.
func address(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return server
	}
	return strings.ToLower(u.Scheme+"://"+strings.TrimSuffix(u.Host, ":443")) + strings.TrimRight(u.Path, "/")
}

// shapes are the ways to write where a repository is, each with its host and path.
// A port of HTTP is part of the host, unless it is the default one; a port of SSH
// says nothing, since a server has another one for each way.
var shapes = []*regexp.Regexp{
	regexp.MustCompile(`^(?i:http)://(?:[^/]*@)?([^/]+?)(?::80)?(?:/+(.*))?$`),
	regexp.MustCompile(`^(?i:https)://(?:[^/]*@)?([^/]+?)(?::443)?(?:/+(.*))?$`),
	regexp.MustCompile(`^[A-Za-z][A-Za-z+]*://(?:[^/]*@)?([^/:]+)(?::\d*)?/*(.*)$`),
	regexp.MustCompile(`^(?:[^/@]*@)?([^/@:]+):(.*)$`), // as scp has it
}

// second are names that a host has over SSH alone, and what it is called over
// HTTPS.
var second = []struct {
	over *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`^ssh\.github\.com/`), "github.com/"},
	{regexp.MustCompile(`^ssh\.dev\.azure\.com/v3/([^/]+)/([^/]+)/`), "dev.azure.com/$1/$2/_git/"},
}

// place is the host and the path of a repository, so that two of the same one are
// equal whichever way it is reached. It holds no user, password or default port.
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
