package runtimeapi

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

type echo struct {
	Calls     int
	RequestID string
	Left      bool
	Variable  string
	Home      string
}

func TestAFunctionRunsAsUnderLambda(t *testing.T) {
	t.Parallel()
	binary := Build(t, "./testdata/echo")

	t.Run("the first event starts it cold, the next finds it warm", func(t *testing.T) {
		t.Parallel()
		f := Start(t, binary, "GIVEN=this")
		first, second := f.Invoke(t.Context(), []byte(`{}`)), f.Invoke(t.Context(), []byte(`{}`))
		a, b := read(t, first), read(t, second)
		if a.Calls != 1 || b.Calls != 2 || first.Init == 0 || second.Init != 0 {
			t.Errorf("got calls %d and %d, init %s and %s", a.Calls, b.Calls, first.Init, second.Init)
		}
		if a.RequestID == "" || a.RequestID == b.RequestID {
			t.Errorf("got request ids %q and %q", a.RequestID, b.RequestID)
		}
		if !a.Left || a.Variable != "this" || a.Home != "" {
			t.Errorf("got %+v, want time left, the variable given, and none of the test's own", a)
		}
		if first.Logs != "call 1 \n" || second.Logs != "call 2 \n" {
			t.Errorf("got logs %q and %q", first.Logs, second.Logs)
		}
	})

	for _, c := range []struct {
		do, kind, message string
		dies              bool
	}{
		{"fail", "errorString", "has failed", false},
		{"refuse", "refusal", "will not", false},
		{"panic", "string", "at once", true},
		{"exit", "Runtime.ExitError", "exit status 3", true},
		{"hang", "Sandbox.Timedout", "timed out", true},
	} {
		t.Run(c.do, func(t *testing.T) {
			t.Parallel()
			f := Start(t, binary)
			read(t, f.Invoke(t.Context(), []byte(`{}`)))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.do == "hang" {
				go cancelAt(ctx, cancel, f.logs, "call 2 hang\n")
			}
			r := f.Invoke(ctx, []byte(`{"do":"`+c.do+`"}`))
			if r.Payload != nil || r.Error == nil || r.Error.Type != c.kind || !strings.Contains(r.Error.Message, c.message) {
				t.Fatalf("got %+v, error %v", r, r.Error)
			}
			if !strings.HasPrefix(r.Logs, "call 2 "+c.do+"\n") {
				t.Errorf("got logs %q", r.Logs)
			}
			if f.Alive() == c.dies {
				t.Errorf("alive is %v afterwards", f.Alive())
			}
			after := f.Invoke(t.Context(), []byte(`{}`))
			if calls := read(t, after).Calls; c.dies && (calls != 1 || after.Init == 0) || !c.dies && calls != 3 {
				t.Errorf("the next event was call %d of its process, init %s", calls, after.Init)
			}
		})
	}

	t.Run("a function that dies at its start", func(t *testing.T) {
		t.Parallel()
		f := Start(t, binary, "GIVEN=die")
		for range 2 {
			r := f.Invoke(t.Context(), []byte(`{}`))
			if r.Error == nil || r.Error.Type != "Runtime.ExitError" || r.Logs != "dies at its start\n" || f.Alive() {
				t.Errorf("got %+v, error %v", r, r.Error)
			}
		}
	})

	t.Run("a binary that is not there", func(t *testing.T) {
		t.Parallel()
		if r := Start(t, binary+"x").Invoke(t.Context(), nil); r.Error == nil || r.Error.Type != "Runtime.InvalidEntrypoint" {
			t.Errorf("got %+v", r)
		}
	})

	t.Run("its peak of memory is its own", func(t *testing.T) {
		t.Parallel()
		f := Start(t, binary)
		read(t, f.Invoke(t.Context(), []byte(`{}`)))
		before, ok := f.PeakRSS()
		if !ok {
			skip.Test(t, "no /proc on this system: peak memory is not measured")
		}
		read(t, f.Invoke(t.Context(), []byte(`{"do":"grow"}`)))
		after, _ := f.PeakRSS()
		if grown := after - before; before > 64<<20 || grown < 60<<20 || grown > 90<<20 {
			t.Errorf("grew from %d to %d bytes, by 64 MiB", before, after)
		}
	})
}

// cancelAt cancels a call once the function has logged a line, on a machine of any
// speed.
func cancelAt(ctx context.Context, cancel context.CancelFunc, logs, line string) {
	for backoff.Sleep(ctx, 10*time.Millisecond) == nil {
		text, err := os.ReadFile(logs)
		if err == nil && strings.Contains(string(text), line) {
			cancel()
		}
	}
}

func read(t *testing.T, r Result) (a echo) {
	t.Helper()
	if r.Error != nil {
		t.Fatalf("got error %v, logs %q", r.Error, r.Logs)
	}
	if err := json.Unmarshal(r.Payload, &a); err != nil {
		t.Fatalf("payload %q: %v", r.Payload, err)
	}
	return a
}
