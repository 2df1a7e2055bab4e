package gitwire_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

func TestWhenTheReplyOfAPushIsLost(t *testing.T) {
	t.Parallel()
	for name, rival := range map[string]bool{"it landed": false, "it landed, with a rival's on top": true} {
		requests := map[bool][]string{ // after the requests of the read
			false: {"POST git-receive-pack", "POST git-upload-pack"},
			true:  {"POST git-receive-pack", "POST git-upload-pack", "POST git-upload-pack"},
		}[rival]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, site(1))
			s.DropReplies(1, func() {
				if rival {
					o.Push(t, "main", map[string]string{"rival": "1"}, "rival")
				}
			})
			r := open(t, gitwire.Options{URL: s.URL("shop")})
			id, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := asked(s); !slices.Equal(got[len(got)-len(requests):], requests) || count(s, "POST git-receive-pack") != 1 {
				t.Errorf("requests are %v, want them to end with %v", got, requests)
			}
			log := o.Git(t, "log", "--format=%H", "main")
			if strings.Count(log, id) != 1 || strings.Count(o.Git(t, "log", "--format=%s", "main"), "one level") != 1 {
				t.Errorf("the log is %s, want %s in it once", log, id)
			}
		})
	}
}

func TestARivalBetweenReadAndPushLosesNothing(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(2))
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	var rival string
	s.BeforePush(func() {
		rival = o.Push(t, "main", map[string]string{"checkpoints/prod/ns000.levels.yaml": "rival\n"}, "rival")
	})
	_, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/ns001.levels.yaml", "ours\n"))
	if !errors.Is(err, repo.ErrMoved) {
		t.Fatalf("commit: %v, want ErrMoved", err)
	}
	if o.Tip("main") != rival {
		t.Error("the rival's commit was written over")
	}
}

func TestARefusalSaysWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(*testing.T, *gitserver.Server, *gitserver.Origin)
		want    []string
		tries   int
	}{
		{"a hook", func(t *testing.T, _ *gitserver.Server, o *gitserver.Origin) {
			o.Decline(t, "main is protected:\nopen a pull request\x1b[31m")
		}, []string{"pre-receive hook declined", "main is protected: open a pull request"}, 4},
		{"a read-only token", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin) {
			s.ReadOnly(true)
		}, []string{"403", "this token may not write"}, 1},
		{"a server that fails", func(_ *testing.T, s *gitserver.Server, _ *gitserver.Origin) {
			s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				if strings.HasSuffix(r.URL.Path, "receive-pack") {
					http.Error(w, "out of disk", http.StatusInternalServerError)
					return
				}
				next.ServeHTTP(w, r)
			})
		}, []string{"500", "out of disk"}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, o := shop(t, site(1))
			c.prepare(t, s, o)
			tries := 1
			r := open(t, gitwire.Options{URL: s.URL("shop"), Pause: func(context.Context, int) error { tries++; return nil }})
			_, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n"))
			var refused *repo.RefusedError
			if !errors.As(err, &refused) {
				t.Fatalf("commit: %v, want a RefusedError", err)
			}
			for _, want := range c.want {
				if !strings.Contains(refused.Why, want) {
					t.Errorf("the reason is %q, want %q in it", refused.Why, want)
				}
			}
			if strings.ContainsAny(refused.Why, "\n\x1b") {
				t.Errorf("the reason is %q, want one printable line", refused.Why)
			}
			if tries != c.tries {
				t.Errorf("tried %d times, want %d", tries, c.tries)
			}
		})
	}
}

func count(s *gitserver.Server, request string) (n int) {
	for _, r := range asked(s) {
		if r == request {
			n++
		}
	}
	return n
}

func TestAPushThatFailedOnItsWayIsSentAgain(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	failures := make(chan bool, 2)
	failures <- true
	failures <- true
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "receive-pack") && len(failures) > 0 {
			<-failures
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	var waits []int
	r := open(t, gitwire.Options{URL: s.URL("shop"), Pause: func(_ context.Context, try int) error {
		waits = append(waits, try)
		return nil
	}})
	id, err := r.Commit(t.Context(), edit(o.Tip("main"), "checkpoints/prod/site.yaml", "changed\n"))
	if err != nil || id != o.Tip("main") {
		t.Fatalf("commit: %s, %v", id, err)
	}
	if !slices.Equal(waits, []int{1, 2}) {
		t.Errorf("waited before tries %v, want 1 and 2", waits)
	}
}

func TestAPushWhoseEndCannotBeSeenIsUnknown(t *testing.T) {
	t.Parallel()
	s, o := shop(t, site(1))
	r := open(t, gitwire.Options{URL: s.URL("shop")})
	tip := o.Tip("main")
	if _, err := r.Read(t.Context(), tip, nil, "checkpoints"); err != nil {
		t.Fatal(err)
	}
	s.Intercept(func(http.ResponseWriter, *http.Request, http.Handler) { panic(http.ErrAbortHandler) })
	if _, err := r.Commit(t.Context(), edit(tip, "checkpoints/prod/site.yaml", "changed\n")); !errors.Is(err, repo.ErrUnknown) {
		t.Errorf("commit: %v, want ErrUnknown", err)
	}

	// The error is the same if the deadline passes during the push.
	ctx, cancel := context.WithCancel(t.Context())
	s.Intercept(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		cancel()
		next.ServeHTTP(w, r)
	})
	_, err := r.Commit(ctx, edit(tip, "checkpoints/prod/site.yaml", "changed\n"))
	if !errors.Is(err, repo.ErrUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("commit past its deadline: %v, want ErrUnknown and the deadline", err)
	}
}
