package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A process is one program of the control plane with a log file. It leads a separate
// process group.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed once it has ended
}

// start runs a program until the test ends, with the variables in addition to the
// test's. It shows the end of its log if the test failed; go test -artifacts keeps the
// full log. The program may use more memory before a garbage collection than Go's
// default of 100 %, which saves a quarter of the CPU of a control plane.
func start(t testing.TB, dir string, variables []string, binary string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(binary), done: make(chan struct{})}
	file, err := os.CreateTemp(t.ArtifactDir(), p.name+"-*.log") // a test may start a program twice
	if err != nil {
		t.Fatalf("create the log of %s: %v", p.name, err)
	}
	p.log = file.Name()
	p.cmd = exec.Command(binary, args...)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, file, file
	p.cmd.SysProcAttr = group()
	p.cmd.Env = append(append(os.Environ(), "GOGC=300"), variables...)
	err = p.cmd.Start()
	file.Close() // the program has its own handle
	if err != nil {
		t.Fatalf("start %s: %v", p.name, err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", p.name, p.tail(20))
		}
	})
	return p
}

// cpu returns the CPU time that the program has used so far. It is 0 on a machine without
// /proc.
func (p *process) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name of the program may have spaces
	var ticks int64
	for _, field := range strings.Fields(rest)[11:13] { // in user mode and in the kernel
		n, _ := strconv.ParseInt(field, 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// stop kills the full group at once, if it still runs. Nothing in it is needed later, and
// the log then ends with the test, not with an orderly shutdown.
func (p *process) stop() {
	if p.ended() != nil {
		return // another process may have its number by now
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// ended returns an error with the end of the log once the program has ended. No program
// of a control plane ends without an order.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("%s has ended: %s\n%s", p.name, p.cmd.ProcessState, p.tail(20))
	default:
		return nil
	}
}

// tail returns the last lines of the log.
func (p *process) tail(lines int) string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
