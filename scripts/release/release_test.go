package release

import (
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
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

// The job that builds a release runs code of the repository, and cannot sign or upload.
// The job that uploads the files cannot sign.
func TestEachJobOfTheReleaseHasItsOwnRights(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	workflow, problems := actionlint.Parse(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := map[string]string{
		"test": "contents: read", "build": "contents: read", "sign": "attestations: write, id-token: write",
		"upload": "contents: write", "image": "attestations: write, contents: read, id-token: write",
	}
	got := map[string]string{}
	for name, job := range workflow.Jobs {
		permissions := job.Permissions
		if permissions == nil {
			permissions = workflow.Permissions
		}
		var rights []string
		for _, right := range slices.Sorted(maps.Keys(permissions.Scopes)) {
			rights = append(rights, right+": "+permissions.Scopes[right].Value.Value)
		}
		got[name] = strings.Join(rights, ", ")
	}
	if !maps.Equal(got, want) {
		t.Errorf("the rights are %q, want %q", got, want)
	}
	for _, used := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(used[1]) {
			t.Errorf("%s is not pinned by its commit", used[1])
		}
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
	if len(c.Builds) != 1 || len(c.Builds[0].Goos) != 3 || c.Checksum.NameTemplate != "SHA256SUMS" || len(c.Checksum.ExtraFiles) != 4 {
		t.Errorf("builds %+v, checksums %+v", c.Builds, c.Checksum)
	}
	if len(c.SBOMs) != 1 || c.SBOMs[0].Artifacts != "binary" || c.Release.Disable != "true" {
		t.Errorf("SBOMs %+v, release %+v", c.SBOMs, c.Release)
	}
	if _, err := config.LoadReader(strings.NewReader(strings.Replace(string(text), "ldflags:", "linkerflags:", 1))); err == nil {
		t.Error("a key that goreleaser does not know is taken")
	}
}
