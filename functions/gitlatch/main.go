// Command gitlatch is the command line interface. It runs ticks, drills and restores,
// explains decisions, and shows the status of sites.
package main

import (
	"os"
	"time"

	"github.com/gitlatch/gitlatch/internal/build"
	"github.com/gitlatch/gitlatch/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Env{
		In:     os.Stdin,
		Out:    os.Stdout,
		Err:    os.Stderr,
		Getenv: os.Getenv,
		Clock:  time.Now,
		Build:  build.Read(),
	}, os.Args[1:]))
}
