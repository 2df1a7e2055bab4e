// Command demo replays the simulated day, like "gitlatch demo". It does not contain the
// clients of AWS, Kubernetes and GitHub, so it builds in a fraction of the time.
//
//	go run ./scripts/demo
//	go run ./scripts/demo -dir FOLDER
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/gitlatch/gitlatch/internal/demo"
)

func main() {
	dir := flag.String("dir", "", "empty folder for the git repository and the state file (default a temporary folder)")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: unknown argument %q\n", flag.Arg(0))
		os.Exit(2)
	}
	err := demo.Run(context.Background(), demo.Options{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv, Dir: *dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	}
}
