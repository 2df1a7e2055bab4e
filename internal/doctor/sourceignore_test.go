package doctor

import (
	"testing"
)

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
		if got := parseIgnore(nil, records).excludes(file); got != want {
			t.Errorf("%s: left out %v, want %v", file, got, want)
		}
		if (ignoreLines{}).excludes(file) || parseIgnore(nil, "# "+file+"\n").excludes(file) {
			t.Errorf("%s: left out by no line", file)
		}
	}
}

func TestAnIndentedLineIsOfAnotherName(t *testing.T) {
	t.Parallel()
	if l := parseIgnore(nil, "  /apps\n"); l.excludes("apps/web.yaml") || !parseIgnore(nil, "/apps\n").excludes("apps/web.yaml") {
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
		if got := ignoreFiles(files).excludes(file); got != want {
			t.Errorf("%s: left out %v, want %v", file, got, want)
		}
	}
	for text, want := range map[string]bool{"!/apps/old": false, "!/apps/new": true} {
		if got := ignoreFiles(files).and(parseIgnore(nil, text)).excludes("apps/old/web.yaml"); got != want {
			t.Errorf("after %s: left out %v, want %v", text, got, want)
		}
	}
	if (ignoreFiles(nil)).excludes("README.md") {
		t.Error("left out by no file")
	}
}
