package main

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// A Build is the source of the binaries.
type Build struct {
	Version, Revision string
	Created           time.Time // of the commit, so the same commit gives the same image
}

// user is the user and the group. It is not root, and not an account of a host.
const user = "65532:65532"

// Index returns the image for all platforms. Each binary is ARCH=PATH.
func (b Build) Index(binaries []string) (v1.ImageIndex, error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	if len(binaries) == 0 {
		return nil, fmt.Errorf("name the binaries: amd64=PATH arm64=PATH")
	}
	for _, named := range binaries {
		arch, path, ok := strings.Cut(named, "=")
		if !ok {
			return nil, fmt.Errorf("%s: must be ARCH=PATH, as amd64=bin/gitlatch", named)
		}
		image, err := b.image(arch, path)
		if err != nil {
			return nil, fmt.Errorf("image for %s: %w", arch, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	return mutate.Annotations(index, b.labels()).(v1.ImageIndex), nil
}

func (b Build) labels() map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":    "gitlatch",
		prefix + "source":   "https://github.com/gitlatch/gitlatch",
		prefix + "licenses": "Apache-2.0",
		prefix + "version":  b.Version,
		prefix + "revision": b.Revision,
		prefix + "created":  b.Created.UTC().Format(time.RFC3339),
	}
}

// image returns the image of one platform. It contains only the binary, the trusted
// root certificates and a folder for temporary files. It runs with a read-only root
// file system.
func (b Build) image(arch, path string) (v1.Image, error) {
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, held := range [][]file{
		{{"etc/ssl/certs/ca-certificates.crt", 0o644, roots()}, {"tmp/", 0o1777, nil}}, // this layer seldom changes
		{{"gitlatch", 0o755, binary}},
	} {
		layer, err := b.layer(held)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.AppendLayers(image, layer); err != nil {
			return nil, err
		}
	}
	configured, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	configured.OS, configured.Architecture, configured.Created = "linux", arch, v1.Time{Time: b.Created.UTC()}
	configured.Config = v1.Config{User: user, Entrypoint: []string{"/gitlatch"}, WorkingDir: "/", Labels: b.labels()}
	return mutate.ConfigFile(image, configured)
}

// A file is a file in a layer. A name with a slash at its end is a folder.
type file struct {
	name    string
	mode    int64
	content []byte
}

func (b Build) layer(files []file) (v1.Layer, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range files {
		err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content)), ModTime: b.Created.UTC(), Format: tar.FormatPAX})
		if err == nil {
			_, err = w.Write(f.content)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
}

// roots returns the root certificates of Mozilla, as PEM. It omits a root that Mozilla
// trusts only under conditions, because PEM cannot express conditions.
func roots() []byte {
	var all bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			pem.Encode(&all, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return all.Bytes()
}
