package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/drill"
)

func TestAFolderKeepsDrills(t *testing.T) {
	t.Parallel()
	suite(t, func(t *testing.T) Archive {
		return Folder(filepath.Join(t.TempDir(), "not", "there", "yet"))
	}, func(t *testing.T, l drill.Link) []byte {
		t.Helper()
		data, err := os.ReadFile(l.URI)
		if err != nil {
			t.Fatal(err)
		}
		return data
	})
}

func TestWhatIsNoDrillIsNotRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"{": "unexpected end", `{"kind": "Drill", "apiVersion": "gitlatch.dev/v9"}`: "gitlatch.dev/v9"} {
		folder := t.TempDir()
		if err := os.MkdirAll(filepath.Join(folder, "prod"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "prod", latest), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Folder(folder).Last(t.Context(), "prod"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "move it away") {
			t.Errorf("error %v", err)
		}
	}
}
