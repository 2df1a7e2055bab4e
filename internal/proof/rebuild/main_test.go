//go:build gitops

package rebuild

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain runs more tests at once than the machine has cores, because they mostly
// wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
