package repotest

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// records selects the checkpoint files of a site.
var records = repo.Within("site", "site.yaml", "*/record.yaml")

// Other files next to the checkpoint files are ignored. An object of another type in
// the place of a checkpoint file affects only that file.
func readWithin(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{
		"site/site.yaml":                   "site",
		"site/shop/record.yaml":            "shop",
		"site/shop/notes/deep/record.yaml": "not one",
		"site/shop/pointer":                lfs,
		"site/pay/record.yaml":             lfs,
		"site/README.md":                   "for people",
		"site/folder/record.yaml/below":    "not a file",
		"site/empty/other.yaml":            "not asked for",
		"elsewhere/record.yaml":            "not of the site",
	})
	r := f.Open(t)
	tip := mustTip(t, r)
	got := mustRead(t, r, tip, nil, records, "site", "elsewhere")
	want := map[string]string{"site/site.yaml": "site", "site/shop/record.yaml": "shop"}
	o := got[records]
	if files := texts(o.Files); !maps.Equal(files, want) {
		t.Errorf("files are %q, want %q", files, want)
	}
	if unsafe := map[string]string{
		"site/pay/record.yaml":    "is a Git LFS pointer",
		"site/README.md":          "is a file, but must be a directory",
		"site/folder/record.yaml": "is a directory",
	}; !maps.Equal(o.Unsafe, unsafe) {
		t.Errorf("unsafe are %q, want %q", o.Unsafe, unsafe)
	}
	if all := got["site"]; all.ID != o.ID || len(all.Files) != 6 {
		t.Errorf("the directory is %s with %q; with some of its files it is %s", all.ID, slices.Sorted(maps.Keys(all.Files)), o.ID)
	}
	known := map[string]string{records: o.ID}
	if again := mustRead(t, f.Open(t), tip, known, records)[records]; again.ID != o.ID || again.Files != nil {
		t.Errorf("a known directory reads %v", again)
	}
	if absent := repo.Within("absent", "site.yaml"); mustRead(t, r, tip, nil, absent)[absent].ID != "" {
		t.Error("a directory that is not there has an id")
	}
	var unsafe *repo.UnsafeError
	file := repo.Within("site/site.yaml", "site.yaml")
	if _, err := r.Read(within(t), tip, nil, file); !errors.As(err, &unsafe) || unsafe.Path != "site/site.yaml" {
		t.Errorf("a file in place of the directory: %v", err)
	}
}

// An object beyond the reader's limits is reported by its path. The reader reads the
// rest.
func readHostile(t *testing.T, setup Setup) {
	f := setup(t, map[string]string{"site/site.yaml": "site", "site/shop/record.yaml": "shop", "plain": "1"})
	o := f.Origin
	nested, large := o.Nested(t, 7), o.Zeros(t, repo.MostBytes+1)
	o.Put(t, "main", "site/nested/record.yaml", nested)
	o.Put(t, "main", "site/beside/nested", nested)
	o.Put(t, "main", "site/large/record.yaml", large)
	o.Put(t, "main", "site/fits/record.yaml", o.Zeros(t, repo.MostBytes))
	o.Put(t, "main", "nested", nested)
	o.Put(t, "main", "large", large)
	o.Put(t, "main", "holds/large", large)
	deep := "deep" + strings.Repeat("/d", repo.MostLevels)
	tip := o.Push(t, "main", map[string]string{deep + "/in": "1", deep + "/d/out": "1"}, "deep")

	r := f.Open(t)
	got := mustRead(t, r, tip, nil, records, "plain", "holds", "deep")
	if files := slices.Sorted(maps.Keys(got[records].Files)); !slices.Equal(files, []string{"site/fits/record.yaml", "site/shop/record.yaml", "site/site.yaml"}) {
		t.Errorf("files are %q", files)
	}
	for path, want := range map[string]map[string]string{
		records: {"site/nested/record.yaml": "is a directory", "site/large/record.yaml": repo.TooLarge},
		"holds": {"holds/large": repo.TooLarge},
		"deep":  {deep + "/d": repo.TooDeep},
	} {
		if !maps.Equal(got[path].Unsafe, want) {
			t.Errorf("of %s unsafe are %q, want %q", path, got[path].Unsafe, want)
		}
	}
	for path, why := range map[string]string{"nested": repo.TooMany, "large": repo.TooLarge} {
		var unsafe *repo.UnsafeError
		if _, err := r.Read(within(t), tip, nil, path); !errors.As(err, &unsafe) || *unsafe != (repo.UnsafeError{Path: path, Why: why}) {
			t.Errorf("read %s: %v, want that it %s", path, err, why)
		}
	}
}

func texts(files map[string][]byte) map[string]string {
	text := map[string]string{}
	for path, content := range files {
		text[path] = string(content)
	}
	return text
}
