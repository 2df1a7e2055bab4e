package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
)

// overSSH is the transport to a server that speaks git over SSH. Like git, it opens a
// connection for each request.
type overSSH struct {
	address Address
	key     ssh.Signer
	trust   trust
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o *overSSH) String() string { return o.address.String() }

var errOld = errors.New("the server speaks version 0 of git's protocol")

func (o *overSSH) Get(ctx context.Context, service string) (io.ReadCloser, error) {
	c, err := o.call(ctx, service, service == uploadPack)
	if err != nil {
		return nil, silence{err}
	}
	return c, nil
}

// Post reads the advertisement, which over SSH comes before each answer, and then sends
// the request. It sends no request to a server that speaks another version.
func (o *overSSH) Post(ctx context.Context, service string, body *Request, v2 bool) (io.ReadCloser, error) {
	c, err := o.call(ctx, service, v2)
	if err != nil {
		return nil, silence{err}
	}
	old, err := c.skipAdvertisement()
	switch {
	case err != nil:
		err = silence{err}
	case v2 && old:
		err = errOld
	default:
		_, err = c.in.Write(body.Bytes())
	}
	if err != nil {
		_ = c.Close() // the other error is the reason
		return nil, err
	}
	return c, nil
}

// call connects, logs in and starts a service. Before the host proves that its key is
// pinned, call sends only the SSH handshake.
func (o *overSSH) call(ctx context.Context, service string, v2 bool) (*conversation, error) {
	conn, err := o.dial(ctx, "tcp", o.address.dial())
	if err != nil {
		return nil, err
	}
	c := converse(ctx, conn)
	if err := o.start(c, service, v2); err != nil {
		err = c.why(err)
		_ = c.Close() // the other error is the reason
		return nil, err
	}
	return c, nil
}

func (o *overSSH) start(c *conversation, service string, v2 bool) error {
	trusted := false
	login, chans, reqs, err := ssh.NewClientConn(c.watched, o.address.dial(), &ssh.ClientConfig{
		User:              o.address.user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(o.key)},
		HostKeyAlgorithms: o.trust.algorithms,
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			err := o.trust.check(o.address, key)
			trusted = err == nil
			return err
		},
	})
	var none *ssh.AlgorithmNegotiationError
	switch {
	case err != nil && trusted && c.why(nil) == nil:
		return fmt.Errorf("the server rejects %s with the key %s. Check that its public key is a deploy key of the repository (%w)",
			o.address.user, ssh.FingerprintSHA256(o.key.PublicKey()), err)
	case errors.As(err, &none):
		return fmt.Errorf("%w. The pinned host keys are of %s. Pin a key of a type that the host has", err, strings.Join(o.trust.algorithms, ", "))
	case err != nil:
		return err
	}
	session, err := ssh.NewClient(login, chans, reqs).NewSession()
	if err != nil {
		return err
	}
	if v2 {
		_ = session.Setenv("GIT_PROTOCOL", "version=2") // a server that ignores it speaks version 0
	}
	return c.begin(session, service+" "+o.address.quoted())
}

// A conversation is one connection to a service. The service ends with the connection.
type conversation struct {
	watched *watched
	ctx     context.Context
	cancel  context.CancelCauseFunc

	session *ssh.Session
	in      io.Writer
	out     io.Reader
	words   words // messages of the service outside of git's protocol
}

// converse starts to watch a connection. It closes the connection if the context is done
// or the server stalls.
func converse(ctx context.Context, conn net.Conn) *conversation {
	ctx, cancel := context.WithCancelCause(ctx)
	context.AfterFunc(ctx, func() { _ = conn.Close() }) // the failed read returns the cause
	return &conversation{watched: &watched{conn, pace{from: conn, giveUp: cancel}}, ctx: ctx, cancel: cancel}
}

// A watched connection is closed if the server stalls.
type watched struct {
	net.Conn
	pace pace
}

func (w *watched) Read(b []byte) (int, error) { return w.pace.Read(b) }

func (c *conversation) begin(session *ssh.Session, command string) (err error) {
	c.session = session
	session.Stderr = &c.words
	if c.in, err = session.StdinPipe(); err != nil {
		return err
	}
	if c.out, err = session.StdoutPipe(); err != nil {
		return err
	}
	return session.Start(command)
}

// skipAdvertisement reads to the end of the advertisement, and reports whether it has
// protocol version 0.
func (c *conversation) skipAdvertisement() (old bool, err error) {
	in := &packets{r: c}
	p, err := in.next()
	old = p.line() != "version 2"
	for err == nil && p.kind != flush {
		p, err = in.next()
	}
	return old, err
}

// Read reads the answer of the service. If the service failed, the error has its message.
func (c *conversation) Read(b []byte) (int, error) {
	n, err := c.out.Read(b)
	if err == nil || n > 0 {
		return n, nil
	}
	if errors.Is(err, io.EOF) {
		if ended := c.session.Wait(); ended != nil {
			err = ended
		}
	}
	var exit *ssh.ExitError
	if words := c.words.String(); errors.As(err, &exit) && words != "" {
		err = &serverError{words}
	}
	return 0, c.why(err)
}

// why returns the reason why this side closed the connection, or err.
func (c *conversation) why(err error) error {
	if cause := context.Cause(c.ctx); cause != nil {
		return cause
	}
	return err
}

// Close ends the connection.
func (c *conversation) Close() error {
	c.cancel(context.Canceled)
	return nil
}

// words stores the first sanitize.MostAnswer bytes that are written to it.
type words struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text.Write(b[:min(len(b), sanitize.MostAnswer-w.text.Len())])
	return len(b), nil
}

func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sanitize.Answer(w.text.String())
}
