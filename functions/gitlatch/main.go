// Command gitlatch is for people: it ticks, explains, renders, adopts, holds,
// restores, and shows what it does.
package main

import (
	"os"
	"runtime/debug"
	"time"

	"github.com/gitlatch/gitlatch/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Env{
		In:      os.Stdin,
		Out:     os.Stdout,
		Err:     os.Stderr,
		Getenv:  os.Getenv,
		Clock:   time.Now,
		Version: version(),
	}, os.Args[1:]))
}

// version is what the module was built as.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
