//go:build long

package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/gitlatch/gitlatch/internal/repo/gitwire/pack"
)

// vast is a transport to a repository whose trees do not fit into memory.
type vast struct {
	commit  pack.Object
	filters []string
}

func (v *vast) String() string { return "vast" }

func (v *vast) Get(context.Context, string) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }

func (v *vast) Post(_ context.Context, _ string, body *Request, _ bool) (io.ReadCloser, error) {
	_, filter, _ := strings.Cut(body.String(), "filter ")
	filter, _, _ = strings.Cut(filter, "\n")
	v.filters = append(v.filters, filter)
	sent := v.commit
	if filter == "blob:none" {
		noise := make([]byte, pack.MemoryBytes+1)
		_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // never fails
		sent = pack.Object{Kind: plumbing.TreeObject, Data: noise}
	}
	var content bytes.Buffer
	if err := pack.Encode(&content, []pack.Object{sent}); err != nil {
		return nil, err
	}
	var answer Request
	answer.Linef("packfile\n")
	for chunk := make([]byte, 60_000); content.Len() > 0; {
		n, _ := content.Read(chunk)
		fmt.Fprintf(&answer, "%04x\x01%s", n+5, chunk[:n])
	}
	answer.Flush()
	return io.NopCloser(&answer), nil
}

// If the trees do not fit into memory, the client fetches them level by level, now and in
// later calls.
func TestACommitOfTooManyTreesIsWalked(t *testing.T) {
	t.Parallel()
	commit := pack.CommitObject(pack.TreeObject(nil).ID(), plumbing.Hash{1}, "A <a@example.com>", time.Unix(1_800_000_000, 0), "begin")
	v := &vast{commit: commit}
	s := Serve(Limits{}, "blob:none", "tree:0", v)
	for range 2 {
		into := pack.NewObjects()
		if err := s.Fetch(t.Context(), into, commit.ID(), []plumbing.Hash{commit.ID()}, false); err != nil || !into.Has(commit.ID()) {
			t.Fatalf("fetch: %v", err)
		}
	}
	if got := strings.Join(v.filters, " "); got != "blob:none tree:1 tree:1" {
		t.Errorf("asked with the filters %s", got)
	}
}
