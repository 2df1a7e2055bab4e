package main

import (
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		"upload": "contents: write", "image": "attestations: write, contents: read, id-token: write, packages: write",
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
