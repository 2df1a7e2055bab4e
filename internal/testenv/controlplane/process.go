package controlplane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A process is one program of the control plane, the leader of a process group
// of its own, with a log file.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed once it has ended
}

// start runs a program until the test ends, with the variables in addition to
// those of the test, and shows the end of its log where
// the test failed; go test -artifacts keeps the whole log. A program takes more memory
// before it collects its garbage than Go's own 100 %: that is a quarter of what the
// programs of a control plane compute.
func start(t testing.TB, dir string, variables []string, binary string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(binary), done: make(chan struct{})}
	p.log = filepath.Join(t.ArtifactDir(), p.name+".log")
	file, err := os.Create(p.log)
	if err != nil {
		t.Fatalf("create the log of %s: %v", p.name, err)
	}
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

// stop ends the whole group at once: nothing of it is to be kept, and the end
// of the log then tells of the test, not of an orderly retreat.
func (p *process) stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
}

// ended returns an error with the end of the log once the program has ended,
// which no program of a control plane does by itself.
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
