package repo_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Within selects the files to read below a directory.
func TestScope(t *testing.T) {
	t.Parallel()
	asked := repo.Within("a/b", "site.yaml", "*/record.yaml")
	levels := repo.Within("a/b", "*.levels.yaml")
	for _, c := range []struct {
		asked, at string
		in        bool
		file      string // why the scope refuses a file at this path; "" if it does not
		folder    string
	}{
		{asked, "site.yaml", true, "", ""}, // a namespace may have any name
		{asked, "shop", true, "is a file, but must be a directory", ""},
		{asked, "shop/record.yaml", true, "", "is a directory"},
		{asked, "shop/other.yaml", false, "", ""},
		{asked, "shop/record.yaml/deeper", false, "", ""},
		{"a/b", "shop/any/thing", true, "", ""},
		{levels, "shop.levels.yaml", true, "", "is a directory"},
		{levels, "levels.yaml", false, "", ""},
		{levels, "shop", false, "", ""},
		{levels, "shop/shop.levels.yaml", false, "", ""},
	} {
		scope, in := repo.ParseScope(c.asked), true
		for name := range strings.SplitSeq(c.at, "/") {
			if in {
				scope, in = scope.Below(name)
			}
		}
		if in != c.in {
			t.Errorf("%s in %s: %v, want %v", c.at, c.asked, in, c.in)
		}
		if !in {
			continue
		}
		if file, folder := scope.Refuses(repo.File, 0), scope.Refuses(repo.Folder, 0); scope.Path != "a/b/"+c.at || file != c.file || folder != c.folder {
			t.Errorf("%s: path %s, a file is refused as %q, a folder as %q", c.at, scope.Path, file, folder)
		}
	}
}
