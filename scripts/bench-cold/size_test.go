package main

import "testing"

// Lambda loads the archive before it starts anything. A library that grew, or
// one that keeps the linker from dropping what nobody calls, shows here.
const mostBytes = 10_000_000

func TestTheDeployedFunctionIsSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds all for arm64, which -short leaves out: run the test without -short")
	}
	size, err := zipped(t.Context(), "../..", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if size > mostBytes {
		t.Errorf("the archive has %d bytes, want at most %d", size, mostBytes)
	}
}
