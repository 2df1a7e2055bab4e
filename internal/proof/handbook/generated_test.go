package handbook

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/docs"
)

var update = flag.Bool("update", false, "rewrite the generated blocks of the handbook; read the diff")

const (
	root  = "../../.."
	begin = "<!-- generated: go test ./internal/proof/handbook -update -->\n"
	end   = "<!-- /generated -->"
)

// Reference pages contain blocks that are generated from the code. The text around them is
// written by hand.
func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	described := map[string]string{}
	for name, want := range map[string][]string{
		"config": {fields(t, config.KindConfig, described), fields(t, config.KindPolicy, described), fields(t, config.KindFleet, described)},
		"cli":    {commands(cli.Commands(cli.Env{Getenv: func(string) string { return "" }}))},
		"aws":    {parameters(t)},
	} {
		text, rest := "", docs.Text(name)
		for _, block := range want {
			before, after, begins := strings.Cut(rest, begin)
			shown, left, ends := strings.Cut(after, end)
			if !begins || !ends || strings.Contains(shown, begin) {
				t.Fatalf("topic %s must have %d generated blocks, each between these lines:\n%s%s", name, len(want), begin, end)
			}
			if shown != block && !*update {
				t.Errorf("a block of topic %s differs from the code. Run the command in its first line. The block must be\n%s", name, block)
			}
			text, rest = text+before+begin+block+end, left
		}
		if strings.Contains(rest, begin) {
			t.Errorf("topic %s has more than %d generated blocks", name, len(want))
		}
		if *update {
			file := filepath.Join(root, "internal/docs", name+".md")
			if err := os.WriteFile(file, []byte(text+rest), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

// row returns a row of a table, and escapes the borders in its cells.
func row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(text string) string { return "`" + text + "`" }

// A schema contains the parts of a JSON schema that describe a field.
type schema struct {
	Description string
	Properties  map[string]schema
	Required    []string
	Items       *schema
	Enum        []any
	AnyOf       []schema
	OneOf       []schema
	Const       any
	Default     any
	Deprecated  bool
	Pattern     string
	Type        string
}

// schemaOf reads the JSON schema of a kind of document.
func schemaOf(t *testing.T, kind string) (s schema) {
	t.Helper()
	data, err := os.ReadFile("../../config/schema/" + strings.ToLower(kind) + ".json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// fields returns a table of the fields of a kind of document. A description that an earlier
// field has is replaced by the path of that field.
func fields(t *testing.T, kind string, described map[string]string) string {
	t.Helper()
	s := schemaOf(t, kind)
	table := row("field", "value", "description") + "|---|---|---|\n"
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			at := strings.TrimPrefix(path+"."+name, ".")
			if p.Deprecated || path == "" && (name == "apiVersion" || name == "kind") {
				continue // a field of every document
			}
			inner := p
			if p.Items != nil && p.Items.Properties != nil {
				at, inner = at+"[]", *p.Items
				p.Type = ""
			}
			value := p.value()
			if slices.Contains(s.Required, name) {
				value = strings.TrimPrefix(value+"; required", "; ")
			}
			text := sentences(p.Description)
			if first := described[text]; first != "" {
				text = "As " + code(first) + "."
			} else {
				described[text] = at
			}
			table += row(code(at), value, text)
			walk(at, inner)
		}
	}
	walk("", s)
	return table
}

// sentences returns a description as sentences: its parts between semicolons, each with
// a capital letter and a full stop. The name gitlatch has no capital letter.
func sentences(description string) string {
	parts := strings.Split(description, "; ")
	for i, part := range parts {
		if !strings.HasPrefix(part, "gitlatch ") {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		parts[i] = part + "."
	}
	return strings.Join(parts, " ")
}

// Descriptions of parameters are plain text, because the AWS console shows them. A literal is
// a schedule, a path, an ARN, a pattern, or the name of a parameter or an alarm. A chosen
// word is a value or an example.
var (
	literal = regexp.MustCompile("`[^`]*`" + `|(?:rate|cron)\([^)]*\)|[\w.:@-]*[/*_](?:[\w.:@/*-]*[\w/*-])?|\b(?:[A-Z][a-z]+){2,}\b`)
	chosen  = regexp.MustCompile("(\\bvalue|\\baction|cluster must be|for example|start with|`ClusterNames` to) ([a-zA-Z][\\w-]*|-)")
	product = regexp.MustCompile(`^(?:GitHub|GitLab|CodeCommit|CloudFormation|CloudWatch)$`)
)

// marked puts the literals and the chosen words of a description in code font.
func marked(description string) string {
	description = literal.ReplaceAllStringFunc(description, func(found string) string {
		if found[0] == '`' || product.MatchString(found) {
			return found
		}
		return code(found)
	})
	return chosen.ReplaceAllString(description, "$1 `$2`")
}

// value describes the values that a field accepts, and its default.
func (s schema) value() string {
	var choices []string
	for _, either := range slices.Concat([]schema{s}, s.AnyOf, s.OneOf) {
		switch {
		case either.Enum != nil:
			for _, e := range either.Enum {
				choices = append(choices, code(fmt.Sprint(e)))
			}
		case strings.Contains(either.Pattern, "(ms|s|m|h)"):
			choices = append(choices, "duration, such as `26h`")
		case strings.HasSuffix(either.Pattern, "%$"):
			choices = append(choices, "share, such as `10%`")
		case either.Type == "array":
			choices = append(choices, "list")
		case either.Type == "object" && either.Properties == nil:
			choices = append(choices, "mapping")
		case either.Type != "" && either.Type != "object":
			choices = append(choices, map[string]string{"string": "", "integer": "number", "number": "number", "boolean": "`true` or `false`"}[either.Type])
		}
	}
	choices = slices.Compact(choices)
	if len(choices) > 1 && strings.HasPrefix(choices[0], "share") {
		choices = choices[:1]
	}
	text := strings.Join(choices, ", ")
	if s.Default != nil {
		text += "; default " + code(fmt.Sprint(s.Default))
	}
	return text
}

// commands returns a table of all commands, each with the flags that only it has.
func commands(c *cobra.Command) string {
	table := row("command", "purpose", "additional flags") + "|---|---|---|\n"
	common := []string{"help", "config", "repository", "kubeconfig", "context", "output", "site", "namespace"}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if !below.IsAvailableCommand() {
				continue
			}
			var own []string
			below.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if !slices.Contains(common, f.Name) {
					own = append(own, code("--"+f.Name))
				}
			})
			line := strings.TrimPrefix(strings.TrimSuffix(below.UseLine(), " [flags]"), "gitlatch ")
			if below.Runnable() {
				table += row(code(line), below.Short, strings.Join(own, " "))
			}
			walk(below)
		}
	}
	walk(c)
	return table
}

// parameters returns a table of the parameters of template.yaml, each with the first sentence
// of its description. The other templates describe theirs.
func parameters(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Parameters yaml.Node `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(text, &template); err != nil {
		t.Fatal(err)
	}
	table := row("parameter", "description") + "|---|---|\n"
	for i := 0; i < len(template.Parameters.Content); i += 2 {
		var p struct {
			Description   string   `yaml:"Description"`
			Default       *string  `yaml:"Default"`
			AllowedValues []string `yaml:"AllowedValues"`
		}
		if err := template.Parameters.Content[i+1].Decode(&p); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(p.Description, ". ")
		first = marked(sentences(first))
		if p.AllowedValues != nil {
			first += " One of " + code(strings.Join(p.AllowedValues, "`, `")) + "."
		}
		switch {
		case p.Default == nil:
			first += " Required."
		case *p.Default != "":
			first += " Default " + code(*p.Default) + "."
		}
		table += row(code(template.Parameters.Content[i].Value), first)
	}
	return table
}
