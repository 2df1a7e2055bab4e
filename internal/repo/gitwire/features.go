package gitwire

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// features are what a server can do. They compare with ==.
type features struct {
	v2     bool
	filter bool
	// v0 is the capabilities of protocol version 0, with spaces around each; ""
	// where version 2 is spoken.
	v0 string
}

// best is what is assumed before a server is asked.
var best = features{v2: true, filter: true}

// An advertisement is a server's answer when asked what it can do.
type advertisement struct {
	features
	tip plumbing.Hash // of the branch, in version 0 only; zero where it is not there
}

var errSHA256 = errors.New("its objects have SHA-256 ids, only SHA-1 is supported")

// advertised asks the server.
func (h *smartHTTP) advertised(ctx context.Context) (advertisement, error) {
	answer, err := h.get(ctx, uploadPack)
	if err != nil {
		return advertisement{}, err
	}
	defer answer.Close()
	in := &packets{r: answer}
	p, err := in.next()
	if err != nil {
		return advertisement{}, err
	}
	if strings.HasPrefix(p.line(), "# service=") {
		if p, err = in.next(); err == nil && p.kind == flush {
			p, err = in.next()
		}
	}
	if err != nil {
		return advertisement{}, err
	}
	if p.line() == "version 2" {
		return capabilities(in)
	}
	return h.references(in, p)
}

// capabilities reads the advertisement of version 2.
func capabilities(in *packets) (advertisement, error) {
	a := advertisement{features: features{v2: true}}
	for {
		p, err := in.next()
		if err != nil || p.kind == flush {
			return a, err
		}
		key, value, _ := strings.Cut(p.line(), "=")
		switch {
		case key == "object-format" && value != "sha1":
			return a, errSHA256
		case key == "fetch":
			a.filter = strings.Contains(" "+value+" ", " filter ")
		}
	}
}

// references reads the advertisement of version 0, which is a list of all the
// server's refs and may be long. first is its first line.
func (h *smartHTTP) references(in *packets, first packet) (a advertisement, err error) {
	if first.kind == flush {
		return a, nil // a repository without refs
	}
	line, caps, ok := strings.Cut(first.line(), "\x00")
	if !ok {
		return a, errNotGit
	}
	a.v0 = " " + caps + " "
	a.filter = strings.Contains(a.v0, " filter ")
	if strings.Contains(a.v0, " object-format=sha256 ") {
		return a, errSHA256
	}
	for p := first; p.kind != flush && err == nil; p, err = in.next() {
		if p.kind == data && line == "" {
			line = p.line()
		}
		if id, name, _ := strings.Cut(line, " "); name == string(h.branch) {
			a.tip = plumbing.NewHash(id)
		}
		line = ""
	}
	return a, err
}

// attempt runs f with the features that the server has or is thought to have.
// Where f fails and they were only assumed, the server is asked, and f runs
// again where it has others.
func (h *smartHTTP) attempt(ctx context.Context, f func() error) error {
	err := f()
	if err == nil || h.asked || hopeless(err) {
		return err
	}
	assumed := h.has
	a, asking := h.advertised(ctx)
	if asking != nil {
		return asking
	}
	h.has, h.asked = a.features, true
	if h.has == assumed {
		return err
	}
	return f()
}

// tip asks for one ref by its name. In version 0 there is only the list of all.
func (h *smartHTTP) tip(ctx context.Context) (tip plumbing.Hash, err error) {
	if h.has.v2 {
		tip, err = h.lsRefs(ctx)
		if err != nil && (h.asked || hopeless(err)) {
			return tip, err
		}
	}
	if !h.has.v2 || err != nil {
		a, asking := h.advertised(ctx)
		if asking != nil {
			return tip, asking
		}
		h.has, h.asked = a.features, true
		if a.v2 {
			return tip, err
		}
		tip = a.tip
	}
	if tip.IsZero() {
		return tip, fmt.Errorf("branch %q: %w", h.branch.Short(), repo.ErrNoBranch)
	}
	return tip, nil
}

// lsRefs is version 2's listing of the refs that begin with the branch's name;
// zero is no branch.
func (h *smartHTTP) lsRefs(ctx context.Context) (tip plumbing.Hash, err error) {
	var ask request
	ask.linef("command=ls-refs\n")
	ask.delimiter()
	ask.linef("ref-prefix %s\n", h.branch)
	ask.flush()
	answer, err := h.post(ctx, uploadPack, &ask, true)
	if err != nil {
		return tip, err
	}
	defer answer.Close()
	for in := (&packets{r: answer}); ; {
		p, err := in.next()
		if err != nil || p.kind == flush {
			return tip, err
		}
		if id, name, _ := strings.Cut(p.line(), " "); name == string(h.branch) {
			if !plumbing.IsHash(id) {
				return tip, errNotGit
			}
			tip = plumbing.NewHash(id)
		}
	}
}
