// Command zipsize prints the size of a file after it is packed for Lambda:
//
//	go run ./scripts/zipsize bin/LatchFunction/bootstrap
//	figure zip_mb_arm64 7.02
//
// A megabyte is a million bytes. The command fails above ten megabytes, or above the
// number that follows the file.
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

func main() {
	limit := 10.0 // megabytes
	var err error
	if len(os.Args) == 3 {
		limit, err = strconv.ParseFloat(os.Args[2], 64)
	}
	if len(os.Args) < 2 || len(os.Args) > 3 || err != nil {
		fmt.Fprintln(os.Stderr, "usage: zipsize FILE [MEGABYTES]")
		os.Exit(2)
	}
	size, err := zipped(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "zipsize:", err)
		os.Exit(1)
	}
	fmt.Printf("figure zip_mb_arm64 %.2f\n", float64(size)/1e6)
	if float64(size) > 1e6*limit {
		fmt.Fprintf(os.Stderr, "zipsize: %s is packed to %d bytes, and may be %g MB\n", os.Args[1], size, limit)
		os.Exit(1)
	}
}

// zipped returns the size of a zip with only this file, in bytes.
func zipped(file string) (int64, error) {
	in, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer func() { _ = in.Close() }() // the file was only read
	var size counter
	archive := zip.NewWriter(&size)
	entry, err := archive.Create(filepath.Base(file))
	if err != nil {
		return 0, err
	}
	if _, err := io.Copy(entry, in); err != nil {
		return 0, fmt.Errorf("pack %s: %w", file, err)
	}
	if err := archive.Close(); err != nil {
		return 0, fmt.Errorf("pack %s: %w", file, err)
	}
	return int64(size), nil
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
