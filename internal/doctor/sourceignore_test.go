package doctor

import (
	"testing"
)

// excludes reports whether lines exclude a file.
func excludes(lines, file string) bool {
	return source{patterns: parseIgnore(nil, lines)}.excludes(nil)(file)
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	const records = "# only records\n\n/*\n!/checkpoints/\n/checkpoints/*\n!/checkpoints/prod/\n/checkpoints/prod/*.yaml\r\n/checkpoints/prod/*/kustomization.yaml  \n"
	for file, want := range map[string]bool{
		"apps/shop/web.yaml":                       true,
		"checkpoints/prod/site.yaml":               true,
		"checkpoints/prod/shop/kustomization.yaml": true,
		"checkpoints/prod/shop/checkpoint.yaml":    false,
		"checkpoints/test/shop/checkpoint.yaml":    true,
		"checkpoints.yaml":                         true,
	} {
		if got := excludes(records, file); got != want {
			t.Errorf("%s: left out %v, want %v", file, got, want)
		}
		if excludes("", file) || excludes("# "+file+"\n", file) {
			t.Errorf("%s: left out by no line", file)
		}
	}
}

func TestAnIndentedLineIsOfAnotherName(t *testing.T) {
	t.Parallel()
	if excludes("  /apps\n", "apps/web.yaml") || !excludes("/apps\n", "apps/web.yaml") {
		t.Error("the space before a line does not count")
	}
}

func TestFilesSpeakOfWhatIsBelowThem(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{
		".sourceignore":           []byte("*.md\n/apps/old\n/apps/shop/*.yaml\n"),
		"apps/shop/.sourceignore": []byte("/web.yaml\n!/cart.yaml\n"),
		"apps/a/b/.sourceignore":  []byte("!*.md\n"),
		"apps/notsourceignore":    []byte("*\n"),
	}
	for file, want := range map[string]bool{
		"README.md":               true,
		"apps/a/b/README.md":      false, // the nearest decides
		"apps/a/README.md":        true,
		"apps/old/web.yaml":       true,
		"other/apps/old/web.yaml": false, // from the root of the repository
		"apps/shop/web.yaml":      true,
		"apps/shop/cart.yaml":     false,
		"apps/shop/in/web.yaml":   false,
		"web.yaml":                false,
		"apps/pay/web.yaml":       false,
	} {
		if got := (source{files: true}).excludes(files)(file); got != want {
			t.Errorf("%s: left out %v, want %v", file, got, want)
		}
	}
	for text, want := range map[string]bool{"!/apps/old": false, "!/apps/new": true} {
		if got := (source{files: true, patterns: parseIgnore(nil, text)}).excludes(files)("apps/old/web.yaml"); got != want {
			t.Errorf("after %s: left out %v, want %v", text, got, want)
		}
	}
	if (source{files: true}).excludes(nil)("README.md") {
		t.Error("left out by no file")
	}
}
