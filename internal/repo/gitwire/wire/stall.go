package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// slowest is the number of bytes that an answer must bring within AnswerWithin, unless it
// ends. While hooks run, git sends a few bytes now and then. They do not extend the time.
const slowest = 1000

var errStalled = fmt.Errorf("the server stalled: it sent less than %d bytes in %s", slowest, AnswerWithin)

// A pace is a reader that calls giveUp if it is too slow. The time starts with the first
// read and stops at the end of the stream.
type pace struct {
	from   io.Reader
	giveUp func(error)
	timer  *time.Timer // nil before the first read
	said   int         // bytes since the timer started
}

func (p *pace) Read(b []byte) (int, error) {
	if p.timer == nil {
		p.timer = time.AfterFunc(AnswerWithin, func() { p.giveUp(errStalled) })
	}
	n, err := p.from.Read(b)
	p.said += n
	if p.said >= slowest {
		p.timer.Reset(AnswerWithin)
		p.said = 0
	}
	if err != nil {
		p.timer.Stop()
	}
	return n, err
}

// A body is the body of an HTTP response. Reading fails if it stalls.
type body struct {
	pace
	io.Closer
	ctx  context.Context // context of the request
	done context.CancelCauseFunc
}

func (b *body) Read(into []byte) (int, error) {
	n, err := b.pace.Read(into)
	if err != nil && errors.Is(context.Cause(b.ctx), errStalled) {
		err = silence{errStalled}
	}
	return n, err
}

// Close reads the rest of the body, so the connection can be used again.
func (b *body) Close() error {
	defer b.done(nil)
	_, _ = io.CopyN(io.Discard, b, 64<<10) // otherwise the transport closes the connection
	return b.Closer.Close()
}
