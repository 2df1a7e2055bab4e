// Command completions writes the completion scripts of gitlatch for a release. Its
// argument is the folder.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gitlatch/gitlatch/internal/cli"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string) error {
	root := cli.Commands(cli.Env{Getenv: func(string) string { return "" }})
	in := func(shell string) string { return filepath.Join(dir, "gitlatch."+shell) }
	return errors.Join(
		os.MkdirAll(dir, 0o755),
		root.GenBashCompletionFileV2(in("bash"), true),
		root.GenZshCompletionFile(in("zsh")),
		root.GenFishCompletionFile(in("fish"), true),
		root.GenPowerShellCompletionFileWithDesc(in("ps1")),
	)
}
