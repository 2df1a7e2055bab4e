package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	api "github.com/google/go-github/v88/github"

	"github.com/gitlatch/gitlatch/internal/redact"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
)

// Options say which repository to open, and as whom.
type Options struct {
	Repository string // "owner/name"
	// APIURL is the REST API of a GitHub Enterprise: https://HOST/api/v3, or
	// https://api.SUBDOMAIN.ghe.com. "" is GitHub's own.
	APIURL string
	// Secret reads the credentials with the first request. It is asked again where
	// it fails.
	Secret func(context.Context) (Credentials, error)

	// ReadOnly asks for a token of an App that may read, and nothing else.
	ReadOnly bool

	// Login is used in place of Secret: repositories that are opened with one share
	// its token. Nil is a login of its own.
	Login *Login

	// Git is how git is spoken, with the base and the author. Its URL and its
	// credentials come from the fields above.
	Git gitwire.Options
}

// Open checks the options and returns the repository, and its pull requests; it
// sends nothing yet. All that is wrong with the options is in one error.
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

// transport is what requests with credentials in them go through.
func (o Options) transport() http.RoundTripper {
	if o.Git.Transport == nil {
		return redact.Transport(wire.Patient())
	}
	return redact.Transport(o.Git.Transport)
}

// NewLogin returns the login that Open would make by the options, which sends
// nothing yet, for several branches of the repository to share.
func NewLogin(o Options) (*Login, error) {
	at, err := addressOf(o.APIURL)
	if err != nil {
		return nil, err
	}
	return newLogin(o, at.api), nil
}

// An address is where a GitHub is.
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
