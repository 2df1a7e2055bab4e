package law_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/proof/law"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// No story in testdata/scenarios breaks a law. Stories that random histories found are
// stored there.
func TestStoriesBreakNoLaw(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			start, stories := story.Tellings(archive)
			for name, lines := range stories {
				s := story.New(start)
				w := law.Watch(s)
				if err := s.Play(lines); err != nil {
					t.Fatalf("%s: %s: %v", file, name, err)
				}
				for _, v := range w.Violations {
					t.Errorf("%s: %s: %s: %s", file, name, v.Law, v.What)
				}
			}
		})
	}
}
