//go:build gitops

package rebuild

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// used returns the CPU time of the programs of the control plane so far, and of the test,
// by name. It is empty on a machine that does not report it.
func (c *cluster) used() map[string]time.Duration {
	all := c.cp.CPU()
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err == nil && len(all) > 0 {
		all["this test"] = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	}
	return all
}

// cpuText returns the CPU time that each program used between two readings, as a line.
func cpuText(before, after map[string]time.Duration) string {
	if len(after) == 0 {
		return ""
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(after)) {
		texts = append(texts, fmt.Sprintf("%s %.0f s", name, (after[name]-before[name]).Seconds()))
	}
	return "  CPU until then: " + strings.Join(texts, ", ") + "\n"
}

// profiling is the time of a CPU profile.
const profiling = time.Minute

// profile takes a CPU profile of the API server from now on, if a flag names a folder. The
// test ends after the profile.
func (c *cluster) profile(t *testing.T, name string) {
	t.Helper()
	if *profiles == "" {
		return
	}
	must(t, os.MkdirAll(*profiles, 0o755))
	file := filepath.Join(*profiles, fmt.Sprintf("apiserver-%s-%d.pprof", name, c.form.pods))
	written := make(chan error, 1)
	go func() {
		profile, err := c.cp.Profile(context.WithoutCancel(t.Context()), profiling)
		if err == nil {
			err = os.WriteFile(file, profile, 0o600)
		}
		written <- err
	}()
	t.Cleanup(func() {
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
}
