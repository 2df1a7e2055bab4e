package simulator

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

// A seed is the value of a flag: a number, or "random" for one that is drawn.
type seed uint64

// String returns the number.
func (s *seed) String() string { return strconv.FormatUint(uint64(*s), 10) }

// Set reads a number, or draws one of nine digits.
func (s *seed) Set(text string) error {
	if text == "random" {
		*s = seed(rand.Uint64N(1_000_000_000))
		return nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("must be a number or random: %w", err)
	}
	*s = seed(n)
	return nil
}

func TestAFirstSeedIsGivenOrDrawn(t *testing.T) {
	t.Parallel()
	var given seed
	if err := given.Set("77000000"); err != nil || given != 77_000_000 || given.String() != "77000000" {
		t.Errorf("given 77000000, it is %d: %v", given, err)
	}
	if err := given.Set("tomorrow"); err == nil {
		t.Error("a seed is no word")
	}
	drawn := map[seed]bool{}
	for range 20 {
		var s seed
		if err := s.Set("random"); err != nil {
			t.Fatal(err)
		}
		drawn[s] = true
	}
	if len(drawn) < 19 {
		t.Errorf("20 draws give %d seeds: %v", len(drawn), drawn)
	}
}

// The same million histories would find nothing new each night.
func TestFaultsDrawsAFirstSeedUnlessOneIsGiven(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("make"); err != nil {
		skip.Test(t, "needs make")
	}
	for given, want := range map[string]string{"": " -first random", "FIRST=77000000": " -first 77000000"} {
		command := exec.CommandContext(t.Context(), "make", "-C", "../../..", "--no-print-directory", "-n", "faults")
		command.Env = append(os.Environ(), "FIRST=", "MAKEFLAGS=")
		command.Args = append(command.Args, strings.Fields(given)...)
		recipe, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, recipe)
		}
		var lines []string
		for line := range strings.Lines(string(recipe)) {
			if strings.Contains(line, "TestRandomHistoriesBreakNoLaw") {
				lines = append(lines, line)
			}
		}
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%s: no%s in %q", command, want, lines)
		}
	}
	nightly, err := os.ReadFile("../../../.github/workflows/nightly.yml")
	if err != nil {
		t.Fatal(err)
	}
	if text := string(nightly); !strings.Contains(text, "- run: make faults\n") || !strings.Contains(text, "schedule: [{cron: ") || strings.Contains(text, "FIRST: \"") {
		t.Errorf("it does not run \"make faults\" each night with a drawn seed:\n%s", text)
	}
}
