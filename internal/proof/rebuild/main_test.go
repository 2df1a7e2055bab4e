package rebuild

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain lets more tests run at once than the machine has cores: what they do
// is wait.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
