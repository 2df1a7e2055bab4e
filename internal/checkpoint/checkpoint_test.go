package checkpoint

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// golden is the folder with this package's files in the form that git has.
const golden = "../../testdata/checkpoints"

var update = flag.Bool("update", false, "rewrite the golden files; read the diff")

// deployment names a Deployment of the namespace shop.
func deployment(name string) workload.ID {
	return workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
}

// example is the site that the golden tree shows.
var example = Site{Name: "prod-eu", Cluster: "blue"}

// exampleChanges create the golden tree from an empty one.
func exampleChanges() []Change {
	at := func(namespace string, kind workload.Kind, name string, e Entry) Change {
		return Change{ID: workload.ID{Namespace: namespace, Kind: kind, Name: name}, To: e}
	}
	return []Change{
		at("shop", workload.Deployment, "web", Entry{Replicas: 200, Min: 3, Max: 500, Rollout: Rollout{
			Milestone: 30, Phase: PhaseProgressing, Returns: SideFrom, ImagesOnly: true,
			From: Template{"5d8f9c7b64", ImagesOf(map[string]string{"app": "registry.example.com/web:v1", "proxy": "envoy:1.31"})},
			To:   Template{"7c9b6d5f88", ImagesOf(map[string]string{"app": "registry.example.com/web@sha256:" + strings.Repeat("0f", 32), "proxy": "envoy:1.31"})},
		}}),
		at("infra", workload.DaemonSet, "agent", Entry{Rollout: Rollout{
			Phase: PhaseFailed, Returns: SideFrom, From: Template{Hash: "6b"}, To: Template{Hash: "77"},
		}}),
		at("shop", workload.Deployment, "web-2", Entry{Replicas: 10}),
		at("shop", workload.Deployment, "web.v2", Entry{Replicas: 20, Max: 50}),
		at("shop", workload.StatefulSet, "web", Entry{Replicas: 5}),
		at("pay", workload.Deployment, "web", Entry{Replicas: 1, Min: 1}),
		at("on", workload.Deployment, "1e3", Entry{Replicas: 999999, Max: 2147483647}),
	}
}

// read returns the files below the golden folder dir, by their path in a repository.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	root := filepath.Join(golden, dir)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		below, _ := filepath.Rel(root, path)
		files["checkpoints/"+dir+"/"+filepath.ToSlash(below)] = data
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func mustParse(t *testing.T, files map[string][]byte) Tree {
	t.Helper()
	tree, err := ParseTree(example.Name, files)
	if err != nil {
		t.Fatal(err)
	}
	for namespace, err := range tree.Broken {
		t.Fatalf("namespace %s: %v", namespace, err)
	}
	return tree
}

func TestTreeIsWrittenAsTheGoldenFilesShow(t *testing.T) {
	t.Parallel()
	empty, err := ParseTree(example.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, skipped := Merge(empty, example, exampleChanges())
	if len(skipped) > 0 {
		t.Fatalf("skipped %v", skipped)
	}
	if *update {
		for path, data := range files {
			write(t, filepath.Join(golden, strings.TrimPrefix(path, "checkpoints/")), data)
		}
	}
	want := read(t, example.Name)
	for path, data := range files {
		if string(data) != string(want[path]) {
			t.Errorf("%s is\n%s\nand the golden file\n%s", path, data, want[path])
		}
		delete(want, path)
	}
	for path := range want {
		t.Errorf("%s was not written", path)
	}
}

func TestTreeReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	tree := mustParse(t, read(t, example.Name))
	if want := (Site{Name: "prod-eu", Cluster: "blue", Version: Version}); !reflect.DeepEqual(tree.Site, want) {
		t.Errorf("site is %+v, want %+v", tree.Site, want)
	}
	entries := tree.Entries()
	for _, c := range exampleChanges() {
		if entries[c.ID] != c.To {
			t.Errorf("%s is %+v, want %+v", c.ID, entries[c.ID], c.To)
		}
		delete(entries, c.ID)
	}
	if len(entries) > 0 {
		t.Errorf("also read %v", entries)
	}
	if stale := tree.Stale(); len(stale) > 0 {
		t.Errorf("stale: %v", stale)
	}
}

// all returns the full text of an error, including the problems that Error omits.
func all(err error) string {
	if p, ok := err.(*yamldoc.Errors); ok {
		return errors.Join(p.Unwrap()...).Error()
	}
	return err.Error()
}

// An edit that breaks many lines gets an error with the first problems and the number
// of the others.
func TestABrokenFileIsToldInBrief(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{4: "w4", 5: "w5", 6: "and 1 more", 168: "and 163 more", 20_000: "and 19995 more"} {
		var record strings.Builder
		record.WriteString("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: gitlatch-levels}\ndata:\n")
		for i := range n {
			fmt.Fprintf(&record, "  deployment.w%d: many\n", i+1)
		}
		_, err := ParseRecord("shop", []byte(record.String()))
		lines := strings.Split(err.Error(), "\n")
		if last := lines[len(lines)-1]; len(lines) != min(n, 6) || !strings.Contains(last, want) {
			t.Errorf("%d problems: %d lines, of which the last is %q, want %q", n, len(lines), last, want)
		}
		if kept := strings.Count(all(err), "\n") + 1; kept != min(n, 100) {
			t.Errorf("%d problems: it keeps %d", n, kept)
		}
	}
}

// The golden file next to a broken checkpoint file or site.yaml lists all of its
// problems.
func TestBrokenFilesSayAllThatIsWrong(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob(golden + "/broken/*.yaml")
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	for _, path := range paths {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(name, "site-"):
				_, err = parseSite(siteFile, data)
			default:
				_, err = ParseRecord("shop", data)
			}
			if err == nil {
				t.Fatal("was taken")
			}
			told := strings.TrimSuffix(path, ".yaml") + ".txt"
			got := all(err) + "\n"
			if *update {
				write(t, told, []byte(got))
			}
			want, err := os.ReadFile(told)
			if errors.Is(err, fs.ErrNotExist) || got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A user's edited forms of a checkpoint file have the same entries as the original.
func TestEditedRecordsReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	paths, _ := filepath.Glob(golden + "/edited/*.yaml")
	if len(paths) == 0 {
		t.Fatal("no cases")
	}
	want := mustParse(t, read(t, example.Name)).Records["shop"]
	edits := map[string][]byte{"crlf": bytes.ReplaceAll(want.Format(), []byte("\n"), []byte("\r\n"))}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		edits[filepath.Base(path)] = data
	}
	for name, data := range edits {
		t.Run(name, func(t *testing.T) {
			r, err := ParseRecord("shop", data)
			if err != nil {
				t.Fatal(err)
			}
			if string(r.Format()) != string(want.Format()) {
				t.Errorf("reads as\n%s", r.Format())
			}
		})
	}
}
