// Package skip skips tests on machines that lack what a test needs, and never in CI.
package skip

import (
	"os"
	"testing"
)

// Test skips the test with a reason, such as "needs make". If the environment variable CI
// is "true", Test fails the test instead: CI runs each test.
func Test(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("skipped in CI: "+format, args...)
	}
	t.Skipf(format, args...)
}
