package checkpoint

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

const listAt = "checkpoints/prod-eu/kustomization.yaml"

// listedIn returns the tree of pay and shop of the example with a site's kustomization.
// "" means no file.
func listedIn(t *testing.T, list string) Tree {
	t.Helper()
	files := read(t, example.Name)
	maps.DeleteFunc(files, func(file string, _ []byte) bool {
		return file == listAt || strings.Contains(file, "/on/") || strings.Contains(file, "/infra/")
	})
	if list != "" {
		files[listAt] = []byte(list)
	}
	tree, err := ParseTree(example.Name, files)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestAListHasCanonicalBytes(t *testing.T) {
	t.Parallel()
	if got := string(formatList([]string{"infra", "on", "pay", "shop"})); got != string(read(t, example.Name)[listAt]) {
		t.Errorf("got\n%s", got)
	}
	if got := string(formatList(nil)); !strings.HasSuffix(got, "\nkind: Kustomization\nresources: []\n") {
		t.Errorf("an empty list is\n%s", got)
	}
}

func TestAListIsReadAlsoAfterAnEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, list        string
		unlisted          string
		foreign, dangling bool
	}{
		{"as written", string(formatList([]string{"pay", "shop"})), "", false, false},
		{"none", "", "", false, false},
		{"one left out", string(formatList([]string{"shop"})), "pay", false, false},
		{"in other words", listMark + "\nresources: [shop/checkpoint.yaml, 'pay/checkpoint.yaml']\n", "", false, false},
		{"in a comment", listMark + "\nresources:\n- shop/checkpoint.yaml\n# - pay/checkpoint.yaml\n", "pay", false, false},
		{"of a namespace without a file", string(formatList([]string{"gone", "pay", "shop"})), "", false, true},
		{"a part of a name is another name", listMark + "\nresources:\n- shop/checkpoint.yaml\n- my-pay/checkpoint.yaml\n", "pay", false, true},
		{"of a user", "resources:\n- gone/checkpoint.yaml\n", "", true, false},
		{"empty", " ", "", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := listedIn(t, c.list)
			got := strings.Join(tree.Unlisted(), " ")
			if got != c.unlisted || tree.ForeignList() != c.foreign || tree.Dangling() != c.dangling || tree.HasList() != (c.list != "" && !c.foreign) {
				t.Errorf("unlisted %q, foreign %v, dangling %v", got, tree.ForeignList(), tree.Dangling())
			}
		})
	}
	linked := listedIn(t, string(formatList([]string{"pay", "shop"})))
	delete(linked.files, payRecord)
	err := linked.Break(payRecord, errors.New("is a symlink"))
	if err != nil || linked.Dangling() {
		t.Errorf("a link is no checkpoint file: %v", err)
	}
	tree := listedIn(t, "")
	err = tree.Break(listAt, errors.New("is a symlink"))
	if err != nil || !tree.ForeignList() {
		t.Errorf("a link is not a user's: %v", err)
	}
	files := map[string][]byte{}
	if List(tree, files, nil); len(files) > 0 || len(Begin(tree, example, nil)) > 0 {
		t.Error("a link is replaced")
	}
}

func TestAListFollowsTheCheckpointFiles(t *testing.T) {
	t.Parallel()
	all := string(formatList([]string{"pay", "shop"}))
	shop := string(formatList([]string{"shop"}))
	added := []Change{{ID: workload.ID{Namespace: "new", Kind: workload.Deployment, Name: "web"}, To: to(5)}}
	for _, c := range []struct {
		name, list     string
		changes        []Change
		listed         map[string]bool
		want           string // the namespaces, or "unchanged"
		added, removed string
	}{
		{"a level", all, []Change{{ID: payWeb, From: heldInPay, To: to(2)}}, nil, "unchanged", "", ""},
		{"a new namespace", all, added, nil, "new pay shop", "", ""},
		{"a new namespace without workloads", all, added, map[string]bool{"new": false}, "unchanged", "", "new"},
		{"a retired one", all, []Change{{ID: payWeb, From: heldInPay}}, nil, "shop", "", ""},
		{"a retired one that was left out", shop, []Change{{ID: payWeb, From: heldInPay}}, nil, "unchanged", "", ""},
		{"without workloads", all, nil, map[string]bool{"pay": false, "shop": true}, "shop", "", "pay"},
		{"with workloads again", shop, nil, map[string]bool{"pay": true}, "pay shop", "pay", ""},
		{"undecided", shop, added, nil, "new shop", "", ""},
		{"the first list", "", nil, map[string]bool{"pay": false}, "shop", "", ""},
		{"a user's edit", listMark + "\nresources: [gone/checkpoint.yaml, shop/checkpoint.yaml, pay/checkpoint.yaml]\n", nil, nil, "pay shop", "", ""},
		{"of a user", "resources: []\n", added, nil, "unchanged", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tree := listedIn(t, c.list)
			files, skipped := Merge(tree, example, c.changes)
			if len(skipped) > 0 {
				t.Fatalf("skipped %v", skipped)
			}
			l := List(tree, files, c.listed)
			got := "unchanged"
			if data, written := files[listAt]; written {
				after, err := tree.With(files)
				if err != nil {
					t.Fatal(err)
				}
				got = strings.Join(after.lists(), " ")
				if string(data) != string(formatList(after.lists())) {
					t.Errorf("not canonical:\n%s", data)
				}
				if !slices.Equal(after.Unlisted(), l.Unlisted) || after.Dangling() || after.HasList() != l.Lists {
					t.Errorf("unlisted %q, want %q", l.Unlisted, after.Unlisted())
				}
			}
			if got != c.want || strings.Join(l.Added, " ") != c.added || strings.Join(l.Removed, " ") != c.removed {
				t.Errorf("got %q, added %q, removed %q", got, l.Added, l.Removed)
			}
		})
	}
}

// A malformed checkpoint file leaves the list. If it is repaired, the list has it again only
// by decision: nobody knows whether its namespace has workloads.
func TestAListLeavesOutAMalformedFile(t *testing.T) {
	t.Parallel()
	tree := listedIn(t, string(formatList([]string{"pay", "shop"})))
	sound := tree.files[payRecord]
	broken, err := tree.With(map[string][]byte{payRecord: []byte("data: [")})
	if err != nil || broken.Dangling() {
		t.Fatalf("dangling %v, %v", broken.Dangling(), err)
	}
	for _, listed := range []map[string]bool{nil, {"pay": false, "shop": true}, {"pay": true, "shop": true}} {
		files := map[string][]byte{}
		l := List(broken, files, listed)
		if !slices.Equal(l.Removed, []string{"pay"}) || string(files[listAt]) != string(formatList([]string{"shop"})) {
			t.Errorf("%v: removed %q, list\n%s", listed, l.Removed, files[listAt])
		}
		broken, err := broken.With(files)
		if err != nil || !slices.Equal(broken.Unlisted(), l.Unlisted) {
			t.Errorf("unlisted %q, want %q: %v", broken.Unlisted(), l.Unlisted, err)
		}
		repaired, err := broken.With(map[string][]byte{payRecord: sound})
		if err != nil {
			t.Fatal(err)
		}
		if List(repaired, files, nil); string(files[listAt]) != string(formatList([]string{"shop"})) {
			t.Errorf("undecided, the list is\n%s", files[listAt])
		}
		if List(repaired, files, map[string]bool{"pay": true}); string(files[listAt]) != string(formatList([]string{"pay", "shop"})) {
			t.Errorf("with workloads, the list is\n%s", files[listAt])
		}
	}
}

// The first files of a site list the checkpoint files that it has.
func TestASiteBeginsWithAList(t *testing.T) {
	t.Parallel()
	empty, err := ParseTree(example.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(Begin(empty, example, nil)[listAt]); got != string(formatList(nil)) {
		t.Errorf("got\n%s", got)
	}
	if got := string(Begin(listedIn(t, ""), example, nil)[listAt]); got != string(formatList([]string{"pay", "shop"})) {
		t.Errorf("got\n%s", got)
	}
	if Begin(listedIn(t, "resources: []\n"), example, nil)[listAt] != nil {
		t.Errorf("a user's file is replaced")
	}
}
