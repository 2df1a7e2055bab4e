package release

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
	"github.com/rhysd/actionlint"
)

func TestWorkflowsAreClean(t *testing.T) {
	t.Parallel()
	linter, err := actionlint.NewLinter(io.Discard, &actionlint.LinterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := linter.LintRepository("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		t.Error(f)
	}
}

// goreleaser accepts all keys. make snapshot checks their values.
func TestGoreleaserKnowsTheKeysOfItsConfiguration(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.LoadReader(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Builds) != 1 || len(c.Builds[0].Goos) != 3 || c.Checksum.NameTemplate != "SHA256SUMS" || len(c.Checksum.ExtraFiles) != len(c.Release.ExtraFiles) {
		t.Errorf("builds %+v, checksums %+v, files %+v", c.Builds, c.Checksum, c.Release.ExtraFiles)
	}
	if _, err := config.LoadReader(strings.NewReader(strings.Replace(string(text), "ldflags:", "linkerflags:", 1))); err == nil {
		t.Error("a key that goreleaser does not know is taken")
	}
}
