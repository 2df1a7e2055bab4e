//go:build !linux

package controlplane

import "syscall"

// group gives a program a separate process group.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
