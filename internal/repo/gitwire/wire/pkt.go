package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// go-git's reader of pkt-lines returns an error for the delimiter of protocol version 2.
// This reader supports it.

// A packet is one pkt-line. Special packets have no payload.
type packet struct {
	kind    packetKind
	payload []byte // valid until the next packet is read
}

type packetKind int

const (
	data packetKind = iota
	flush
	delimiter
)

// line returns the payload as text.
func (p packet) line() string { return strings.TrimSuffix(string(p.payload), "\n") }

type packets struct {
	r   io.Reader
	buf []byte
}

// A serverError is an error message that the server sent in the protocol.
type serverError struct{ words string }

func (e *serverError) Error() string { return "the server says: " + e.words }

var errNotGit = errors.New("the answer is not git's protocol")

// next reads a packet. It returns io.ErrUnexpectedEOF if the answer ends: a complete
// answer ends with a flush packet.
func (p *packets) next() (packet, error) {
	var head [4]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return packet{}, early(err)
	}
	size, err := strconv.ParseUint(string(head[:]), 16, 16)
	switch {
	case err != nil || size == 3:
		return packet{}, errNotGit
	case size == 0:
		return packet{kind: flush}, nil
	case size < 3:
		return packet{kind: delimiter}, nil
	}
	if n := int(size) - 4; cap(p.buf) < n {
		p.buf = make([]byte, n)
	}
	payload := p.buf[:size-4]
	if _, err := io.ReadFull(p.r, payload); err != nil {
		return packet{}, early(err)
	}
	if words, ok := bytes.CutPrefix(payload, []byte("ERR ")); ok {
		return packet{}, &serverError{sanitize.Answer(string(words))}
	}
	return packet{payload: payload}, nil
}

func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errEarly
	}
	return err
}

var errEarly = fmt.Errorf("the answer was cut short: %w", io.ErrUnexpectedEOF)

// A band reads channel 1 of a side-band stream until the flush packet, and stores the
// messages of the server on channel 2.
type band struct {
	*packets
	rest  []byte
	words words
	done  bool
}

func (b *band) Read(into []byte) (int, error) {
	for len(b.rest) == 0 {
		if b.done {
			return 0, io.EOF
		}
		p, err := b.next()
		if err != nil {
			return 0, err
		}
		if err := b.take(p); err != nil {
			return 0, err
		}
	}
	n := copy(into, b.rest)
	b.rest = b.rest[n:]
	return n, nil
}

// take reads one packet of the stream. Version 0 sends the packets before the pack
// outside of the channels.
func (b *band) take(p packet) error {
	if p.kind != data || len(p.payload) == 0 {
		b.done = true
		return nil
	}
	switch channel, rest := p.payload[0], p.payload[1:]; channel {
	case 1:
		b.rest = rest
	case 2:
		_, _ = b.words.Write(rest) // never fails
	case 3:
		return &serverError{sanitize.Answer(string(rest))}
	default:
		if !bytes.HasPrefix(p.payload, []byte("NAK")) && !bytes.HasPrefix(p.payload, []byte("ACK ")) {
			return errNotGit
		}
	}
	return nil
}

// A Request is the body of a request in pkt-lines.
type Request struct{ bytes.Buffer }

// Linef adds a line.
func (r *Request) Linef(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	fmt.Fprintf(r, "%04x%s", len(line)+4, line)
}

func (r *Request) delimiter() { r.WriteString("0001") }
func (r *Request) Flush()     { r.WriteString("0000") }
