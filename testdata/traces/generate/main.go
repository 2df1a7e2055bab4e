// Command generate writes the recorded day, workloads.csv and changes.csv, into the
// current directory:
//
//	go generate ./testdata/traces
//
// With another seed, it creates another day of the same fleet:
//
//	go run ./testdata/traces/generate -seed 7 -dir /tmp
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gitlatch/gitlatch/testdata/traces"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

func main() {
	seed := flag.Uint64("seed", traces.Seed, "seed of the simulation")
	dir := flag.String("dir", ".", "directory to write into")
	flag.Parse()
	if err := write(*seed, *dir); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func write(seed uint64, dir string) error {
	var workloads, changes bytes.Buffer
	if err := simulate.Day(seed).Encode(&workloads, &changes); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "workloads.csv"), workloads.Bytes(), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "changes.csv"), changes.Bytes(), 0o644)
}
