package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/term/tty"
)

// readPast reads files of past scale, - being the standard input.
func readPast(env Env, files []string, show *tty.Progress) (*backtest.Past, error) {
	past := &backtest.Past{}
	for _, name := range files {
		if err := readFile(env, name, past, show); err != nil {
			return nil, err
		}
	}
	if past.Samples() == 0 {
		return nil, fmt.Errorf("%s: there is not one sample in it", strings.Join(files, ", "))
	}
	return past, past.Check()
}

func readFile(env Env, name string, past *backtest.Past, show *tty.Progress) (err error) {
	in := &counted{name: "standard input", from: env.stdin(), show: show}
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("past scale: %w", err)
		}
		defer closed(&err, f)
		in.name, in.from = name, f
		if info, err := f.Stat(); err == nil {
			in.all = info.Size()
		}
	}
	return read.Source(in.name, in, past)
}

// counted shows how far a file was read.
type counted struct {
	name      string
	from      io.Reader
	done, all int64
	said      int64 // megabytes
	show      *tty.Progress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.done += int64(n)
	if m := c.done >> 20; m > c.said || errors.Is(err, io.EOF) {
		c.said = m
		if c.all > 0 {
			c.show.Say("read %s: %d %% of %s", c.name, 100*c.done/c.all, size(c.all))
		} else {
			c.show.Say("read %s: %s", c.name, size(c.done))
		}
	}
	return n, err
}

// size is so many bytes as a person says it.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<20:
		return fmt.Sprintf("%d MB", bytes>>20)
	case bytes >= 1<<10:
		return fmt.Sprintf("%d KB", bytes>>10)
	}
	return term.Count(int(bytes), "byte")
}
