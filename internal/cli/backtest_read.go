package cli

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gitlatch/gitlatch/internal/backtest"
	"github.com/gitlatch/gitlatch/internal/backtest/read"
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
		return nil, fmt.Errorf("%s: the data has no samples", strings.Join(files, ", "))
	}
	return past, past.Check()
}

func readFile(env Env, name string, past *backtest.Past, show *tty.Progress) (err error) {
	in := &counted{name: "standard input", from: env.In, show: show}
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

// counted shows how far a file was read, at each megabyte.
type counted struct {
	name      string
	from      io.Reader
	done, all int64 // bytes; all is 0 if it is not known
	show      *tty.Progress
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	before := c.done >> 20
	c.done += int64(n)
	switch now := c.done >> 20; {
	case now == before:
	case c.all > 0:
		c.show.Say("read %s: %d %% of %d MB", c.name, 100*c.done/c.all, c.all>>20)
	default:
		c.show.Say("read %s: %d MB", c.name, now)
	}
	return n, err
}
