package chart

import (
	"fmt"
	"os"
	"syscall"
)

// moreMapped is the address space that the process may map in addition to its start, in
// bytes: two blocks of Go's heap, which have 64 MiB each, and some small mappings. A limit
// of RLIMIT_DATA has no effect, because Go reserves address space before it uses it.
const moreMapped = 2*64<<20 + 32<<20

// restrict limits the memory and the CPU time of this process. If it fails, watch limits
// the memory, and the parent the time.
func restrict() {
	_ = syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: mostCPU, Max: mostCPU + 1})
	_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{})
	data, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return
	}
	var pages uint64
	if _, err := fmt.Sscan(string(data), &pages); err == nil {
		most := pages*uint64(os.Getpagesize()) + moreMapped
		_ = syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: most, Max: most})
	}
}
