package fleet

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// The duration of a host's request. Half of it passes on the way to the host, which then
// executes the request, and half on the way back.
const (
	requestTakes = 150 * time.Millisecond
	pushTakes    = 600 * time.Millisecond
)

// A host is git's own server with one bare repository.
type host struct {
	*clock
	server *gitserver.Server
	origin *gitserver.Origin
	http   http.RoundTripper

	mu    sync.Mutex
	spent map[string]spent // by operation
}

// spent is real time.
type spent struct {
	times int
	time  time.Duration
	bytes int64
}

func newHost(t testing.TB, c *clock) *host {
	server := gitserver.Start(t)
	h := &host{clock: c, server: server, origin: server.Create(t, "fleet", nil), spent: map[string]spent{}}
	// A host's nightly maintenance would run in the middle of pushes.
	h.origin.Config(t, "receive.autogc", "false")
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	h.http = transport
	return h
}

// The faults of a process.
var (
	errDead = errors.New("the process is dead")
	errLost = errors.New("the connection broke before the answer")
)

// A way is the connection of one process to the host.
type way struct {
	*host
	branch string
	// diesAt is the number of the request at which the process dies, after the host has
	// executed it; 0 disables it. losesReply drops the answer to the first push.
	diesAt     int
	losesReply bool

	dead          bool
	asked, pushed int
}

// RoundTrip waits for the duration of a request, and executes it in the middle.
func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.dead {
		return nil, errDead
	}
	push := strings.HasSuffix(r.URL.Path, "/git-receive-pack")
	takes := requestTakes
	if push {
		takes = pushTakes
		w.pushed++
	}
	w.asked++
	var answer *http.Response
	var err error
	w.act(takes/2, &deed{branch: w.branch, moves: push, do: func() { answer, err = w.send(r) }})
	w.sleep(takes / 2)
	switch {
	case err != nil:
		return nil, err
	case w.asked == w.diesAt:
		w.dead = true
		return nil, errDead
	case push && w.losesReply:
		w.losesReply = false
		return nil, errLost
	}
	return answer, nil
}

// send sends a request to the host, and reads its reply.
func (h *host) send(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	from := time.Now()
	answer, err := h.http.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	answer.Body = io.NopCloser(bytes.NewReader(text))

	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.spent[asks(r, sent)]
	s.times, s.time, s.bytes = s.times+1, s.time+time.Since(from), s.bytes+int64(len(sent)+len(text))
	h.spent[asks(r, sent)] = s
	return answer, err
}

// The kinds of requests.
const (
	tips  = "tips"  // heads of branches
	fetch = "fetch" // of commits, trees and blobs
	push  = "push"
)

func asks(r *http.Request, sent []byte) string {
	switch {
	case strings.HasSuffix(r.URL.Path, "/git-receive-pack"):
		return push
	case bytes.Contains(sent, []byte("command=ls-refs")):
		return tips
	}
	return fetch
}

// jittered returns a random duration from d/2 to 3d/2.
func jittered(d time.Duration, random *rand.Rand) time.Duration {
	return time.Duration((0.5 + random.Float64()) * float64(d))
}
