package wire

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
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
	heads []plumbing.Hash // of the branches asked for, in version 0 only; zero for one that is not there
}

// advertised asks the server what it can do, and in version 0 where branches are.
func (s *Server) advertised(ctx context.Context, branches ...plumbing.ReferenceName) (advertisement, error) {
	answer, err := s.transport.Get(ctx, uploadPack)
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
	return references(in, p, branches)
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
			return a, pack.ErrSHA256
		case key == "fetch":
			a.filter = strings.Contains(" "+value+" ", " filter ")
		}
	}
}

// references reads the advertisement of version 0, which is a list of all the
// server's refs and may be long. first is its first line.
func references(in *packets, first packet, branches []plumbing.ReferenceName) (a advertisement, err error) {
	a.heads = make([]plumbing.Hash, len(branches))
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
		return a, pack.ErrSHA256
	}
	for p := first; p.kind != flush && err == nil; p, err = in.next() {
		if p.kind == data && line == "" {
			line = p.line()
		}
		if !note(line, branches, a.heads) {
			return a, errNotGit
		}
		line = ""
	}
	return a, err
}

// attempt runs f with the features that the server has or is thought to have.
// Where f fails and they were only assumed, the server is asked, and f runs
// again where it has others.
func (s *Server) attempt(ctx context.Context, f func() error) error {
	err := f()
	if err == nil || s.Asked || hopeless(err) {
		return err
	}
	assumed := s.has
	a, asking := s.advertised(ctx)
	if asking != nil {
		return asking
	}
	s.has, s.Asked = a.features, true
	if s.has == assumed {
		return err
	}
	return f()
}

// Heads asks for refs by their names. In version 0 there is only the list of all.
func (s *Server) Heads(ctx context.Context, branches []plumbing.ReferenceName) (heads []plumbing.Hash, err error) {
	if s.has.v2 {
		heads, err = s.lsRefs(ctx, branches)
		if err == nil || s.Asked || hopeless(err) {
			return heads, err
		}
	}
	a, asking := s.advertised(ctx, branches...)
	if asking != nil {
		return nil, asking
	}
	s.has, s.Asked = a.features, true
	switch {
	case !a.v2:
		return a.heads, nil
	case err == nil: // it had not heard of version 2 when it was asked before
		return s.lsRefs(ctx, branches)
	}
	return nil, err
}

// lsRefs is version 2's listing of the refs that begin with the branches' names.
func (s *Server) lsRefs(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error) {
	var ask Request
	ask.Linef("command=ls-refs\n")
	ask.delimiter()
	for _, branch := range branches {
		ask.Linef("ref-prefix %s\n", branch)
	}
	ask.Flush()
	answer, err := s.transport.Post(ctx, uploadPack, &ask, true)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	heads := make([]plumbing.Hash, len(branches))
	for in := (&packets{r: answer}); ; {
		p, err := in.next()
		if err != nil || p.kind == flush {
			return heads, err
		}
		if !note(p.line(), branches, heads) {
			return nil, errNotGit
		}
	}
}

// note takes the commit from a line of a listing, where it is that of one of
// the branches. It is false where a branch has no commit's id.
func note(line string, branches []plumbing.ReferenceName, heads []plumbing.Hash) bool {
	id, name, _ := strings.Cut(line, " ")
	for i, branch := range branches {
		if name == string(branch) {
			if !plumbing.IsHash(id) {
				return false
			}
			heads[i] = plumbing.NewHash(id)
		}
	}
	return true
}
