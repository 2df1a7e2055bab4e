package tick_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// TestASiteOfBeforeIsTakenOver plays sites in testdata/takeover, whose state and
// repository a gitlatch left that wrote down each push before it was made: in
// state of format 1, with commits that name no content. Each has a push under
// way. It is found in git, without a yield, an alert or a commit.
func TestASiteOfBeforeIsTakenOver(t *testing.T) {
	files, err := filepath.Glob("testdata/takeover/*.json")
	if err != nil || len(files) != 5 {
		t.Fatalf("sites: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			w := takenOver(t, file)
			before := len(w.Repository.Log())
			_, heads, _ := w.Repository.Heads(t.Context(), "gitlatch/"+site)
			for range 3 {
				report, err := w.Tick()
				if err != nil || report.Commit != nil || report.Err() != nil {
					t.Fatalf("%v\n%s", err, story.Told{Report: report, Failed: err})
				}
				for _, n := range report.Notices {
					if n.Kind != tick.NoticeLanded && n.Kind != tick.NoticeMerged {
						t.Errorf("notice %+v", n)
					}
				}
				w.Now = w.Now.Add(period)
			}
			if len(w.Repository.Log()) != before {
				t.Errorf("commits: %q", w.Repository.Log())
			}
			if _, now, _ := w.Repository.Heads(t.Context(), "gitlatch/"+site); now[0] != heads[0] {
				t.Error("the proposal's branch moved")
			}
			for _, a := range w.Sent {
				if a.State == alert.Raised && a.Kind != alert.Surge { // a surge that was not said yet
					t.Errorf("alert %s", a.Message())
				}
			}
			for id, e := range w.entries(t) {
				if l := w.latches(t)[id]; l.Declared != e || !l.YieldUntil.IsZero() {
					t.Errorf("%s is declared as %+v, and its latch is %+v", id, e, l)
				}
			}
		})
	}
}

// takenOver is the world that a file holds. A push that is still on its way lands.
func takenOver(t *testing.T, file string) *world {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Now           time.Time
		Scale         map[string]int32
		Host, Propose bool
		InPlace       []string
		Pushes        []struct {
			Parent, Message string
			Files           map[string]string
			When            time.Time
		}
		Head    json.RawMessage
		Latches []json.RawMessage
	}
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	w := newWorld(nil)
	w.Now, w.Host, w.Propose, w.InPlace = kept.Now, kept.Host, kept.Propose, kept.InPlace
	if w.Repository, err = repomem.Restore(data); err != nil {
		t.Fatal(err)
	}
	for id, pods := range kept.Scale {
		w.scale(id, pods)
	}
	head := decoded[latch.Head](t, kept.Head)
	var latches []latch.Latch
	for _, one := range kept.Latches {
		l := decoded[latch.Latch](t, one)
		l.Rev = 0 // of another store
		latches = append(latches, l)
	}
	w.Store = latchmem.New()
	lease, err := w.Store.Acquire(t.Context(), site, "before", w.Now, w.Now.Add(time.Minute))
	if err == nil {
		_, err = w.Store.Save(t.Context(), lease, head, latches, nil)
	}
	if err == nil {
		err = w.Store.Release(t.Context(), lease)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, push := range kept.Pushes {
		c := repo.Commit{Parent: push.Parent, Message: push.Message, When: push.When, Files: map[string][]byte{}}
		for path, text := range push.Files {
			c.Files[path] = []byte(text)
		}
		if _, err := w.Repository.Commit(context.Background(), c); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func decoded[T latch.Stored](t *testing.T, data []byte) T {
	t.Helper()
	v, err := latch.Decode[T]("kept", data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
