package controlplane_test

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// In 600 independent draws, eight ports would be repeated.
func TestNoPortIsGivenTwice(t *testing.T) {
	given := map[string]bool{}
	for range 600 {
		port := controlplane.Ports(t, 1)[0]
		if given[port] {
			t.Fatalf("%s was given before, and whoever has it may not use it yet", port)
		}
		given[port] = true
	}
}
