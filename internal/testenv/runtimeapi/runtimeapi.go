// Package runtimeapi runs a built Lambda bootstrap for a test as Lambda does. One
// process requests events from a Runtime API, one at a time. The process does not get
// the caller's environment, is killed at its deadline, and starts again after it died.
package runtimeapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A Function is a bootstrap under a Runtime API. It ends with its test.
type Function struct {
	test   context.Context // ends with the test
	binary string
	env    []string
	logs   string // the file that the process writes its output to

	mu      sync.Mutex // one event at a time
	process *process   // nil until the first event, and after a death
	count   int
}

// A Result is what became of one event.
type Result struct {
	Payload []byte // the function's answer; nil with an Error
	Error   *Error // nil after a success
	Logs    string // its output to stdout and stderr during the call
	// Init is the time from the start of the process to its request for the event; 0 if
	// a warm process took the event.
	Init time.Duration
}

// An Error is a failure as Lambda would report it. Besides the types that the
// function itself gives, there are Runtime.ExitError for a process that died
// and Sandbox.Timedout for one that was killed at the deadline.
type Error struct {
	Type    string `json:"errorType"`
	Message string `json:"errorMessage"`
}

// Error returns type and message.
func (e *Error) Error() string { return e.Type + ": " + e.Message }

// Build builds the bootstrap of a main package as the deployment does, for the
// machine of the test, and returns its path. It leaves out -trimpath: Go would compile each
// package a second time.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "bootstrap")
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", binary, pkg)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return binary
}

// Start returns the function of a binary, which starts with its first event. Its
// environment is Lambda's and env, without the test's variables.
func Start(t testing.TB, binary string, env ...string) *Function {
	t.Helper()
	f := &Function{test: t.Context(), binary: binary, env: env, logs: filepath.Join(t.TempDir(), "logs")}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.end()
	})
	return f
}

// Invoke sends one event and returns when the function has answered and is ready for
// the next, or is dead. The function is killed at the deadline of the context; the
// default is five minutes.
func (f *Function) Invoke(ctx context.Context, payload []byte) Result {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()

	from := f.written()
	result := f.invoke(ctx, payload)
	all, _ := os.ReadFile(f.logs)
	result.Logs = string(all[min(from, len(all)):])
	return result
}

func (f *Function) invoke(ctx context.Context, payload []byte) (result Result) {
	began := time.Now()
	if f.process == nil {
		p, err := start(f.test, f.binary, f.env, f.logs)
		if err != nil {
			return Result{Error: &Error{"Runtime.InvalidEntrypoint", err.Error()}}
		}
		f.process = p
		if failed := f.await(ctx, p.ready); failed != nil {
			return Result{Error: failed, Init: time.Since(began)}
		}
		result.Init = time.Since(began)
	}
	f.count++
	deadline, _ := ctx.Deadline()
	p := f.process
	p.events <- event{id: fmt.Sprintf("00000000-0000-0000-0000-%012d", f.count), deadline: deadline, payload: payload}
	failed := f.await(ctx, p.answered)
	if failed == nil {
		// Only the next request for an event ends this one. A process that dies
		// after its answer has answered all the same.
		failed = f.await(ctx, p.ready)
		if answer := p.answer; failed == nil || failed.Type == exitError {
			result.Payload, result.Error = answer.payload, answer.failed
			return result
		}
	}
	result.Error = failed
	return result
}

const exitError = "Runtime.ExitError"

// await waits until what happens; a process that does not come so far is gone
// afterwards.
func (f *Function) await(ctx context.Context, what <-chan struct{}) *Error {
	select {
	case <-what:
		return nil
	case <-f.process.gone:
	case <-ctx.Done():
	}
	select {
	case <-what: // it died right after
		return nil
	default:
	}
	p := f.process
	timedOut := ctx.Err() != nil
	f.end()
	switch {
	case p.initError != nil:
		return p.initError
	case timedOut:
		return &Error{"Sandbox.Timedout", "task timed out: " + cmp.Or(context.Cause(ctx), ctx.Err()).Error()}
	}
	return &Error{exitError, "runtime exited: " + p.command.ProcessState.String()}
}

// end kills the process, if there is one, and waits for it.
func (f *Function) end() {
	if f.process != nil {
		f.process.kill()
		f.process = nil
	}
}

// Alive reports whether a process is ready to take an event warm.
func (f *Function) Alive() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.process != nil
}

// PeakRSS returns the peak resident memory of the live process, in bytes, as its kernel
// counted it. ok is false without a process, or without /proc.
func (f *Function) PeakRSS() (bytes int64, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.process == nil {
		return 0, false
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.process.command.Process.Pid))
	if err != nil {
		return 0, false
	}
	return highWater(status)
}

// highWater reads VmHWM, in kB. A child's rusage would hold the resident set of
// the test itself, which it was forked from.
func highWater(status []byte) (int64, bool) {
	for line := range bytes.Lines(status) {
		if rest, found := strings.CutPrefix(string(line), "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib * 1024, err == nil
		}
	}
	return 0, false
}

func (f *Function) written() int {
	info, err := os.Stat(f.logs)
	if err != nil {
		return 0
	}
	return int(info.Size())
}
