package wire

import (
	"context"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/lists"
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
	refs []ref // the refs that start with the requested prefixes, in version 0 only
}

// advertised asks the server for its features, and in version 0 for the refs that start with
// one of the prefixes.
func (s *Server) advertised(ctx context.Context, prefixes ...string) (advertisement, error) {
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
	return references(in, p, prefixes)
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
func references(in *packets, first packet, prefixes []string) (a advertisement, err error) {
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
		a.refs, err = note(a.refs, line, prefixes)
		if err != nil {
			return a, err
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

// A ref is the name and the commit of a branch or a tag.
type ref struct {
	name string
	id   plumbing.Hash
}

// Heads asks for refs by their names. Version 0 can only list all refs.
func (s *Server) Heads(ctx context.Context, branches []plumbing.ReferenceName) ([]plumbing.Hash, error) {
	found, err := s.refs(ctx, lists.Map(branches, plumbing.ReferenceName.String))
	if err != nil {
		return nil, err
	}
	heads := make([]plumbing.Hash, len(branches))
	for _, r := range found {
		if i := slices.Index(branches, plumbing.ReferenceName(r.name)); i >= 0 {
			heads[i] = r.id
		}
	}
	return heads, nil
}

// Branches asks for the refs of all branches.
func (s *Server) Branches(ctx context.Context) ([]string, error) {
	const prefix = "refs/heads/"
	found, err := s.refs(ctx, []string{prefix})
	return lists.Map(found, func(r ref) string { return strings.TrimPrefix(r.name, prefix) }), err
}

// refs lists the refs that start with one of the prefixes.
func (s *Server) refs(ctx context.Context, prefixes []string) (found []ref, err error) {
	if s.has.v2 {
		found, err = s.lsRefs(ctx, prefixes)
		if err == nil || s.Asked || hopeless(err) {
			return found, err
		}
	}
	a, asking := s.advertised(ctx, prefixes...)
	if asking != nil {
		return nil, asking
	}
	s.has, s.Asked = a.features, true
	switch {
	case !a.v2:
		return a.refs, nil
	case err == nil: // an earlier answer of the server did not offer version 2
		return s.lsRefs(ctx, prefixes)
	}
	return nil, err
}

// lsRefs lists the refs that start with one of the prefixes, in version 2.
func (s *Server) lsRefs(ctx context.Context, prefixes []string) (found []ref, err error) {
	var ask Request
	ask.Linef("command=ls-refs\n")
	ask.delimiter()
	for _, prefix := range prefixes {
		ask.Linef("ref-prefix %s\n", prefix)
	}
	ask.Flush()
	answer, err := s.transport.Post(ctx, uploadPack, &ask, true)
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	for in := (&packets{r: answer}); ; {
		p, err := in.next()
		if err != nil || p.kind == flush {
			return found, err
		}
		found, err = note(found, p.line(), prefixes)
		if err != nil {
			return nil, err
		}
	}
}

// note adds the ref in one line of a list, if it starts with one of the prefixes. It returns
// errNotGit if that line does not have a commit id.
func note(found []ref, line string, prefixes []string) ([]ref, error) {
	id, name, _ := strings.Cut(line, " ")
	wanted := slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
	switch {
	case !wanted:
		return found, nil
	case !plumbing.IsHash(id):
		return nil, errNotGit
	}
	return append(found, ref{name, plumbing.NewHash(id)}), nil
}
