package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A Result is the outcome for one mutant.
type Result string

// The outcomes for a mutant.
const (
	Caught   Result = "caught"    // a test failed, or used its time
	Survived Result = "survived"  // all tests passed
	NotBuilt Result = "not built" // the mutant does not compile, and does not count
)

// A module is a Go module with mutants.
type module struct {
	root    string
	name    string
	runs    []run                    // the runs of test binaries, in their order
	depends map[string][]string      // a folder with tests, and all packages in its test binary
	dir     string                   // a temporary folder with the build of all mutants
	used    map[string]time.Duration // the processor time of each run without a mutant, by folder
	unfit   map[string]bool          // the folders whose tests fail in the build with all mutants
}

// A run is a run of the test binary of a folder.
type run struct {
	folder string
	args   []string
}

// load lists the packages of the module, and orders their tests: first the tests of the
// folders in first, then the runs in extra, then all other tests.
func load(ctx context.Context, root string, first []string, extra []run) (*module, error) {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	m := &module{root: root, depends: map[string][]string{}, dir: dir, used: map[string]time.Duration{}, unfit: map[string]bool{}}
	name, err := m.command(ctx, "go", "list", "-m").Output()
	if err != nil {
		return nil, fmt.Errorf("read the name of the module: %w", err)
	}
	m.name = strings.TrimSpace(string(name))
	out, err := m.command(ctx, "go", "list", "-test", "-f", `{{.ImportPath}} {{join .Deps " "}}`, "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("list the packages of the tests: %w", err)
	}
	var others []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if folder, tests := strings.CutSuffix(fields[0], ".test"); tests {
			folder = strings.TrimPrefix(folder, m.name+"/")
			m.depends[folder] = fields
			if !slices.Contains(first, folder) {
				others = append(others, folder)
			}
		}
	}
	for _, folder := range first {
		m.runs = append(m.runs, run{folder: folder})
	}
	m.runs = append(m.runs, extra...)
	for _, folder := range others {
		m.runs = append(m.runs, run{folder: folder})
	}
	return m, nil
}

// exports returns an importer of the packages that the folders import.
func (m *module) exports(ctx context.Context, folders []string) (types.Importer, error) {
	args := []string{"go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}
	for _, folder := range folders {
		args = append(args, "./"+folder)
	}
	out, err := m.command(ctx, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("build the packages: %w", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[name] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(name string) (io.ReadCloser, error) { return os.Open(files[name]) }), nil
}

// candidates returns the candidates of the folders, and prepares their build. The id of a
// candidate is its index and 1, since 0 is the original.
func (m *module) candidates(ctx context.Context, folders []string) ([]candidate, error) {
	from, err := m.exports(ctx, folders)
	if err != nil {
		return nil, err
	}
	var all []candidate
	for _, folder := range folders {
		found, err := candidates(m.root, folder, from)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, m.prepare(all)
}

// overlay writes the files of an overlay, by their paths in the module, to dir.
func (m *module) overlay(dir string, files map[string][]byte) error {
	replace := map[string]string{}
	for name, text := range files {
		written := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		replace[filepath.Join(m.root, filepath.FromSlash(name))] = written
		err := os.WriteFile(written, text, 0o600)
		if err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600)
}

// prepare writes the overlay with all candidates that are not constants.
func (m *module) prepare(all []candidate) error {
	byFile := map[string]map[int]candidate{}
	for i, c := range all {
		if c.form == constant {
			continue
		}
		if byFile[c.File] == nil {
			byFile[c.File] = map[int]candidate{}
		}
		byFile[c.File][i+1] = c
	}
	files := map[string][]byte{}
	for name, of := range byFile {
		text, err := os.ReadFile(filepath.Join(m.root, name))
		if err != nil {
			return err
		}
		files[name] = together(text, of)
		folder := path.Dir(name)
		files[folder+"/mutant_selector.go"] = fmt.Appendf(nil, selector, path.Base(folder))
	}
	return m.overlay(m.dir, files)
}

// try runs the tests with one mutant. by is the run and the test that caught it.
func (m *module) try(ctx context.Context, id int, c candidate) (_ Result, by string, err error) {
	dir := m.dir
	folder := path.Dir(c.File)
	if c.form == constant {
		dir, err = os.MkdirTemp("", "mutant")
		if err != nil {
			return "", "", err
		}
		defer os.RemoveAll(dir)
		text, err := os.ReadFile(filepath.Join(m.root, c.File))
		if err != nil {
			return "", "", err
		}
		err = m.overlay(dir, map[string][]byte{c.File: c.in(text)})
		if err != nil {
			return "", "", err
		}
		if m.command(ctx, "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "./"+folder).Run() != nil {
			return NotBuilt, "", ctx.Err()
		}
	}
	for _, r := range m.runs {
		if !slices.Contains(m.depends[r.folder], m.name+"/"+folder) {
			continue
		}
		by, err = m.test(ctx, dir, id, r)
		if by != "" || err != nil {
			return Caught, by, err
		}
	}
	return Survived, "", nil
}

// test runs a test binary with a mutant until a test fails.
func (m *module) test(ctx context.Context, dir string, id int, r run) (failed string, err error) {
	limit, err := m.limit(ctx, r)
	if err != nil || m.unfit[r.folder] {
		return "", err
	}
	binary, err := m.build(ctx, dir, r.folder)
	if err != nil {
		return "", err
	}
	failed, _, err = m.start(ctx, binary, id, r, limit)
	return failed, err
}

// limit returns the processor time for a run, which ends a mutant that never ends: 10 s, and
// five times the time of the original. It prints a folder whose tests fail with the original,
// for example because they read source files that only the overlay has.
// example because they read source files that only the overlay has.
func (m *module) limit(ctx context.Context, r run) (time.Duration, error) {
	used, known := m.used[r.folder]
	if !known {
		binary, err := m.build(ctx, m.dir, r.folder)
		if err != nil {
			return 0, err
		}
		var failed string
		failed, used, err = m.start(ctx, binary, 0, r, time.Hour)
		if err != nil {
			return 0, err
		}
		if failed != "" {
			fmt.Printf("left out: %s fails without a mutant\n", failed)
			m.unfit[r.folder] = true
		}
		m.used[r.folder] = used
	}
	return 10*time.Second + 5*used, nil
}

// build returns the test binary of a folder with the overlay in dir, which it builds once.
func (m *module) build(ctx context.Context, dir, folder string) (string, error) {
	binary := filepath.Join(dir, strings.ReplaceAll(folder, "/", "_")+".test")
	_, err := os.Stat(binary)
	if err == nil {
		return binary, nil
	}
	overlay := filepath.Join(dir, "overlay.json")
	out, err := m.command(ctx, "go", "test", "-overlay", overlay, "-vet=off", "-c", "-o", binary, "./"+folder).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the tests of %s: %w: %s", folder, err, out)
	}
	return binary, nil
}

// limited runs a command with a limit of processor time in seconds, and of 4 GiB of memory.
const limited = `ulimit -t "$0" -d 4194304; exec "$@"`

// start runs a test binary with a mutant until a test fails. failed is the run and the test;
// used is the processor time.
func (m *module) start(ctx context.Context, binary string, id int, r run, limit time.Duration) (failed string, used time.Duration, err error) {
	dir := filepath.Dir(binary)
	temporary, err := os.MkdirTemp(dir, "run")
	if err != nil {
		return "", 0, err
	}
	defer os.RemoveAll(temporary)
	args := []string{"bash", "-c", limited, fmt.Sprint(int(limit.Seconds())), binary, "-test.v", "-test.failfast", "-test.parallel=8", "-test.timeout=10m"}
	cmd := m.command(ctx, append(args, r.args...)...)
	cmd.Dir = filepath.Join(m.root, r.folder)
	flags := os.Getenv("GOFLAGS") + " -overlay=" + filepath.Join(dir, "overlay.json") // of tests that build programs
	cmd.Env = append(os.Environ(), "TMPDIR="+temporary, fmt.Sprintf("MUTANT=%d", id), "GOFLAGS="+flags)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", 0, err
	}
	err = cmd.Start()
	if err != nil {
		return "", 0, err
	}
	test := firstFailure(out)
	if test != "" {
		_ = cmd.Cancel() // it may have ended
	}
	err = cmd.Wait()
	used = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if ctx.Err() != nil || err == nil && test == "" {
		return "", used, ctx.Err()
	}
	return strings.TrimSpace(r.folder + " " + test), used, nil
}

// firstFailure reads the output of a test binary until a test fails, and returns its name.
func firstFailure(out io.Reader) string {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		_, test, failed := strings.Cut(line, "--- FAIL: ")
		if failed {
			test, _, _ = strings.Cut(test, " ")
			return test
		}
		if err != nil {
			return ""
		}
	}
}

// command returns a command whose processes end with it.
func (m *module) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = m.root
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd
}
