package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachShellHasAScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "ps1"} {
		text, err := os.ReadFile(filepath.Join(dir, "gitlatch."+shell))
		if err != nil || !strings.Contains(string(text), "__complete") {
			t.Errorf("%s: %v, %d bytes", shell, err, len(text))
		}
	}
}
