package chart_test

import (
	"os"
	"syscall"
)

// peak returns the peak of a process's resident memory, in bytes.
func peak(state *os.ProcessState) int64 {
	return state.SysUsage().(*syscall.Rusage).Maxrss << 10
}
