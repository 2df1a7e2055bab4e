// Command summary reads what go test -json writes, and says what a person wants
// to know of it: a line a package, all that a failing test wrote, and at the end
// what failed, what was skipped and why, and how many tests there were.
//
//	go test -json ./... | go run ./scripts/summary
//
// It exits with 1 unless something was tested and nothing failed.
package main

import (
	"fmt"
	"os"
)

func main() {
	s, err := read(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Print(s)
	if strict := os.Getenv("CI") == "true"; !s.good(strict) {
		if strict && len(s.skipped) > 0 {
			fmt.Fprintln(os.Stderr, "in CI no test may be skipped")
		}
		os.Exit(1)
	}
}
