package law_test

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/proof/law"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// breaks are the laws that a story breaks, and may: a store that lost one latch of
// many says nothing of it, so that it is read back late.
var breaks = map[string]string{"state-lost-of-one": "after a calm tick, git and latches agree"}

// No story of testdata/scenarios breaks a law: what random histories found once is
// kept there.
func TestStoriesBreakNoLaw(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		told := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(told, func(t *testing.T) {
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
					t.Fatal(err)
				}
				for _, v := range w.Violations {
					if v.Law == breaks[told] {
						continue
					}
					t.Errorf("%s: %s: %s", name, v.Law, v.What)
				}
			}
		})
	}
}
