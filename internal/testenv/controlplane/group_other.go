//go:build !linux

package controlplane

import "syscall"

// group gives a program a process group of its own.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
