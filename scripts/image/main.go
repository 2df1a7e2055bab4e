// Command image writes the container image of gitlatch as an OCI layout, or pushes it
// to a registry, without a Docker engine. make image builds its inputs:
//
//	image -o DIR -version V -revision R -created 2026-11-22T09:00:00Z amd64=PATH arm64=PATH
//	image -push registry.example.com/platform/gitlatch:v1.2.3 ... amd64=PATH arm64=PATH
//	image -push registry.example.com/platform/gitlatch:v1.2.3 -from DIR
//
// A push logs in as docker and podman do: by ~/.docker/config.json and its helpers.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	var of Build
	dir := flag.String("o", "", "write an OCI layout to this folder, which must not be there yet")
	push := flag.String("push", "", "push to this reference, with its tag")
	from := flag.String("from", "", "push the image of the OCI layout in this folder, and build none")
	flag.StringVar(&of.Version, "version", "", "version of the binaries")
	flag.StringVar(&of.Revision, "revision", "", "commit that they are built from")
	created := flag.String("created", "", "time of that commit, as RFC 3339")
	flag.Parse()
	publish := func() error { return run(of, *created, *dir, *push, flag.Args()) }
	if *from != "" {
		publish = func() error { return repush(*from, *push) }
	}
	if err := publish(); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

func run(of Build, created, dir, push string, binaries []string) (err error) {
	if dir == "" && push == "" {
		return errors.New("give one of -o and -push")
	}
	if of.Created, err = time.Parse(time.RFC3339, created); err != nil {
		return fmt.Errorf("-created: %w", err)
	}
	index, err := of.Index(binaries)
	if err != nil {
		return err
	}
	if dir != "" {
		if err := write(dir, index); err != nil {
			return fmt.Errorf("write %s: %w", dir, err)
		}
		digest, err := index.Digest()
		if err != nil {
			return err
		}
		fmt.Println(dir, digest)
	}
	if push == "" {
		return nil
	}
	return upload(index, push)
}

// repush pushes the image of a layout that write wrote.
func repush(from, push string) error {
	layouts, err := layout.ImageIndexFromPath(from)
	if err != nil {
		return fmt.Errorf("-from: %w", err)
	}
	list, err := layouts.IndexManifest()
	if err != nil {
		return fmt.Errorf("-from %s: %w", from, err)
	}
	if len(list.Manifests) != 1 {
		return fmt.Errorf("-from %s: the layout has %d images, not one: name a folder that make image wrote", from, len(list.Manifests))
	}
	index, err := layouts.ImageIndex(list.Manifests[0].Digest)
	if err != nil {
		return fmt.Errorf("-from %s: %w", from, err)
	}
	return upload(index, push)
}

// upload pushes an image, and prints its reference with its digest.
func upload(index v1.ImageIndex, push string) error {
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	reference, err := name.NewTag(push, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("-push: %w", err)
	}
	if err := remote.WriteIndex(reference, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return fmt.Errorf("push %s: %w", reference, err)
	}
	fmt.Println(reference.Context().Digest(digest.String()))
	return nil
}

// write writes a layout with the index as its only image. skopeo and crane then handle it
// as one image for several platforms.
func write(dir string, index v1.ImageIndex) error {
	if _, err := os.Stat(dir); err == nil {
		return errors.New("it is there already: remove it first")
	}
	in, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return in.AppendIndex(index)
}
