// Command release collects the files of a release from what the Makefile built:
//
//	release -version v1.2.3 -created 2026-11-22T09:00:00Z -root . -from bin -o dist/release
//	release -root . -image registry.example.com/gitlatch:v1.2.3
//
// The second form only fails if infra/cluster names another image than the one that the
// release pushes. A release contains an archive of the command for each platform, a
// Homebrew formula, the package for AWS, the container image as an archive, an SBOM of each
// program, and SHA256SUMS, which names all of them.
package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

func main() {
	var r Release
	flag.StringVar(&r.Tag, "version", "", "tag of the release, or another name of the commit")
	flag.StringVar(&r.Root, "root", ".", "root of the repository")
	flag.StringVar(&r.Built, "from", "bin", "folder that the Makefile built the programs into")
	created := flag.String("created", "", "time of the commit, as RFC 3339")
	to := flag.String("o", "dist/release", "folder to write, which must not exist yet")
	image := flag.String("image", "", "only check that infra/cluster names this image")
	flag.Parse()
	if err := run(r, *created, *to, *image); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(r Release, created, to, image string) (err error) {
	if image != "" {
		return agree(r.Root, image)
	}
	if r.Tag == "" {
		return errors.New("-version is missing")
	}
	if r.Created, err = time.Parse(time.RFC3339, created); err != nil {
		return fmt.Errorf("-created: %w", err)
	}
	return r.Collect(to)
}

// imageFile names the image that infra/cluster installs.
const imageFile = "infra/cluster/image/kustomization.yaml"

// agree returns an error unless infra/cluster installs the image.
func agree(root, image string) error {
	text, err := os.ReadFile(filepath.Join(root, imageFile))
	if err != nil {
		return err
	}
	named := regexp.MustCompile(`newName: (\S+)\s+newTag: (\S+)`).FindSubmatch(text)
	if named == nil {
		return fmt.Errorf("%s has no newName with a newTag", imageFile)
	}
	if installed := fmt.Sprintf("%s:%s", named[1], named[2]); installed != image {
		return fmt.Errorf("%s names the image %s, and the release pushes %s: correct newName and newTag, commit, and move the tag to this commit", imageFile, installed, image)
	}
	return nil
}

// A Release is the source of the files of a release.
type Release struct {
	Tag         string    // v1.2.3; without a tag the name of the commit
	Created     time.Time // of the commit, so that the same commit gives the same files
	Root, Built string    // the folders of the repository and of the built programs
}

// Collect writes the files into a new folder.
func (r Release) Collect(to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("%w: remove it first", err)
	}
	sums, err := r.archives(to)
	if err != nil {
		return err
	}
	formula, err := r.formula(sums)
	if err != nil {
		return err
	}
	image, err := read("image", filepath.Join(r.Built, "image"))
	if err != nil {
		return err
	}
	files := []file{{name: "gitlatch.rb", content: formula}}
	for _, folder := range []string{"package", "sbom"} {
		held, err := read("", filepath.Join(r.Built, folder))
		if err != nil {
			return err
		}
		files = append(files, held...)
	}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(to, f.name), f.content, 0o644); err != nil {
			return err
		}
	}
	if err := create(filepath.Join(to, "gitlatch-image.tar"), r.tarball(image)); err != nil {
		return err
	}
	return checksums(to)
}

// checksums writes SHA256SUMS, in the format of sha256sum, over all files of a folder.
func checksums(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	var list []byte
	for _, f := range files {
		sum, err := checksum(filepath.Join(folder, f.Name()))
		if err != nil {
			return err
		}
		list = fmt.Appendf(list, "%s  %s\n", sum, f.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), list, 0o644)
}

func checksum(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer in.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return fmt.Sprintf("%x", sum.Sum(nil)), err
}

// create writes a file with the given writer of its content.
func create(path string, write func(io.Writer) error) (err error) {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	return write(out)
}
