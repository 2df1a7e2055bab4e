// Command summary reads the output of go test -json, and prints a summary for users: a
// line for each package, the full output of a failed test, and at the end the failed
// tests, the skipped tests with the reason, and the number of tests.
//
//	go test -json ./... | go run ./scripts/summary
//
// It exits with 1 unless at least one test ran and none failed.
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
