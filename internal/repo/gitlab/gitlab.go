package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// Options are the address and the credentials of a project.
type Options struct {
	// URL is the URL of the server, such as https://gitlab.com. It may have a path.
	URL string
	// Repository is the https URL of the repository, which starts with URL.
	Repository string
	// Branch is the base of merge requests.
	Branch string
	// Token reads the access token before each request.
	Token func(context.Context) (string, error)
	// Transport replaces the HTTP transport. Nil is the standard transport.
	Transport http.RoundTripper
	// Git is the same repository. It reads the heads of branches.
	Git *gitwire.Repository
}

// Open checks the options and returns the merge requests of a project. It sends no
// request.
func Open(o Options) (*Proposals, error) {
	server := strings.TrimSuffix(o.URL, "/")
	path, within := strings.CutPrefix(o.Repository, server+"/")
	project := strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	switch u, err := url.Parse(server); {
	case err != nil || u.Host == "" || u.User != nil:
		return nil, errors.New("server: want the URL of a GitLab server, such as https://gitlab.com")
	case u.Scheme != "https" && !(u.Scheme == "http" && repo.Loopback(u.Hostname())):
		return nil, fmt.Errorf("server %s: want https", u.Host)
	case !within || !strings.Contains(project, "/"):
		return nil, fmt.Errorf("url: want the https URL of a project on the GitLab server, such as %s/platform/fleet.git", server)
	}
	transport := o.Transport
	if transport == nil {
		transport = wire.Patient()
	}
	return &Proposals{
		project: project,
		base:    o.Branch,
		api:     server + "/api/v4/projects/" + url.PathEscape(project),
		token:   o.Token,
		client:  &http.Client{Transport: redact.Transport(transport), CheckRedirect: wire.Stay, Timeout: wire.AnswerWithin},
		git:     o.Git,
	}, nil
}
