package cli_test

import (
	"fmt"
	"os"
	"testing"
)

// The demos of the tests leave their folders in a folder that ends with the tests.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "gitlatch-cli-")
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}
