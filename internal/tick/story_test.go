package tick_test

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// TestStories plays the scenarios in testdata/scenarios. Each is a txtar archive with a
// description, the files of the repository at the start, and the story, a line an
// event. Package story defines the words of a story. An anomaly has three stories, each
// in a separate world: one raises it, one nearly raises it, and one resolves it. Together,
// the stories send an alert of each kind that a tick raises, and each alert has a fix.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("../../testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var sent sync.Map
	var played atomic.Int32
	t.Cleanup(func() {
		for _, kind := range alert.Kinds() {
			every := int(played.Load()) == len(files)                               // -run may select some
			if _, ok := sent.Load(kind); every && !ok && kind != alert.DoesNotFit { // drills raise it
				t.Errorf("no story sends %s", kind)
			}
		}
	})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			start, stories := story.Tellings(archive)
			played.Add(1)
			for name, lines := range stories {
				t.Run(name, func(t *testing.T) {
					s := story.New(start)
					if err := s.Play(lines); err != nil {
						t.Fatalf("%s: %v", file, err)
					}
					for kind, fixes := range s.Fixes {
						sent.Store(kind, true)
						if slices.Contains(fixes, "") {
							t.Errorf("an alert %s has no fix", kind)
						}
					}
				})
			}
		})
	}
}

// Each anomaly has three stories: one raises it, one nearly raises it, and one resolves
// it.
func TestEachAnomalyHasItsStories(t *testing.T) {
	t.Parallel()
	for _, kind := range alert.Kinds() {
		if !kind.Anomaly() && kind != alert.MassDrop && kind != alert.Stale {
			continue
		}
		archive, err := txtar.ParseFile("../../testdata/scenarios/anomaly-" + string(kind) + ".txtar")
		if err != nil {
			t.Error(err)
			continue
		}
		for name, words := range map[string]string{
			"raises": string(kind) + " raised", "nearly": "expect open none\nexpect alerts\n", "resolves": string(kind),
		} {
			if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == name && strings.Contains(string(f.Data), words) }) {
				t.Errorf("%s: no story %s that says %q", kind, name, words)
			}
		}
	}
}
