package gitserver

import (
	"cmp"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// An SSH is a server of origins over SSH, on loopback, until the test ends: the
// protocol is x/crypto's, what answers is git's own upload-pack and receive-pack.
// The knobs may be turned while it runs.
type SSH struct {
	// Key is the private half of the deploy key that the server lets in, in PEM.
	Key []byte

	root     string
	listener net.Listener

	mu     sync.Mutex
	host   []ssh.Signer
	letIn  ssh.PublicKey
	onlyV0 bool
	hang   Stage
	before func(service string) bool
	asked  []string
	open   map[net.Conn]bool
	served sync.WaitGroup
}

// A Stage is how far a server gets that hangs.
type Stage int

// The stages.
const (
	Never       Stage = iota // it does not hang
	AtOnce                   // it accepts the connection and sends nothing
	AfterLogin               // it lets the client in and starts no service
	InTheAnswer              // it starts the service and forwards no output
)

// StartSSH starts a server without repositories, with a host key of ed25519.
func StartSSH(t testing.TB) *SSH {
	t.Helper()
	key, signer := NewKey(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &SSH{Key: key, root: t.TempDir(), listener: listener, letIn: signer.PublicKey(), open: map[net.Conn]bool{}}
	s.Rekey(t)
	s.served.Go(s.accept)
	t.Cleanup(func() {
		listener.Close()
		s.set(func() {
			for conn := range s.open {
				conn.Close()
			}
		})
		s.served.Wait()
	})
	return s
}

// NewKey makes a key of ed25519: its private half in PEM, and what signs by it.
func NewKey(t testing.TB) ([]byte, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return PEM(t, private), signer(t, private)
}

// PEM is a private key as OpenSSH writes it.
func PEM(t testing.TB, private crypto.PrivateKey) []byte {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block)
}

// Public is the public half of a key, as "ssh-ed25519 AAAA...".
func Public(key ssh.Signer) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key.PublicKey())))
}

func signer(t testing.TB, private crypto.PrivateKey) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Rekey replaces the host keys with the given private keys, or with a new ed25519 key.
func (s *SSH) Rekey(t testing.TB, private ...crypto.PrivateKey) {
	t.Helper()
	var keys []ssh.Signer
	for _, key := range private {
		keys = append(keys, signer(t, key))
	}
	if keys == nil {
		_, key := NewKey(t)
		keys = []ssh.Signer{key}
	}
	s.set(func() { s.host = keys })
}

// HostKeys are the host's keys, each as "ssh-ed25519 AAAA...".
func (s *SSH) HostKeys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, key := range s.host {
		lines = append(lines, Public(key))
	}
	return lines
}

// LetIn makes the server accept only the owner of another key.
func (s *SSH) LetIn(key ssh.PublicKey) { s.set(func() { s.letIn = key }) }

// OnlyV0 makes the server one that takes no version of git's protocol.
func (s *SSH) OnlyV0(on bool) { s.set(func() { s.onlyV0 = on }) }

// Hang makes the server hang at a stage.
func (s *SSH) Hang(at Stage) { s.set(func() { s.hang = at }) }

// Before runs f before each service. Where f is false, the service does its work
// and the connection is cut before the client has an answer.
func (s *SSH) Before(f func(service string) bool) { s.set(func() { s.before = f }) }

// Addr is host:port.
func (s *SSH) Addr() string { return s.listener.Addr().String() }

// URL returns the address of a repository.
func (s *SSH) URL(repo string) string { return "ssh://git@" + s.Addr() + "/" + repo + ".git" }

// Create makes a repository to serve. See NewOrigin.
func (s *SSH) Create(t testing.TB, repo string, files map[string]string) *Origin {
	t.Helper()
	o := NewOrigin(t, filepath.Join(s.root, repo+".git"), files)
	o.Config(t, "uploadpack.allowFilter", "true")
	return o
}

// Asked returns the commands that were run since the start or the last Reset,
// each with the version of the protocol in front: "v2 git-upload-pack '/shop.git'".
func (s *SSH) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Reset forgets the commands run so far.
func (s *SSH) Reset() { s.set(func() { s.asked = nil }) }

func (s *SSH) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *SSH) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.set(func() { s.open[conn] = true })
		s.served.Go(func() {
			s.serve(conn)
			conn.Close()
			s.set(func() { delete(s.open, conn) })
		})
	}
}

func (s *SSH) serve(conn net.Conn) {
	s.mu.Lock()
	config := &ssh.ServerConfig{PublicKeyCallback: s.login}
	for _, key := range s.host {
		config.AddHostKey(key)
	}
	hang := s.hang
	s.mu.Unlock()
	if hang == AtOnce {
		_, _ = io.Copy(io.Discard, conn)
		return
	}
	_, channels, requests, err := ssh.NewServerConn(conn, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for channel := range channels {
		if hang != AfterLogin {
			s.session(conn, channel)
		}
	}
}

func (s *SSH) login(who ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if who.User() != "git" || string(key.Marshal()) != string(s.letIn.Marshal()) {
		return nil, errors.New("not let in")
	}
	return nil, nil
}

// session answers one command.
func (s *SSH) session(conn net.Conn, channel ssh.NewChannel) {
	stream, requests, err := channel.Accept()
	if err != nil {
		return
	}
	defer stream.Close()
	version := ""
	for request := range requests {
		switch request.Type {
		case "env":
			var set struct{ Name, Value string }
			s.mu.Lock()
			taken := !s.onlyV0 && ssh.Unmarshal(request.Payload, &set) == nil && set.Name == "GIT_PROTOCOL"
			s.mu.Unlock()
			if taken {
				version = set.Value
			}
			_ = request.Reply(taken, nil)
		case "exec":
			var run struct{ Command string }
			if ssh.Unmarshal(request.Payload, &run) != nil {
				return
			}
			_ = request.Reply(true, nil)
			if s.run(stream, run.Command, version) {
				conn.Close()
			}
			return
		default:
			_ = request.Reply(false, nil)
		}
	}
}

// run runs a command as a login shell of git's would, and reports whether the
// connection is to be cut.
func (s *SSH) run(stream ssh.Channel, command, version string) (cut bool) {
	service, path, _ := strings.Cut(command, " ")
	path = strings.Trim(path, "'")
	s.mu.Lock()
	hang, before := s.hang, s.before
	s.asked = append(s.asked, "v"+cmp.Or(strings.TrimPrefix(version, "version="), "0")+" "+command)
	s.mu.Unlock()
	if service != "git-upload-pack" && service != "git-receive-pack" {
		return true
	}
	cut = before != nil && !before(service)
	out := &partly{w: stream, only: cut || hang == InTheAnswer, done: hang == InTheAnswer}
	cmd := exec.Command("git", strings.TrimPrefix(service, "git-"), filepath.Join(s.root, filepath.FromSlash(path)))
	cmd.Env = append(Environ(), "GIT_PROTOCOL="+version)
	cmd.Stdout, cmd.Stderr = out, stream.Stderr()
	stdin, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return true
	}
	go func() {
		_, _ = io.Copy(stdin, stream)
		stdin.Close()
	}()
	status := 0
	if cmd.Wait() != nil {
		status = cmd.ProcessState.ExitCode()
	}
	if hang == InTheAnswer {
		_, _ = io.Copy(io.Discard, stream)
	}
	if !cut {
		_, _ = stream.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
	}
	return cut
}

// partly forwards everything, or only the bytes before the answer: the advertisement,
// which git ends with a flush.
type partly struct {
	w          io.Writer
	only, done bool
}

func (p *partly) Write(b []byte) (int, error) {
	if p.done {
		return len(b), nil
	}
	p.done = p.only && strings.HasSuffix(string(b), "0000")
	return p.w.Write(b)
}
