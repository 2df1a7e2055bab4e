package handbook

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/config"
)

const security = ".github/SECURITY.md"

var dotted = regexp.MustCompile("`([a-z][A-Za-z]*(?:\\[\\])?(?:\\.[a-z][A-Za-z]*(?:\\[\\])?)+)`")

// A page names a field by its path from the top of a document.
func TestFieldsThatPagesNameExist(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, security))
	if err != nil {
		t.Fatal(err)
	}
	texts := pages(t)
	texts[security] = string(text)
	known, tops := paths(t)
	found := map[string]int{}
	for file, text := range texts {
		for _, m := range dotted.FindAllStringSubmatch(text, -1) {
			field := strings.ReplaceAll(m[1], "[]", "")
			top, _, _ := strings.Cut(field, ".")
			if !tops[top] {
				continue
			}
			found[file]++
			if !known[field] {
				t.Errorf("%s names the field %s, which does not exist", file, m[1])
			}
		}
	}
	if found[security] == 0 || len(found) < 5 {
		t.Errorf("found fields in %v only", found)
	}
}

// paths returns the paths of all fields of all documents, without "[]", and the fields
// at the top that contain others.
func paths(t *testing.T) (known, tops map[string]bool) {
	t.Helper()
	known = map[string]bool{}
	tops = map[string]bool{}
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		known[path] = true
		if s.Items != nil {
			walk(path, *s.Items)
		}
		for name, p := range s.Properties {
			walk(strings.TrimPrefix(path+"."+name, "."), p)
			if top, _, _ := strings.Cut(path, "."); top != "" {
				tops[top] = true
			}
		}
	}
	for _, kind := range []string{config.KindConfig, config.KindPolicy, config.KindFleet} {
		walk("", schemaOf(t, kind))
	}
	return known, tops
}
