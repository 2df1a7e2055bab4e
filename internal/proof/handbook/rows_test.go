package handbook

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/docs"
)

// A user on call looks up the word in an alert: every word that the code may print has
// a row on the page of its kind.
func TestWhateverTheCodeSaysHasARow(t *testing.T) {
	t.Parallel()
	for topic, words := range map[string][]string{
		"alerts":  constants(t, "internal/alert", "Kind"),
		"traps":   constants(t, "internal/doctor", "Trap"),
		"freezes": constants(t, "internal/policy", "Reason"),
		"alarms":  alarms(t, "template.yaml", "infra/monitoring.yaml", "infra/drill.yaml", "infra/restore.yaml", "infra/fleet/template.yaml"),
	} {
		if len(words) < 5 {
			t.Errorf("%s: found %q in the code", topic, words)
		}
		text := docs.Text(topic)
		for _, word := range words {
			if rows := strings.Count(text, "\n| `"+word+"` | "); rows != 1 {
				t.Errorf("topic %s has %d rows of %s", topic, rows, word)
			}
		}
	}
}

// The page lists the critical alerts. The reader assumes that the others are warnings.
func TestAlertsSayWhichAreCritical(t *testing.T) {
	t.Parallel()
	_, said, _ := strings.Cut(docs.Text("alerts"), "Look now at ")
	said, _, _ = strings.Cut(said, "\n")
	for _, kind := range alert.Kinds() {
		if named := strings.Contains(said, "`"+string(kind)+"`"); named != (kind.Severity() == alert.Critical) {
			t.Errorf("%s is of severity %s, and the page says otherwise: %s", kind, kind.Severity(), said)
		}
	}
}

// constants are the texts of a package's constants of a type.
func constants(t *testing.T, dir, of string) (texts []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			typed, isNamed := spec.Type.(*ast.Ident)
			text, isText := spec.Values[0].(*ast.BasicLit)
			if isNamed && isText && typed.Name == of && text.Value != `""` {
				word, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				texts = append(texts, word)
			}
			return true
		})
	}
	return texts
}

var alarm = regexp.MustCompile(`(?m)^  (\w+):\n    Type: AWS::CloudWatch::Alarm$`)

// alarms are the names of those in templates.
func alarms(t *testing.T, files ...string) (names []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		found := alarm.FindAllStringSubmatch(string(text), -1)
		if said := strings.Count(string(text), "See gitlatch help alarms."); said != len(found) {
			t.Errorf("%s: %d of %d alarms say where their page is", file, said, len(found))
		}
		for _, m := range found {
			if !seen[m[1]] {
				names = append(names, m[1])
			}
			seen[m[1]] = true
		}
	}
	return names
}
