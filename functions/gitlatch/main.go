// Command gitlatch is for people: it ticks, explains, renders, adopts, holds,
// restores, and shows what it does.
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
