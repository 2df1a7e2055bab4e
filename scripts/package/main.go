// Command package packs the release for deployments without a Go toolchain: a zip for
// each function, and each template with the code of its functions in a bucket.
//
//	go run ./scripts/package -from bin -o bin/package -version v1.2.3 template.yaml infra/drill.yaml infra/fleet/template.yaml
//
// It packs FROM/FUNCTION/bootstrap for each function. The name of a template comes from
// its file or folder: gitlatch.yaml, gitlatch-drill.yaml, gitlatch-fleet.yaml.
package main

import (
	"archive/zip"
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	from := flag.String("from", "bin", "folder of the functions' folders")
	to := flag.String("o", "bin/package", "folder to write to")
	version := flag.String("version", "", "version of the binaries, which their keys in the bucket hold")
	flag.Parse()
	if err := run(*from, *to, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "package:", err)
		os.Exit(1)
	}
}

func run(from, to, version string, templates []string) error {
	if version == "" {
		return fmt.Errorf("-version is missing: a key that stays the same deploys no new code")
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, path := range templates {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		packaged, functions, err := Package(text, version)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, function := range functions {
			if err := pack(filepath.Join(to, function+".zip"), filepath.Join(from, function, "bootstrap")); err != nil {
				return err
			}
		}
		name := nameOf(path)
		if err := os.WriteFile(filepath.Join(to, name), packaged, 0o644); err != nil {
			return err
		}
		fmt.Println(filepath.Join(to, name), functions)
	}
	return nil
}

// nameOf returns the name of a packaged template.
func nameOf(path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".yaml")
	if name == "template" {
		name = strings.Trim(filepath.Base(filepath.Dir(path)), ".")
	}
	if name == "" {
		return "gitlatch.yaml"
	}
	return "gitlatch-" + name + ".yaml"
}

// epoch is the time of every packed file, because the same binary must give the same
// zip.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// pack makes a zip of the program that Lambda starts.
func pack(to, program string) (err error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, out.Close()) }()
	archive := zip.NewWriter(out)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Deflate, Modified: epoch}
	header.SetMode(0o755)
	entry, err := archive.CreateHeader(header)
	if err != nil {
		return err
	}
	if _, err := entry.Write(content); err != nil {
		return err
	}
	return archive.Close()
}
