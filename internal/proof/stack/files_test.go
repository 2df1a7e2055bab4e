package stack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A finding is a problem that a validator finds in a template.
type finding struct {
	File string // the name of the file for the validator
	By   string // the validator
	Rule string // the validator's name for it
	At   string
	Text string
}

func (f finding) String() string {
	return fmt.Sprintf("%s %s: %s %s: %s", f.By, f.Rule, f.File, f.At, f.Text)
}

// command is a program that ends with the test, or shortly before the deadline of all tests:
// on a busy machine, a build may take long.
func command(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	ctx := t.Context()
	deadline, limited := t.Deadline()
	if limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		t.Cleanup(cancel)
	}
	return exec.CommandContext(ctx, name, args...)
}

// output runs a program to its end. Exit statuses other than 0 and those in good
// fail the test.
func output(t *testing.T, cmd *exec.Cmd, good ...int) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && slices.Contains(good, exit.ExitCode())) {
		t.Fatalf("%s: %v\n%s%s", strings.Join(cmd.Args, " "), err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}

// decode reads one JSON value after another.
func decode[T any](t *testing.T, out []byte) (all []T) {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var v T
		switch err := decoder.Decode(&v); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("read what a validator says: %v\n%s", err, out)
		}
		all = append(all, v)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func readFile(t *testing.T, path string) template {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, filepath.Base(path), string(text))
}
