// Command mutants changes the product at random, and counts how many of the changes a test
// catches. A mutant changes one operator, number or branch, or removes one statement. All
// mutants are built at once, with an overlay, so that no file of the repository changes. A
// variable of the environment then selects the mutant.
//
//	go run ./scripts/mutants -n 300
//	figure mutants 300
//	figure mutants_caught 0.93
//	figure mutants_seed 7124
//
// The results are lines of JSON in bin. A second run with the same seed continues.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// folders are the packages with mutants.
var folders = []string{
	"internal/policy", "internal/tick", "internal/tick/read", "internal/tick/publish", "internal/ledger", "internal/latch",
}

// catchers are the packages whose tests run first, the quickest before the others. A test
// binary of internal/tick takes four times as long to build as one of internal/proof/law.
var catchers = []string{
	"internal/latch", "internal/ledger", "internal/tick/read", "internal/tick/publish",
	"internal/policy", "internal/diff", "internal/proof/law", "internal/tick",
}

// histories is the run of the simulator.
var histories = run{"internal/proof/simulator", []string{"-test.run", "^TestRandomHistoriesBreakNoLaw$", "-ticks", "60000"}}

func main() {
	n := flag.Int("n", 300, "number of mutants")
	seed := flag.Uint64("seed", 0, "`seed` of the draw; 0 draws one")
	again := flag.Bool("again", false, "test the survivors of an earlier run again")
	flag.Parse()
	for *seed == 0 {
		*seed = rand.Uint64N(1 << 32)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := measure(ctx, *n, *seed, *again)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure draws and tests n mutants of this repository.
func measure(ctx context.Context, n int, seed uint64, again bool) error {
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	m, err := load(ctx, root, catchers, []run{histories})
	if err != nil {
		return err
	}
	defer os.RemoveAll(m.dir)
	all, err := m.candidates(ctx, folders)
	if err != nil {
		return err
	}
	fmt.Printf("%d candidates\nfigure mutants_seed %d\n", len(all), seed)

	file := filepath.Join("bin", fmt.Sprintf("mutants-%d.jsonl", seed))
	known, err := read(file, again)
	if err != nil {
		return err
	}
	err = os.MkdirAll("bin", 0o750)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = m.draw(ctx, all, rand.New(rand.NewPCG(seed, seed)).Perm(len(all)), n, known, log, os.Stdout)
	return errors.Join(err, log.Close())
}

// A Line is a line of the file of results.
type Line struct {
	Mutant  Mutant
	Result  Result
	By      string // the package and the test that caught it
	Seconds float64
}

// read returns the results of an earlier run; with again, without its survivors.
func read(file string, again bool) (map[Mutant]Line, error) {
	known := map[Mutant]Line{}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	for line := range bytes.Lines(text) {
		var l Line
		err = errors.Join(err, json.Unmarshal(line, &l))
		known[l.Mutant] = l
	}
	maps.DeleteFunc(known, func(_ Mutant, l Line) bool { return again && l.Result == Survived })
	return known, err
}

// draw tests candidates in an order until n of them were built. It writes each new
// result to log, and the survivors and the figures to out.
func (m *module) draw(ctx context.Context, all []candidate, order []int, n int, known map[Mutant]Line, log, out io.Writer) error {
	tested, caught := 0, 0
	for _, i := range order {
		if tested == n {
			break
		}
		mutant := all[i].Mutant
		line, done := known[mutant]
		if !done {
			began := time.Now()
			result, by, err := m.try(ctx, i+1, all[i])
			if err != nil {
				return err
			}
			line = Line{Mutant: mutant, Result: result, By: by, Seconds: time.Since(began).Seconds()}
			err = json.NewEncoder(log).Encode(line)
			if err != nil {
				return err
			}
		}
		switch line.Result {
		case NotBuilt:
			continue
		case Caught:
			caught++
		case Survived:
			text, err := os.ReadFile(filepath.Join(m.root, mutant.File))
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%d survived: %s\n", tested+1, mutant.describe(text))
		}
		tested++
	}
	_, err := fmt.Fprintf(out, "figure mutants %d\nfigure mutants_caught %.3f\n", tested, float64(caught)/float64(max(1, tested)))
	return err
}
