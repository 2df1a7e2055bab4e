package cli_test

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/latch/bolt"
)

// hasty gives the world's ticks less than a second.
func (w *world) hasty(t *testing.T, repository string) {
	t.Helper()
	w.write(t, "config.yaml", "period: 1s\n"+fmt.Sprintf(configure, w.path("kubeconfig"), w.path("state/latch.db"), repository))
}

// silent is the address of a server that accepts and never answers.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { must(t, l.Close()) })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = conn.Close() })
		}
	}()
	return "http://" + l.Addr().String()
}

// A tick that gets no answer ends with an error once its lease is over, and the state
// is free for the next one. This is also true if the tick waits for something without a
// time limit, such as a program for the login to the cluster.
func TestATickEndsThatIsNotAnswered(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*testing.T, *world){
		"git":     func(t *testing.T, w *world) { w.hasty(t, silent(t)+"/site.git") },
		"cluster": func(t *testing.T, w *world) { w.kubeconfig(t, silent(t), "token: secret") },
		"login": func(t *testing.T, w *world) {
			w.kubeconfig(t, "https://127.0.0.1:1", `exec: {apiVersion: client.authentication.k8s.io/v1, command: sleep, args: ["45"], interactiveMode: Never}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := settled(t)
			w.hasty(t, w.origin.Dir)
			spoil(t, w)
			begun := time.Now()
			got := w.run("tick")
			if took := time.Since(begun); got.status != 2 || !strings.Contains(got.err, "the time limit is over: check the system that did not answer") || took > 40*time.Second {
				t.Errorf("after %s: %+v", took, got)
			}
		})
	}
}

// If another process keeps the state open without writing it for three periods, it hangs,
// and the tick fails. Otherwise, every later tick would end without a notice.
func TestAStateThatStaysOpenIsAnErrorInTheEnd(t *testing.T) {
	t.Parallel()
	w := settled(t)
	file := w.path("state/latch.db")
	store, err := bolt.Open(file)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	for after, status := range map[time.Duration]int{14 * time.Minute: 0, 16 * time.Minute: 2} {
		must(t, os.Chtimes(file, time.Time{}, w.now.Add(-after)))
		got := w.run("tick")
		if got.status != status || status == 2 && !strings.Contains(got.err, "Its last write was") {
			t.Errorf("%s: %+v", after, got)
		}
	}
}
