package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// readPast reads files of past replica counts. The name "-" is the standard input.
func readPast(env Env, files []string, show *tty.Progress) (*backtest.Past, error) {
	past := &backtest.Past{}
	for _, name := range files {
		if err := readFile(env, name, past, show); err != nil {
			return nil, err
		}
	}
	if past.Samples() == 0 {
		return nil, fmt.Errorf("%s: the data has no samples", strings.Join(files, ", "))
	}
	return past, past.Check()
}

func readFile(env Env, name string, past *backtest.Past, show *tty.Progress) (err error) {
	if name == "-" {
		return read.Source("standard input", env.In, past)
	}
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read the past replica counts: %w. Give the path of an existing file, or - for the standard input", err)
	}
	defer closed(&err, f)
	show.Say("reading %s", name)
	return read.Source(name, f, past)
}
