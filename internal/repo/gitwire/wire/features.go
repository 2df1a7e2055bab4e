package wire

import (
	"context"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// features are the features of a server. They compare with ==.
type features struct {
	v2     bool
	filter bool
	// v0 are the capabilities of protocol version 0, with a space before and after each;
	// "" if the server speaks version 2.
	v0 string
}

// best are the features that a Server assumes before it asks.
var best = features{v2: true, filter: true}

// An advertisement is a server's list of its features.
type advertisement struct {
	features
	heads []plumbing.Hash // the commits of the requested branches, in version 0 only; zero if a branch does not exist
}

// advertised asks the server for its features, and in version 0 for the commits of
// branches.
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

// references reads the advertisement of version 0, which lists all refs of the server and
// may be long. first is its first line.
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

// attempt runs f with the known or assumed features of the server. If f fails with
// assumed features, attempt asks the server. If the server has other features, it runs f
// again.
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

// Heads asks for refs by their names. Version 0 can only list all refs.
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
	case err == nil: // an earlier answer of the server did not offer version 2
		return s.lsRefs(ctx, branches)
	}
	return nil, err
}

// lsRefs lists the refs that start with the names of the branches, in version 2.
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

// note reads one line of a list of refs. If the line names one of the branches, note sets
// its head. It returns false if that line does not have a commit id.
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
