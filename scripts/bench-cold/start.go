package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// startDeadline is the timeout of one start, which takes milliseconds.
const startDeadline = time.Minute

// environment is the environment that Lambda and the stack set, for a site that uses
// every AWS service. The function does not call AWS before the first event.
var environment = []string{
	"AWS_REGION=eu-west-1",
	"AWS_ACCESS_KEY_ID=ASIAEXAMPLE",
	"AWS_SECRET_ACCESS_KEY=example",
	"AWS_SESSION_TOKEN=example",
	"GITLATCH_CONFIG=" + `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: {name: prod-eu}}
state: {dynamodb: {table: gitlatch}}
repository: {codecommit: {name: site}}
alerts: {sns: {topicArn: "arn:aws:sns:eu-west-1:123456789012:gitlatch"}}
`,
}

// cold returns the time from the start of a bootstrap to its first request for an
// event. The request ends the bootstrap.
func cold(ctx context.Context, binary string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	asked := make(chan time.Time, 1)
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	api := &http.Server{ReadHeaderTimeout: startDeadline, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/runtime/invocation/next") {
			select {
			case asked <- time.Now():
			default:
			}
		}
		<-r.Context().Done()
	})}
	go func() { _ = api.Serve(listener) }() // until the listener is closed
	defer func() { _ = api.Close() }()

	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + listener.Addr().String()}, environment...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // ProcessState has the exit status
	}()
	select {
	case at := <-asked:
		_ = cmd.Process.Kill()
		<-gone
		return at.Sub(began), nil
	case <-gone:
		return 0, fmt.Errorf("%s asked for no event: %s\n%s", binary, cmd.ProcessState, said.Bytes())
	}
}

// initLine matches an initialised package in the output of GODEBUG=inittrace=1.
var initLine = regexp.MustCompile(`(?m)^init \S+ @[0-9.]+ ms, ([0-9.]+ ms) clock`)

// initialised returns the time for initialising all packages of a bootstrap. Without a
// configuration, the bootstrap ends after that.
func initialised(ctx context.Context, binary string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, startDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary)
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	var sum time.Duration
	for _, found := range initLine.FindAllSubmatch(out, -1) {
		took, err := time.ParseDuration(strings.ReplaceAll(string(found[1]), " ", ""))
		if err != nil {
			return 0, err
		}
		sum += took
	}
	if sum == 0 {
		return 0, fmt.Errorf("%s reported no initialised package:\n%s", binary, out)
	}
	return sum, nil
}
