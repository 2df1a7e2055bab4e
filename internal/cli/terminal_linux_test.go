package cli_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/cli"
)

// columns is the default width of a terminal.
const columns = 80

// terminal opens a pseudo-terminal with the given columns. written returns the output
// once the terminal is closed.
func terminal(t *testing.T) (out *os.File, written func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	control := func(f *os.File, request uintptr, argument unsafe.Pointer) {
		t.Helper()
		if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(argument)); code != 0 {
			t.Fatalf("set up a terminal: %v", code)
		}
	}
	var locked, number int32
	control(master, syscall.TIOCSPTLCK, unsafe.Pointer(&locked))
	control(master, syscall.TIOCGPTN, unsafe.Pointer(&number))
	out, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	must(t, err)
	size := [4]uint16{24, columns}
	control(out, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	read := make(chan string)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, master) // it returns an error after the other end is closed
		read <- strings.ReplaceAll(all.String(), "\r\n", "\n")
	}()
	return out, func() string {
		t.Helper()
		must(t, out.Close())
		defer master.Close()
		return <-read
	}
}

// A session is a command as a user runs it, in a separate world.
type session struct {
	args  string
	world func(*testing.T) *world
	wide  wide
}

// A wide is the reason why the lines of a command may be wider than a terminal; ""
// means that they may not.
type wide string

const (
	// Rows wrap only on a terminal. In a pipe, one line is one workload, so that a search
	// finds it.
	piped wide = "in a pipe"
	// YAML is for programs, and line breaks affect its meaning.
	always wide = "always"
)

var sessions = []session{
	{"tick", busy, piped},
	{"tick", strayed, piped},
	{"tick", settled, piped},
	{"tick", rolling, piped},
	{"explain shop/api", busy, ""},
	{"explain shop/web", busy, ""},
	{"explain shop/cart", busy, ""},
	{"explain shop/web", rolling, ""},
	{"explain shop/new", strayed, ""},
	{"diff", strayed, ""},
	{"diff shop", strayed, ""},
	{"doctor", settled, ""},
	{"doctor", tended, ""},
	{"drill", tended, ""},
	{"drill --flush", tended, ""},
	{"drill", shorn, ""},
	{"restore", small, ""},
	{"restore shop/web --yes", unscaled, ""},
	{"restore --release", small, ""},
	{"log shop/web", lived, ""},
	{"pause shop/web --until 3h", settled, ""},
	{"adopt", settled, ""},
	{"adopt shop/web", settled, ""},
	{"init", bare, ""},
	{"backtest PAST", newWorld, ""},
	{"demo", nil, ""},
	{"preview", tended, ""},
	{"version", nil, ""},
	{"status", settled, ""},
	{"status --help", nil, ""},
	{"validate --help", nil, ""},
	{"version --help", nil, ""},
	{"help", nil, ""},
	{"tick --help", nil, ""},
	{"explain --help", nil, ""},
	{"diff --help", nil, ""},
	{"doctor --help", nil, ""},
	{"drill --help", nil, ""},
	{"restore --help", nil, ""},
	{"backtest --help", nil, ""},
	{"log --help", nil, ""},
	{"demo --help", nil, ""},
	{"preview --help", nil, ""},
	{"init --help", nil, ""},
	{"adopt --help", nil, ""},
	{"pause --help", nil, ""},
}

// unscaled returns the small world without an autoscaler on web.
func unscaled(t *testing.T) *world {
	w := small(t)
	w.api.workloads["shop/deployment/web"].most = 0
	return w
}

// on runs a session with its output to out, and returns its standard error.
func (s session) on(t *testing.T, w *world, out io.Writer, environment map[string]string) (said string) {
	args := strings.Fields(strings.ReplaceAll(s.args, "PAST", w.path("past.csv")))
	switch {
	case s.args == "preview":
		args = append(args, "--kubeconfig", w.path("kubeconfig"))
	case s.world != nil && args[0] != "backtest":
		args = append(args, "--config", w.path("config.yaml"))
	}
	var beside bytes.Buffer
	cli.Run(cli.Env{Out: out, Err: &beside, Build: build.Info{Version: "v1.2.3"}, Clock: func() time.Time { return w.now },
		Getenv: func(name string) string { return environment[name] }}, args)
	return beside.String()
}

// Every command fits 80 columns, and has no colour if the output is not a terminal or
// the user turned colour off. Errors on standard error stay on one line, for a search
// in a log.
func TestAllIsReadAtEightyColumnsWithoutColour(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range sessions {
		seen[strings.Fields(s.args)[0]] = true
		t.Run(s.args, func(t *testing.T) {
			t.Parallel()
			inWorld := func() *world {
				w := &world{dir: t.TempDir(), now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)}
				if s.world != nil {
					w = s.world(t)
				}
				w.write(t, "past.csv", pastScale())
				return w
			}
			w := inWorld()
			out, written := terminal(t)
			said := s.on(t, w, out, map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color", "NO_COLOR": "1"})
			shown := written()
			plain(t, "terminal", shown)
			plain(t, "beside it", said)
			if shown == "" {
				t.Errorf("nothing is shown, and beside it %q", said)
			}
			if s.wide != always {
				narrow(t, "terminal", w, shown)
			}
			if s.args == "demo" {
				return // a pipe has the same style and output
			}
			w = inWorld()
			var pipe bytes.Buffer
			said = s.on(t, w, &pipe, map[string]string{"LANG": "C.UTF-8", "TERM": "xterm-256color"})
			plain(t, "pipe", pipe.String())
			plain(t, "beside the pipe", said)
			if s.wide == "" {
				narrow(t, "pipe", w, pipe.String())
			}
		})
	}
	for _, name := range []string{"tick", "explain", "diff", "doctor", "drill", "restore", "backtest", "log", "demo", "preview", "init"} {
		if !seen[name] {
			t.Errorf("%s is not run", name)
		}
	}
}

// A terminal without any setting has colour, which proves that the test above checks
// something.
func TestThereIsColourOnATerminal(t *testing.T) {
	t.Parallel()
	w := strayed(t)
	for _, c := range []struct {
		environment map[string]string
		colour      bool
	}{
		{map[string]string{"TERM": "xterm"}, true},
		{map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{map[string]string{"TERM": "dumb"}, false},
	} {
		out, written := terminal(t)
		said := session{args: "diff", world: strayed}.on(t, w, out, c.environment)
		if shown := written(); strings.Contains(shown, "\x1b") != c.colour || !strings.Contains(shown, "shop/api") {
			t.Errorf("%v: %q, and beside it %q", c.environment, shown, said)
		}
		for args, verdict := range map[string]string{"doctor": "\x1b[31mprod-eu: ", "status": "\x1b[32mhealthy\x1b[0m", "tick": "\x1b[32mno commit"} {
			out, written = terminal(t)
			said = session{args: args, world: strayed}.on(t, w, out, c.environment)
			if shown := written(); strings.Contains(shown, verdict) != c.colour || strings.Contains(shown, "\x1b") != c.colour {
				t.Errorf("%s, %v: no %q in %q, and beside it %q", args, c.environment, verdict, shown, said)
			}
		}
	}
}

// narrow fails the test if the text is wider than the terminal. Long words do not wrap:
// lines with URLs, and with paths in this test's folder, may be wider.
func narrow(t *testing.T, where string, w *world, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > columns && !strings.Contains(line, "://") && !strings.Contains(line, w.dir) && !strings.Contains(line, os.TempDir()) {
			t.Errorf("%s: %d columns: %s", where, n, line)
		}
	}
}

func plain(t *testing.T, where, text string) {
	t.Helper()
	for _, r := range text {
		if r == '\x1b' || r == '\r' {
			t.Errorf("%s: holds %q: %q", where, r, text)
			return
		}
	}
}
