package gitwire

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
)

// A vast wire leads to a repository whose trees do not fit into memory.
type vast struct {
	commit  object
	filters []string
}

func (v *vast) String() string { return "vast" }

func (v *vast) get(context.Context, string) (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }

func (v *vast) post(_ context.Context, _ string, body *request, _ bool) (io.ReadCloser, error) {
	_, filter, _ := strings.Cut(body.String(), "filter ")
	filter, _, _ = strings.Cut(filter, "\n")
	v.filters = append(v.filters, filter)
	sent := v.commit
	if filter == "blob:none" {
		noise := make([]byte, memoryBytes+1)
		_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // it never fails
		sent = object{plumbing.TreeObject, noise}
	}
	var content bytes.Buffer
	if err := pack(&content, []object{sent}); err != nil {
		return nil, err
	}
	var answer request
	answer.linef("packfile\n")
	for chunk := make([]byte, 60_000); content.Len() > 0; {
		n, _ := content.Read(chunk)
		fmt.Fprintf(&answer, "%04x\x01%s", n+5, chunk[:n])
	}
	answer.flush()
	return io.NopCloser(&answer), nil
}

// Trees beyond what fits into memory are walked, as over HTTP, from then on.
func TestACommitOfTooManyTreesIsWalked(t *testing.T) {
	if testing.Short() {
		t.Skip("33 MiB of trees are left out: run without -short")
	}
	t.Parallel()
	commit := commitObject(emptyTree, plumbing.Hash{1}, DefaultAuthor, time.Unix(1_800_000_000, 0), "begin")
	wire := &vast{commit: commit}
	s := serve(Options{}, "blob:none", "tree:0", wire)
	for range 2 {
		into := newObjects()
		if err := s.fetch(t.Context(), into, commit.id(), []plumbing.Hash{commit.id()}, false); err != nil || !into.has(commit.id()) {
			t.Fatalf("fetch: %v", err)
		}
	}
	if got := strings.Join(wire.filters, " "); got != "blob:none tree:1 tree:1" {
		t.Errorf("asked with the filters %s", got)
	}
}
