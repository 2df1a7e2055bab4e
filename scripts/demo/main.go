// Command demo replays the simulated day, like "gitlatch demo". It does not contain the
// clients of AWS, Kubernetes and GitHub, so it builds in a fraction of the time.
//
//	go run ./scripts/demo
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/gitlatch/gitlatch/internal/demo"
)

func main() {
	err := demo.Run(context.Background(), demo.Options{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv})
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
}
