package runtimeapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A process is one life of a bootstrap. It has a separate Runtime API, so no request of
// an earlier life reaches it.
type process struct {
	command *exec.Cmd
	api     *httptest.Server

	events   chan event
	ready    chan struct{} // one for each request for an event
	answered chan struct{} // one for each answer, which is set before
	answer   answer
	gone     chan struct{} // closed once the process has ended

	initError *Error // set before the process is gone
}

type event struct {
	id       string
	deadline time.Time
	payload  []byte
}

type answer struct {
	payload []byte
	failed  *Error
}

func start(ctx context.Context, binary string, env []string, logs string) (*process, error) {
	p := &process{
		events:   make(chan event, 1),
		ready:    make(chan struct{}, 1),
		answered: make(chan struct{}, 1),
		gone:     make(chan struct{}),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", p.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/response", p.response)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/error", p.failure)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", p.initFailure)
	p.api = httptest.NewServer(mux)

	// A file, not a pipe: it contains all output of the process before its request for
	// the next event.
	out, err := os.OpenFile(logs, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.api.Close()
		return nil, err
	}
	p.command = exec.CommandContext(ctx, binary)
	p.command.Dir = filepath.Dir(binary)
	p.command.Stdout, p.command.Stderr = out, out
	p.command.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(p.api.URL, "http://"),
		"AWS_LAMBDA_FUNCTION_NAME=bootstrap",
		"AWS_LAMBDA_FUNCTION_VERSION=$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE=512",
		"AWS_LAMBDA_INITIALIZATION_TYPE=on-demand",
		"AWS_REGION=eu-west-1",
		"LAMBDA_TASK_ROOT=" + p.command.Dir,
		"_HANDLER=bootstrap",
		"PATH=/usr/local/bin:/usr/bin:/bin",
		"TZ=:UTC",
	}, env...)
	err = p.command.Start()
	if err := errors.Join(err, out.Close()); err != nil {
		p.api.Close()
		return nil, err
	}
	go func() {
		_ = p.command.Wait() // ProcessState has the exit status
		close(p.gone)
	}()
	return p, nil
}

// kill ends the process and waits for it.
func (p *process) kill() {
	_ = p.command.Process.Kill() // fails only if it is dead
	<-p.gone
	p.api.CloseClientConnections()
	p.api.Close()
}

func (p *process) next(w http.ResponseWriter, r *http.Request) {
	p.tell(p.ready)
	select {
	case e := <-p.events:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", e.id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(e.deadline.UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-west-1:123456789012:function:bootstrap")
		_, _ = w.Write(e.payload) // a process that died shows in gone
	case <-r.Context().Done():
	case <-p.gone:
	}
}

func (p *process) response(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		p.settle(answer{payload: body})
	}
	w.WriteHeader(http.StatusAccepted)
}

func (p *process) failure(w http.ResponseWriter, r *http.Request) {
	p.settle(answer{failed: readError(r)})
	w.WriteHeader(http.StatusAccepted)
}

func (p *process) settle(a answer) {
	p.answer = a
	p.tell(p.answered)
}

// tell sends a token, if its process still exists.
func (p *process) tell(about chan<- struct{}) {
	select {
	case about <- struct{}{}:
	case <-p.gone:
	}
}

func (p *process) initFailure(w http.ResponseWriter, r *http.Request) {
	p.initError = readError(r)
	w.WriteHeader(http.StatusAccepted)
}

func readError(r *http.Request) *Error {
	failed := &Error{}
	if err := json.NewDecoder(r.Body).Decode(failed); err != nil {
		return &Error{"Runtime.BadError", fmt.Sprintf("error payload cannot be read: %v", err)}
	}
	return failed
}
