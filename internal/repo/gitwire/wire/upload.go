package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// A want is a request to upload-pack.
type want struct {
	ids    []plumbing.Hash
	have   plumbing.Hash // the server omits this commit and its ancestors; zero omits nothing
	depth  int           // number of generations of commits; 0 is unlimited
	filter string        // "" includes every object below the ids
}

// pack sends a request to upload-pack, and calls use with the pack of the answer.
func (s *Server) pack(ctx context.Context, w want, most bound, use func(io.Reader) error) error {
	ask := s.askV2
	if !s.has.v2 {
		ask = s.askV0
	}
	answer, err := s.transport.Post(ctx, uploadPack, ask(w), s.has.v2)
	if err != nil {
		return err
	}
	defer answer.Close()
	limited := most.of(answer)
	in := &packets{r: limited}
	if err := s.skipToPack(in, w); err != nil {
		return err
	}
	if err := use(&band{packets: in}); err != nil {
		// The reader of the pack may hide this reason.
		if limited.left < 0 {
			return limited.over()
		}
		return err
	}
	return nil
}

func (s *Server) askV2(w want) *Request {
	var ask Request
	ask.Linef("command=fetch\n")
	ask.delimiter()
	ask.Linef("no-progress\n")
	ask.Linef("ofs-delta\n")
	for _, id := range w.ids {
		ask.Linef("want %s\n", id)
	}
	ask.limits(w)
	ask.haves(w)
	ask.Linef("done\n")
	ask.Flush()
	return &ask
}

// askV0 requests multi_ack_detailed, because Azure DevOps and CodeCommit require it.
func (s *Server) askV0(w want) *Request {
	var ask Request
	var caps string
	for _, c := range []string{"multi_ack_detailed", "side-band-64k", "ofs-delta", "no-progress", "shallow", "filter"} {
		if strings.Contains(s.has.v0, " "+c+" ") && (c != "filter" || w.filter != "") {
			caps += " " + c
		}
	}
	for _, id := range w.ids {
		ask.Linef("want %s%s\n", id, caps)
		caps = ""
	}
	ask.limits(w)
	ask.Flush()
	ask.haves(w)
	ask.Linef("done\n")
	return &ask
}

func (r *Request) limits(w want) {
	if w.depth > 0 {
		r.Linef("deepen %d\n", w.depth)
	}
	if w.filter != "" {
		r.Linef("filter %s\n", w.filter)
	}
}

func (r *Request) haves(w want) {
	if !w.have.IsZero() {
		r.Linef("have %s\n", w.have)
	}
}

// skipToPack reads the packets before the side-band stream of the pack.
func (s *Server) skipToPack(in *packets, w want) error {
	if !s.has.v2 && w.depth == 0 {
		return nil
	}
	for {
		p, err := in.next()
		switch {
		case err != nil:
			return err
		case !s.has.v2 && p.kind == flush, s.has.v2 && p.line() == "packfile":
			return nil
		case s.has.v2 && p.kind == flush:
			return errors.New("the server sent no pack")
		}
	}
}

// A bound is the maximum size of an answer, and why more is too much.
type bound struct {
	bytes int64
	why   string
}

// A limit returns an error after the bytes of its bound.
type limit struct {
	bound
	r    io.Reader
	left int64
}

func (l *limit) Read(b []byte) (int, error) {
	n, err := l.r.Read(b)
	l.left -= int64(n)
	if l.left < 0 {
		return 0, l.over()
	}
	return n, err
}

func (b bound) of(r io.Reader) *limit { return &limit{r: r, left: b.bytes, bound: b} }

func (l *limit) over() error {
	return fmt.Errorf("%w %d MiB: %s", pack.ErrTooMuch, l.bytes>>20, l.why)
}
