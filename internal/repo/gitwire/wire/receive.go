package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// Push usually sends one request: it uses only features that every server has.
func (s *Server) Push(ctx context.Context, branch plumbing.ReferenceName, old plumbing.Hash, made []pack.Object) error {
	if s.announce {
		answer, err := s.transport.Get(ctx, receivePack)
		if err != nil {
			return forbidden(err)
		}
		answer.Close()
	}
	var send Request
	send.Linef("%s %s %s\x00 report-status side-band-64k", old, made[len(made)-1].ID(), branch)
	send.Flush()
	if err := pack.Encode(&send, made); err != nil {
		return err
	}
	answer, err := s.transport.Post(ctx, receivePack, &send, false)
	if err != nil {
		s.announce = true
		return forbidden(err)
	}
	defer answer.Close()
	return report(reportBytes.of(answer))
}

// reportBytes limits the size of the answer to a push, which includes the output of
// hooks.
var reportBytes = bound{16 << 20, "the push may have landed all the same"}

// forbidden returns a final Refusal if a repeated request would get the same status.
func forbidden(err error) error {
	var status *statusError
	if errors.As(err, &status) && (status.code == http.StatusUnauthorized || status.code == http.StatusForbidden) {
		return &Refusal{Words: err.Error(), Final: true}
	}
	return err
}

// report reads receive-pack's report. It returns nil only if the report confirms that the
// ref moved.
func report(answer io.Reader) error {
	out := &band{packets: &packets{r: answer}}
	in := &packets{r: out}
	var status string
	for {
		p, err := in.next()
		switch line := p.line(); {
		case err != nil:
			return fmt.Errorf("read the report of the push: %w", err)
		case p.kind == flush && status == "":
			return errors.New("the report of the push does not name the branch")
		case p.kind == flush:
			_, _ = io.Copy(io.Discard, out) // hooks may print more after the report
			return refused(status, out.words.String())
		case strings.HasPrefix(line, "unpack ") && line != "unpack ok", strings.HasPrefix(line, "ng "):
			if status == "" || status == "ok" {
				status = line
			}
		case strings.HasPrefix(line, "ok ") && status == "":
			status = "ok"
		}
	}
}

// refused returns nil if the status of the branch is "ok". Otherwise the status is a line
// of the report: "ng refs/heads/main pre-receive hook declined".
func refused(status, words string) error {
	if status == "ok" {
		return nil
	}
	if rest, ok := strings.CutPrefix(status, "ng "); ok {
		_, status, _ = strings.Cut(rest, " ")
	}
	words = sanitize.Answer(words)
	if words != "" {
		status += ": " + words
	}
	return &Refusal{Words: status}
}
