// Package chart renders Helm charts in a child process, because a template cannot be
// stopped from within Go. The package engine contains Helm. A program that imports only
// this package does not link Helm.
package chart

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Render renders a chart to a stream of YAML documents. It fetches nothing.
type Render func(ctx context.Context, r Request) ([]byte, error)

// A Request is a chart with the options of one release.
type Request struct {
	// Files are the files of the chart by their path in the folder of the chart. A file
	// below charts/ may be a packed chart. Packed is a packed chart, instead of Files.
	Files  map[string][]byte
	Packed []byte
	// Name and Namespace are the name and the namespace of the release.
	Name, Namespace string
	// Kubernetes is the version of the cluster, for example "1.37". "" uses the version
	// of Helm's Kubernetes libraries. APIs are API versions in addition to the versions
	// of Kubernetes, for example "keda.sh/v1alpha1".
	Kubernetes string
	APIs       []string
	// Values override the values of the chart. Later ones take precedence.
	Values []Value
}

// A Value is a part of the values of a release.
type Value struct {
	// Path is a path as in Helm's option --set. "" merges Data, which is YAML, into the
	// values.
	Path string
	Data string
	// Text sets Data as a string, as in --set-string. Whole sets Data verbatim, as in
	// --set-literal and --set-file.
	Text, Whole bool
}

// The limits of a child process. Its resident memory also includes the pages of the
// program, so the limit of its data is lower than 256 MiB.
const (
	longest    = 30 * time.Second
	mostCPU    = 5         // seconds of CPU time, so that a busy machine fails no chart
	mostData   = 160 << 20 // bytes
	mostOutput = 16 << 20  // bytes
	mostReason = 4 << 10   // bytes
)

// The exit statuses of a child that has a reason.
const (
	exitFailed = 3
	exitMemory = 4
)

// argument is the only argument of a child process.
const argument = "render-one-chart"

// Child renders a chart in a child process of this program, within limits of time, memory
// and output. The program must call Serve before anything else.
func Child(ctx context.Context, r Request) ([]byte, error) {
	out, _, err := child(ctx, r)
	return out, err
}

func child(ctx context.Context, r Request) ([]byte, *os.ProcessState, error) {
	if !served {
		return nil, nil, errors.New("this program does not render Helm charts")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("render the chart: %w", err)
	}
	var in bytes.Buffer
	if err := gob.NewEncoder(&in).Encode(r); err != nil {
		return nil, nil, fmt.Errorf("render the chart: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	out, reason := limited{most: mostOutput, full: cancel}, limited{most: mostReason, full: func() {}}
	c := exec.CommandContext(ctx, self, argument)
	c.Env = []string{"GOMAXPROCS=2"} // no credentials
	c.Stdin = &in
	c.Stdout, c.Stderr = &out, &reason
	err = c.Run()
	if err == nil && !out.over {
		return out.data.Bytes(), c.ProcessState, nil
	}
	return nil, c.ProcessState, because(c.ProcessState, &out, &reason, errors.Is(ctx.Err(), context.DeadlineExceeded), err)
}

// because returns the reason why a child failed.
func because(state *os.ProcessState, out, reason *limited, expired bool, err error) error {
	code := -1
	if state != nil {
		code = state.ExitCode()
	}
	text := strings.TrimSpace(reason.data.String())
	switch {
	case out.over:
		return fmt.Errorf("its templates print more than %d MiB", mostOutput>>20)
	case code == exitFailed:
		return errors.New(text)
	case state != nil && state.UserTime()+state.SystemTime() >= mostCPU*time.Second: // it may end before it prints a reason
		return fmt.Errorf("its templates do not end within %d seconds", mostCPU)
	case expired:
		return fmt.Errorf("its templates do not end within %s", longest)
	case code == exitMemory, strings.Contains(text, "out of memory"), strings.Contains(text, "cannot allocate memory"):
		return fmt.Errorf("its templates need more than %d MiB of memory", mostData>>20)
	}
	first, _, _ := strings.Cut(text, "\n")
	return fmt.Errorf("the process that renders it failed (%w): %s", err, first)
}

// A limited is a buffer that calls full if it receives more than most bytes, and drops the
// rest.
type limited struct {
	data bytes.Buffer // not embedded: io.Copy would call its ReadFrom
	most int
	full func()
	over bool
}

// Write implements io.Writer.
func (l *limited) Write(data []byte) (int, error) {
	room := l.most - l.data.Len()
	if len(data) > room {
		l.over = true
		l.full()
		l.data.Write(data[:room])
		return len(data), nil
	}
	return l.data.Write(data)
}

// served is true in a program that has called Serve.
var served bool

// Serve renders one chart and exits if this process is a child. Otherwise it returns, and
// the program can start children. It must be the first call of a main function.
func Serve(render Render) {
	served = true
	if len(os.Args) != 2 || os.Args[1] != argument {
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // Helm logs warnings with log and with slog
	log.SetOutput(io.Discard)
	restrict()
	go watch(time.Tick(5 * time.Millisecond))
	out, err := answer(render, os.Stdin)
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, short(err.Error()))
		os.Exit(exitFailed)
	}
	os.Exit(0)
}

// short returns a text on one line, without its middle if it is long: Helm's errors name
// every template on the way.
func short(text string) string {
	const start, end = 200, 400
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= start+end {
		return text
	}
	return text[:start] + " ... " + text[len(text)-end:]
}

func answer(render Render, in io.Reader) ([]byte, error) {
	var r Request
	if err := gob.NewDecoder(in).Decode(&r); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	return render(context.Background(), r)
}
