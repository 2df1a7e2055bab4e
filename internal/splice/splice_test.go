package splice

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
	"go.yaml.in/yaml/v3"
	kubernetes "sigs.k8s.io/yaml"
)

// cases are files before the edit of wanted, the same files after it, and refused
// files, each with its error message.
const cases = "../../testdata/splice"

var update = flag.Bool("update", false, "rewrite the golden files; read the diff")

var (
	web = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	api = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
	db  = workload.ID{Namespace: "shop", Kind: workload.StatefulSet, Name: "db"}
)

// wanted are the levels of each case.
var wanted = map[workload.ID]int32{web: 200, api: 20, db: 3}

// read returns the files of a folder of cases that end in .yaml or .json.
func read(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, pattern := range []string{"*.yaml", "*.json"} {
		paths, _ := filepath.Glob(filepath.Join(cases, folder, pattern))
		for _, path := range paths {
			files[filepath.Base(path)] = must(os.ReadFile(path))(t)
		}
	}
	if len(files) == 0 {
		t.Fatalf("no cases in %s", folder)
	}
	return files
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// golden returns the content of a golden file, which it first rewrites with -update.
func golden(t *testing.T, path string, got []byte) []byte {
	t.Helper()
	path = filepath.Join(cases, path)
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return must(os.ReadFile(path))(t)
}

func TestCountsAreEditedAndNoOtherByteMoves(t *testing.T) {
	t.Parallel()
	for name, before := range read(t, "before") {
		t.Run(name, func(t *testing.T) {
			kept := bytes.Clone(before)
			marks := must(Find(name, before, nil))(t)
			after := must(Edit(name, before, wanted))(t)
			if want := golden(t, "after/"+name, after); !bytes.Equal(after, want) {
				t.Errorf("became\n%q\nwant\n%q", after, want)
			}
			if !bytes.Equal(before, kept) {
				t.Error("Edit changed what it was given")
			}
			if problem := moved(before, after, marks, wanted); problem != "" {
				t.Error(problem)
			}
			for i := range marks {
				marks[i].Value = wanted[marks[i].ID]
			}
			if again := must(Find(name, after, nil))(t); !slices.Equal(again, marks) {
				t.Errorf("holds %v after the edit, want %v", again, marks)
			}
			if again := must(Edit(name, after, wanted))(t); !bytes.Equal(again, after) {
				t.Errorf("a second edit makes\n%s", again)
			}
		})
	}
}

// Kubernetes' tools read a file with another parser.
func TestOtherReadersSeeTheSameEdit(t *testing.T) {
	t.Parallel()
	compared := 0
	for name, before := range read(t, "before") {
		marks := must(Find(name, before, nil))(t)
		problem, ok := elsewhere(before, must(Edit(name, before, wanted))(t), marks, wanted)
		if problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		if ok {
			compared++
		}
	}
	if compared < 20 {
		t.Errorf("compared only %d files", compared)
	}
}

// elsewhere reports changes other than the marked replica counts, as Kubernetes' own
// reader sees them. ok is false for a file that this reader refuses, or with several
// documents, because it reads only the first one.
func elsewhere(before, after []byte, marks []Mark, to map[workload.ID]int32) (problem string, ok bool) {
	documents, err := parse(before)
	was, errBefore := leaves(before)
	if err != nil || len(documents) > 1 || errBefore != nil {
		return "", false
	}
	is, err := leaves(after)
	if err != nil {
		return err.Error(), true
	}
	changed, want := map[string]int{}, map[string]int{}
	for path, value := range was {
		if is[path] != value {
			changed[value+" -> "+is[path]]++
		}
	}
	for _, m := range marks {
		if m.Value != to[m.ID] {
			want[fmt.Sprintf("%d -> %d", m.Value, to[m.ID])]++
		}
	}
	if len(is) != len(was) || !maps.Equal(changed, want) {
		return fmt.Sprintf("Kubernetes sees %v changed, want %v", changed, want), true
	}
	return "", true
}

// leaves returns the values of a document by their path.
func leaves(data []byte) (map[string]string, error) {
	var root any
	if err := kubernetes.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	found := map[string]string{}
	var see func(path string, v any)
	see = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, child := range v {
				see(path+"/"+k, child)
			}
		case []any:
			for i, child := range v {
				see(path+"/"+strconv.Itoa(i), child)
			}
		case float64:
			found[path] = strconv.FormatFloat(v, 'f', -1, 64)
		default:
			found[path] = fmt.Sprint(v)
		}
	}
	see("", root)
	return found, nil
}

func TestWhatIsUnsafeIsRefused(t *testing.T) {
	t.Parallel()
	for name, data := range read(t, "refused") {
		t.Run(name, func(t *testing.T) {
			marks, err := Find(name, data, nil)
			var refused *Refused
			if !errors.As(err, &refused) || len(marks) > 0 {
				t.Fatalf("found %v, error %v", marks, err)
			}
			got := err.Error() + "\n"
			if want := golden(t, "refused/"+strings.TrimSuffix(name, filepath.Ext(name))+".txt", []byte(got)); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			// a marked row is refused once, and so is every row: each case marks only lines to refuse
			out, err := Edit(name, data, wanted)
			if !errors.As(err, &refused) || out != nil {
				t.Errorf("edited to\n%s\nerror %v", out, err)
			}
		})
	}
}

// moved reports changes other than the marked replica counts, or "". It shares no code
// with the edits: it compares lines and values.
func moved(before, after []byte, marks []Mark, to map[workload.ID]int32) string {
	was, is := bytes.Split(before, []byte("\n")), bytes.Split(after, []byte("\n"))
	if len(was) != len(is) {
		return fmt.Sprintf("%d lines became %d", len(was), len(is))
	}
	var changes []string
	for _, m := range marks {
		want, asked := to[m.ID]
		if !asked || want == m.Value {
			continue
		}
		change := fmt.Sprintf("%d -> %d", m.Value, want)
		changes = append(changes, change)
		if got := numbers(was[m.Line-1], is[m.Line-1]); got != change {
			return fmt.Sprintf("line %d: changed %s, want %s", m.Line, got, change)
		}
		is[m.Line-1] = was[m.Line-1]
	}
	if !bytes.Equal(bytes.Join(is, []byte("\n")), before) {
		return "a line changed that has no mark, or one that was not to change"
	}
	x, errBefore := values(before)
	y, errAfter := values(after)
	if errBefore != nil && len(marks) == 0 {
		return "" // the file has no marker
	}
	if errBefore != nil || errAfter != nil || len(x) != len(y) {
		return fmt.Sprintf("%d values became %d; errors %v, %v", len(x), len(y), errBefore, errAfter)
	}
	var got []string
	for i := range x {
		if x[i] != y[i] {
			got = append(got, strings.TrimPrefix(x[i], "!!int ")+" -> "+strings.TrimPrefix(y[i], "!!int "))
		}
	}
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], "!!str ", "")
	}
	if !slices.Equal(got, changes) {
		return fmt.Sprintf("values changed: %v, want %v", got, changes)
	}
	return ""
}

// numbers returns the two integers in which two lines differ, or "" if they differ
// elsewhere.
func numbers(was, is []byte) string {
	from := 0
	for from < len(was) && from < len(is) && was[from] == is[from] {
		from++
	}
	x, y := len(was), len(is)
	for x > from && y > from && was[x-1] == is[y-1] {
		x, y = x-1, y-1
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	for from > 0 && digit(was[from-1]) {
		from--
	}
	for x < len(was) && digit(was[x]) {
		x, y = x+1, y+1
	}
	for _, c := range slices.Concat(was[from:x], is[from:y]) {
		if !digit(c) {
			return fmt.Sprintf("%q -> %q", was[from:x], is[from:y])
		}
	}
	return fmt.Sprintf("%s -> %s", was[from:x], is[from:y])
}

// values returns the tag and the text of all nodes of a file, in its order.
func values(data []byte) ([]string, error) {
	documents, err := parse(data)
	var all []string
	var see func(n *yaml.Node)
	see = func(n *yaml.Node) {
		all = append(all, n.Tag+" "+n.Value)
		for _, c := range n.Content {
			see(c)
		}
	}
	for _, d := range documents {
		see(d)
	}
	return all, err
}
