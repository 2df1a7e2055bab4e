// Package program installs and runs programs that tests connect to over loopback:
// stand-ins for services, from npm and PyPI, and programs built from Go modules.
package program

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

const (
	// installDeadline bounds an install from a registry, which takes a minute, and
	// the build of a control plane from Go modules, which takes some of two idle
	// cores.
	installDeadline = 45 * time.Minute
	// upDeadline bounds a start, which takes a second of an idle machine.
	upDeadline = 5 * time.Minute
	// downDeadline bounds an end, which is at once on an idle machine.
	downDeadline = time.Minute
)

// Folder returns the folder that a script of this repository, such as
// scripts/npm/install.sh, installs or builds into and prints. If the script
// fails, Folder fails the test in CI, and elsewhere skips it with the name of the missing
// program. A test that needs a program has the build tag of a part of make test-all.
func Folder(t testing.TB, what, script string) string {
	t.Helper()
	dir, err := install(script)
	if err != nil {
		skip.Test(t, "needs %s, which cannot be had here: %v", what, err)
	}
	return dir
}

// install runs the script, one test binary at a time, so that a cold cache is
// filled once.
func install(script string) (string, error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	cache := filepath.Join(root, ".cache")
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	name := strings.ReplaceAll(filepath.ToSlash(filepath.Dir(script)), "/", "-")
	lock, err := os.OpenFile(filepath.Join(cache, name+".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return "", err
	}
	defer lock.Close() // which also unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("lock %s: %w", lock.Name(), err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), installDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", filepath.Join(root, script))
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", script, err, stderr.Bytes())
	}
	return strings.TrimSpace(stdout.String()), nil
}

// moduleRoot returns the folder of the module that the test belongs to: go test
// runs a test in the folder of its package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no go.mod in the folder of the test or above it")
		}
		dir = parent
	}
}

// Serve starts a program in dir and returns its first line of output, which is its
// address. The program must end with its standard input, which closes when the test
// ends, or if the test is killed. If the test fails, Serve shows the program's standard
// error.
func Serve(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.WaitDelay = downDeadline
	logs, err := os.CreateTemp(t.ArtifactDir(), filepath.Base(name)+"-*.log")
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close() // the program has its own handle
	cmd.Stderr = logs
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", name, err)
	}

	lines := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		reader := bufio.NewReader(stdout)
		line, _ := reader.ReadString('\n')
		lines <- strings.TrimSpace(line)
		_, _ = io.Copy(io.Discard, reader)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		stdin.Close()
		select {
		case <-ended:
		case <-time.After(downDeadline):
			t.Errorf("%s did not end with its input", name)
			_ = cmd.Process.Kill()
			<-ended
		}
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", name, tail(logs.Name(), 20))
		}
	})

	select {
	case line := <-lines:
		if line == "" {
			t.Fatalf("%s ended before it listened:\n%s", name, tail(logs.Name(), 20))
		}
		return line
	case <-time.After(upDeadline):
		t.Fatalf("%s does not listen after %s", name, upDeadline)
	}
	return ""
}

// tail returns the last lines of a file.
func tail(path string, lines int) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
