package controlplane

import "syscall"

// group gives a program a separate process group, and ends the program with the test
// binary, even if that is killed without a clean-up.
func group() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
