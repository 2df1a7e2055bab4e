package main

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// build builds a main package as the deployment does, for this machine.
func build(ctx context.Context, binary, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", binary, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return quietly(cmd)
}

// quietly runs a command, and shows what it said only where it fails.
func quietly(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

// zipped returns the size of what is deployed: the bootstrap that make builds
// from the repository at root, in an archive.
func zipped(ctx context.Context, root, dir string) (int64, error) {
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "build-LatchFunction", "ARTIFACTS_DIR="+dir)
	cmd.Dir = root
	if err := quietly(cmd); err != nil {
		return 0, err
	}
	from, err := os.Open(filepath.Join(dir, "bootstrap"))
	if err != nil {
		return 0, err
	}
	defer from.Close()
	var size counter
	archive := zip.NewWriter(&size)
	into, err := archive.Create("bootstrap")
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(into, from); err != nil {
		return 0, err
	}
	err = archive.Close()
	return int64(size), err
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
