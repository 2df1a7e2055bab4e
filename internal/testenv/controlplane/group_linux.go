package controlplane

import "syscall"

// group gives a program a process group of its own, and ends it with the test
// binary, also where that is killed and runs no clean-up.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
