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

// Users look up the word that they received. So each alert kind, finding, freeze reason
// and alarm has one row in the handbook.
func TestEachWordOfTheCodeHasARow(t *testing.T) {
	t.Parallel()
	for section, words := range map[string][]string{
		"Alerts":         constants(t, "internal/alert", "Kind"),
		"Findings":       constants(t, "internal/doctor", "Trap"),
		"Freeze reasons": constants(t, "internal/policy", "Reason"),
		"Alarms":         alarms(t, "template.yaml", "infra/monitoring.yaml", "infra/drill.yaml", "infra/restore.yaml", "infra/fleet/template.yaml"),
	} {
		if len(words) < 5 {
			t.Errorf("%s: found %q in the code", section, words)
		}
		text := troubles(t, section)
		for _, word := range words {
			if rows := strings.Count(text, "\n| `"+word+"` | "); rows != 1 {
				t.Errorf("section %s has %d rows of %s", section, rows, word)
			}
		}
	}
}

// troubles returns a section of the page on troubleshooting.
func troubles(t *testing.T, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(docs.Text("troubleshooting"), "\n## "+heading+"\n")
	if !found {
		t.Fatalf("the page has no section %q", heading)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// The page marks all critical alerts, and no others.
func TestThePageMarksTheCriticalAlerts(t *testing.T) {
	t.Parallel()
	text := troubles(t, "Alerts")
	for _, kind := range alert.Kinds() {
		if marked := strings.Contains(text, "\n| `"+string(kind)+"` | **Critical.** "); marked != (kind.Severity() == alert.Critical) {
			t.Errorf("the severity of %s is %s, and the page differs", kind, kind.Severity())
		}
	}
}

// constants returns the values of the constants of a type in a package.
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

// alarms returns the names of the alarms in templates.
func alarms(t *testing.T, files ...string) (names []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		found := alarm.FindAllStringSubmatch(string(text), -1)
		if links := strings.Count(string(text), "See gitlatch help troubleshooting."); links != len(found) {
			t.Errorf("%s: %d of %d alarms name their page", file, links, len(found))
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
