package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// A file is a file in an archive.
type file struct {
	name    string
	mode    fs.FileMode
	content []byte
}

// read returns all files below a path, with names below the given folder.
func read(folder, from string) ([]file, error) {
	var files []file
	err := fs.WalkDir(os.DirFS(from), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(from, name))
		files = append(files, file{path.Join(folder, name), 0o644, content})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", from, err)
	}
	return files, nil
}

// A platform is a GOOS and a GOARCH.
type platform struct{ os, arch string }

func (r Release) version() string { return strings.TrimPrefix(r.Tag, "v") }

// archive returns the name of the archive for a platform.
func (r Release) archive(p platform) string {
	extension := ".tar.gz"
	if p.os == "windows" {
		extension = ".zip"
	}
	return fmt.Sprintf("gitlatch_%s_%s_%s%s", r.version(), p.os, p.arch, extension)
}

// archives writes the archive of each built program, and returns their checksums.
func (r Release) archives(to string) (map[platform]string, error) {
	shared, err := r.shared()
	if err != nil {
		return nil, err
	}
	programs, err := os.ReadDir(filepath.Join(r.Built, "programs"))
	if err != nil {
		return nil, err
	}
	sums := map[platform]string{}
	for _, folder := range programs {
		goos, goarch, ok := strings.Cut(folder.Name(), "_")
		if !ok {
			return nil, fmt.Errorf("programs/%s: the name of the folder must be GOOS_GOARCH", folder.Name())
		}
		p := platform{goos, goarch}
		program, err := read("", filepath.Join(r.Built, "programs", folder.Name()))
		if err != nil {
			return nil, err
		}
		if len(program) != 1 {
			return nil, fmt.Errorf("programs/%s has %d files, and must have only the program", folder.Name(), len(program))
		}
		program[0].mode = 0o755
		write := r.tarGzip(append(program, shared...))
		if p.os == "windows" {
			write = r.zip(append(program, shared...))
		}
		path := filepath.Join(to, r.archive(p))
		if err := create(path, write); err != nil {
			return nil, err
		}
		if sums[p], err = checksum(path); err != nil {
			return nil, err
		}
	}
	return sums, nil
}

// shared returns the files that each archive contains in addition to the program.
func (r Release) shared() ([]file, error) {
	var files []file
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(filepath.Join(r.Root, name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, content})
	}
	completions, err := read("completions", filepath.Join(r.Built, "completions"))
	if err != nil {
		return nil, err
	}
	schemas, err := read("schema", filepath.Join(r.Root, "internal/config/schema"))
	if err != nil {
		return nil, err
	}
	return append(append(files, completions...), schemas...), nil
}

func (r Release) tarball(files []file) func(io.Writer) error {
	return func(out io.Writer) error {
		w := tar.NewWriter(out)
		for _, f := range files {
			header := &tar.Header{Name: f.name, Mode: int64(f.mode), Size: int64(len(f.content)), ModTime: r.Created.UTC(), Format: tar.FormatPAX}
			if err := w.WriteHeader(header); err != nil {
				return err
			}
			if _, err := w.Write(f.content); err != nil {
				return err
			}
		}
		return w.Close()
	}
}

func (r Release) tarGzip(files []file) func(io.Writer) error {
	return func(out io.Writer) error {
		w := gzip.NewWriter(out)
		return errors.Join(r.tarball(files)(w), w.Close())
	}
}

func (r Release) zip(files []file) func(io.Writer) error {
	return func(out io.Writer) error {
		w := zip.NewWriter(out)
		for _, f := range files {
			header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.Created.UTC()}
			header.SetMode(f.mode)
			entry, err := w.CreateHeader(header)
			if err != nil {
				return err
			}
			if _, err := entry.Write(f.content); err != nil {
				return err
			}
		}
		return w.Close()
	}
}
