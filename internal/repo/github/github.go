package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// Options are the address and the credentials of a repository.
type Options struct {
	Repository string // "owner/name"
	// APIURL is the REST API of a GitHub Enterprise: https://HOST/api/v3, or
	// https://api.SUBDOMAIN.ghe.com. "" is https://api.github.com.
	APIURL string
	// Secret reads the credentials before the first request. If it fails, the next
	// request calls it again.
	Secret func(context.Context) (Credentials, error)

	// ReadOnly limits an App's token to read access.
	ReadOnly bool

	// Login replaces Secret. Repositories that share a Login share its token. Nil makes a
	// separate Login.
	Login *Login

	// Git has the options of package gitwire, with the base and the author. Open sets the
	// URL and the credentials.
	Git gitwire.Options
}

// Open checks the options and returns the repository and its pull requests. It sends no
// request. The error lists all problems of the options.
func Open(o Options) (*gitwire.Repository, *Proposals, error) {
	owner, name, ok := strings.Cut(o.Repository, "/")
	var problems []error
	if !ok || owner == "" || name == "" || strings.ContainsAny(name, "/ ") || strings.HasSuffix(name, ".git") {
		problems = append(problems, fmt.Errorf("repository %q: want owner/name", o.Repository))
	}
	at, err := addressOf(o.APIURL)
	problems = append(problems, err)
	if err := errors.Join(problems...); err != nil {
		return nil, nil, err
	}
	login := o.Login
	if login == nil {
		login = newLogin(o, at.api)
	}
	transport := o.transport()
	o.Git.URL = at.web + "/" + o.Repository + ".git"
	o.Git.Transport = &shown{login, transport, func(r *http.Request, token string) { r.SetBasicAuth("x-access-token", token) }}
	git, err := gitwire.Open(o.Git)
	if err != nil {
		return nil, nil, err
	}
	base := at.api + "/"
	client, err := api.NewClient(api.WithURLs(&base, nil), api.WithHTTPClient(&http.Client{
		Transport:     &shown{login, transport, func(r *http.Request, token string) { r.Header.Set("Authorization", "Bearer "+token) }},
		CheckRedirect: wire.Stay,
		Timeout:       wire.AnswerWithin,
	}))
	if err != nil {
		return nil, nil, err
	}
	return git, &Proposals{owner: owner, name: name, base: o.Git.Branch, api: client, git: git}, nil
}

// transport returns the transport for requests with credentials.
func (o Options) transport() http.RoundTripper {
	if o.Git.Transport == nil {
		return redact.Transport(wire.Patient())
	}
	return redact.Transport(o.Git.Transport)
}

// NewLogin returns a Login for several branches of a repository to share. It sends no
// request.
func NewLogin(o Options) (*Login, error) {
	at, err := addressOf(o.APIURL)
	if err != nil {
		return nil, err
	}
	return newLogin(o, at.api), nil
}

// An address has the URLs of a GitHub: the REST API and the web.
type address struct{ api, web string }

func addressOf(apiURL string) (address, error) {
	if apiURL == "" {
		return address{"https://api.github.com", "https://github.com"}, nil
	}
	u, err := url.Parse(apiURL)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return address{}, errors.New("api url: want https://HOST/api/v3")
	}
	if u.Scheme != "https" && !(u.Scheme == "http" && repo.Loopback(u.Hostname())) {
		return address{}, fmt.Errorf("api url of %s: want https", u.Host)
	}
	path := strings.TrimSuffix(u.Path, "/")
	host, dedicated := strings.CutPrefix(u.Host, "api.")
	switch {
	case path == "/api/v3":
		return address{u.Scheme + "://" + u.Host + path, u.Scheme + "://" + u.Host}, nil
	case path == "" && dedicated:
		return address{u.Scheme + "://" + u.Host, u.Scheme + "://" + host}, nil
	}
	return address{}, fmt.Errorf("api url of %s: want https://HOST/api/v3", u.Host)
}
