package program_test

import (
	"strconv"
	"syscall"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

func TestProgramEndsWithItsTest(t *testing.T) {
	t.Parallel()
	var pid int
	t.Run("serve", func(t *testing.T) {
		line := program.Serve(t, t.TempDir(), "sh", "-c", "echo $$; exec cat")
		var err error
		if pid, err = strconv.Atoi(line); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); err != nil {
			t.Errorf("it does not run: %v", err)
		}
	})
	if err := syscall.Kill(pid, 0); err == nil {
		t.Error("it outlived its test")
	}
}
