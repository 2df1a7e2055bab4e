package main

import (
	"archive/tar"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

var build = struct{ version, revision, created string }{"v1.2.3", strings.Repeat("ab", 20), "2026-11-22T09:00:00Z"}

// assemble does the same as make image: it builds, then writes or pushes. It leaves out
// -trimpath, because Go would compile each package again.
func assemble(t *testing.T, dir, push string) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gitlatch")
	cmd := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, "./functions/gitlatch")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	of := Build{Version: build.version, Revision: build.revision}
	if err := run(of, build.created, dir, push, []string{runtime.GOARCH + "=" + binary}); err != nil {
		t.Fatal(err)
	}
}

func TestAnImageThatWasPushedIsReadBackAndRuns(t *testing.T) {
	server := httptest.NewServer(registry.New())
	t.Cleanup(server.Close)
	pushed := strings.TrimPrefix(server.URL, "http://") + "/platform/gitlatch:v1.2.3"
	layout := filepath.Join(t.TempDir(), "image")
	assemble(t, layout, pushed)

	reference, err := name.ParseReference(pushed)
	if err != nil {
		t.Fatal(err)
	}
	image, err := remote.Image(reference, remote.WithPlatform(v1.Platform{OS: "linux", Architecture: runtime.GOARCH}))
	if err != nil {
		t.Fatal(err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != "65532:65532" || len(c.Entrypoint) != 1 || c.Entrypoint[0] != "/gitlatch" || c.Labels["org.opencontainers.image.revision"] != build.revision {
		t.Errorf("configured is %+v", c)
	}
	root := t.TempDir()
	extract(t, image, root)
	trusted, err := os.ReadFile(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(trusted, []byte("BEGIN CERTIFICATE")); n < 100 || !x509.NewCertPool().AppendCertsFromPEM(trusted) {
		t.Errorf("%d roots of trust", n)
	}
	if said := start(t, root, c.Entrypoint[0], "help"); !strings.Contains(said, "gitlatch tick") && !strings.Contains(said, "tick ") {
		t.Errorf("it says %s", said)
	}
	if err := repush(layout, pushed+"-again"); err != nil {
		t.Fatal(err)
	}
	first, again := head(t, pushed), head(t, pushed+"-again")
	if first != again {
		t.Errorf("the image of the layout is %s, and the pushed image %s", again, first)
	}
	if index, err := os.ReadFile(filepath.Join(layout, "index.json")); err != nil || !bytes.Contains(index, []byte("application/vnd.oci.image.index.v1+json")) {
		t.Errorf("the layout is %s, error %v", index, err)
	}
}

// head returns the digest of a pushed image.
func head(t *testing.T, pushed string) v1.Hash {
	t.Helper()
	reference, err := name.ParseReference(pushed)
	if err != nil {
		t.Fatal(err)
	}
	of, err := remote.Head(reference)
	if err != nil {
		t.Fatal(err)
	}
	return of.Digest
}

// extract writes the content of the image to a folder.
func extract(t *testing.T, image v1.Image, root string) {
	t.Helper()
	all := mutate.Extract(image)
	defer all.Close()
	for r := tar.NewReader(all); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(root, h.Name)
		content, err := io.ReadAll(r)
		if err == nil && h.Typeflag == tar.TypeReg {
			if err = os.MkdirAll(filepath.Dir(path), 0o755); err == nil {
				err = os.WriteFile(path, content, h.FileInfo().Mode())
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// start runs a program of an image like an engine, without a variable. If the test runs
// as root, the image is the only file system, and the program runs as its user.
func start(t *testing.T, root string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(root, program), args...)
	if os.Getuid() == 0 {
		for dir := root; dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		cmd = exec.Command(program, args...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		cmd.Dir = "/"
	}
	cmd.Env = []string{}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, out)
	}
	return string(out)
}

func TestTheSameCommitIsTheSameImage(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "gitlatch")
	if err := os.WriteFile(binary, []byte("binary"), 0o755); err != nil {
		t.Fatal(err)
	}
	var digests []string
	for range 2 {
		index, err := Build{Version: "v1", Revision: build.revision}.Index([]string{"amd64=" + binary, "arm64=" + binary})
		if err != nil {
			t.Fatal(err)
		}
		digest, err := index.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest.String())
	}
	if digests[0] != digests[1] {
		t.Errorf("digests are %q", digests)
	}
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	for _, c := range []struct {
		created, dir, push string
		binaries           []string
		want               string
	}{
		{"2026-11-22T09:00:00Z", "", "", []string{"amd64=x"}, "give one of -o and -push"},
		{"yesterday", "d", "", []string{"amd64=x"}, "-created: "},
		{"2026-11-22T09:00:00Z", "d", "", nil, "name the binaries"},
		{"2026-11-22T09:00:00Z", "d", "", []string{"x"}, "x: must be ARCH=PATH"},
		{"2026-11-22T09:00:00Z", "d", "", []string{"amd64=nowhere"}, "image for amd64: "},
	} {
		if err := run(Build{}, c.created, c.dir, c.push, c.binaries); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
	if err := repush(t.TempDir(), "registry.example.com/gitlatch:v1"); err == nil || !strings.HasPrefix(err.Error(), "-from: ") {
		t.Errorf("error of an empty folder: %v", err)
	}
}
