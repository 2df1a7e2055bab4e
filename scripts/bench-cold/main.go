// Command bench-cold measures a cold start of the latch function: the time for the
// initialisation of packages, and the time from spawn to the first request for an
// event. It compares them with a bootstrap that links the same packages and does
// nothing. It fails above its limits.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

const (
	inits = 15 // starts; the best initialisation counts
	pairs = 41 // cold starts of each bootstrap, in turn; the median counts

	deadline = 15 * time.Minute // in total; the build takes most of it
)

// The limits apply to the linked packages and the parts that are opened before the first
// event. The ratio applies to machines of any speed.
const (
	maxInit  = 12 * time.Millisecond
	maxRatio = 1.3
)

// within returns an error if a figure exceeds its limit.
func within(init time.Duration, ratio float64) error {
	var beyond []error
	if init > maxInit {
		beyond = append(beyond, fmt.Errorf("packages initialise in %s, and may take %s: see GODEBUG=inittrace=1", init, maxInit))
	}
	if ratio > maxRatio {
		beyond = append(beyond, fmt.Errorf("a cold start takes %.2f times that of a bootstrap which does nothing, and may take %.2f", ratio, maxRatio))
	}
	return errors.Join(beyond...)
}

func main() {
	log.SetFlags(0)
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := run(ctx); err != nil {
		log.Fatal("bench-cold: ", err)
	}
}

func run(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "bench-cold-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	latch, idle := filepath.Join(dir, "latch"), filepath.Join(dir, "idle")
	if err := build(ctx, latch, "./functions/latch"); err != nil {
		return err
	}
	if err := build(ctx, idle, "./functions/latch/testdata/idle"); err != nil {
		return err
	}
	best := time.Hour
	for range inits {
		took, err := initialised(ctx, latch)
		if err != nil {
			return err
		}
		best = min(best, took)
	}
	fmt.Printf("figure package_init_ms %.2f\n", milliseconds(best))

	var busy, lazy []time.Duration
	for i := range pairs + 1 {
		a, err := cold(ctx, latch)
		if err != nil {
			return err
		}
		b, err := cold(ctx, idle)
		if err != nil {
			return err
		}
		if i > 0 { // the first of each reads the binary from disk
			busy, lazy = append(busy, a), append(lazy, b)
		}
	}
	a, b := median(busy), median(lazy)
	log.Printf("spawn to first next: %.1f ms, and %.1f ms of a bootstrap that does nothing", milliseconds(a), milliseconds(b))
	ratio := float64(a) / float64(b)
	fmt.Printf("figure cold_ratio %.2f\n", ratio)
	return within(best, ratio)
}

// build builds a main package as the deployment does, for this machine.
func build(ctx context.Context, binary, pkg string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w", "-o", binary, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
