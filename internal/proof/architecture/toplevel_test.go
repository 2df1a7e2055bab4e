package architecture

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/skip"
)

// The entries at the top of the repository. A visitor sees them first, so each entry is
// agreed. Any other entry belongs in a folder.
var topLevel = []string{
	".ci", ".editorconfig", ".github", ".gitignore", ".golangci.yml",
	"LICENSE", "Makefile", "README.md",
	"functions", "go.mod", "go.sum", "infra", "internal", "scripts", "template.yaml", "testdata",
}

// Entries that exist only if there is something to deploy.
var deployment = []string{"infra", "template.yaml"}

func TestTheTopLevelHoldsWhatIsAgreed(t *testing.T) {
	t.Parallel()
	var holds []string
	for _, path := range tracked(t) {
		top, _, _ := strings.Cut(path, "/")
		if !slices.Contains(holds, top) {
			holds = append(holds, top)
		}
	}
	for _, entry := range holds {
		if !slices.Contains(topLevel, entry) {
			t.Errorf("%s stands at the top level: move it into one of %s", entry, strings.Join(topLevel, ", "))
		}
	}
	for _, entry := range topLevel {
		if !slices.Contains(holds, entry) && !slices.Contains(deployment, entry) {
			t.Errorf("%s is missing at the top level", entry)
		}
	}
}

// tracked returns the paths of the files that git tracks.
func tracked(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	tree := exec.CommandContext(ctx, "git", "ls-files", "--cached")
	tree.Dir = root
	out, err := tree.Output()
	if err != nil {
		skip.Test(t, "not a git repository, so what belongs to it is not known: %v", err)
	}
	return strings.Fields(string(out))
}
