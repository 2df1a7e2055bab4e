package handbook

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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

var update = flag.Bool("update", false, "rewrite what is generated in the handbook; read the diff")

const (
	root  = "../../.."
	begin = "<!-- generated: go test ./internal/proof/handbook -update -->\n"
	end   = "<!-- /generated -->"
)

// Reference pages match the code. The text around the tables is written by hand.
func TestReferencePagesAreCurrent(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"config":     fields(t, config.KindConfig, func(top string) bool { return !ofGit[top] }),
		"config-git": fields(t, config.KindConfig, func(top string) bool { return ofGit[top] }),
		"policy":     fields(t, config.KindPolicy, all),
		"fleet-file": fields(t, config.KindFleet, all),
		"cli":        commands(cli.Commands(cli.Env{Getenv: func(string) string { return "" }})),
		"parameters": parameters(t),
	} {
		before, rest, begins := strings.Cut(docs.Text(name), begin)
		shown, after, ends := strings.Cut(rest, end)
		switch {
		case !begins || !ends:
			t.Errorf("%s has no place for its table: %s%s", name, begin, end)
		case *update:
			file := filepath.Join(root, "internal/docs", name+".md")
			if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
				t.Error(err)
			}
		case shown != want:
			t.Errorf("topic %s is not what the code says; run the command in its mark. It has to be\n%s", name, want)
		}
	}
}

// row is a row of a table, whose cells may hold what Markdown would take for a
// border.
func row(cells ...string) string {
	for i, c := range cells {
		cells[i] = strings.ReplaceAll(c, "|", `\|`)
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func code(text string) string { return "`" + text + "`" }

// A schema is the part of JSON schema that describes a field.
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

// ofGit are the fields of a Config that have a separate page.
var ofGit = map[string]bool{"repository": true, "commit": true}

func all(string) bool { return true }

// fields returns a table of the fields of a kind of document: the top-level fields that
// asked accepts, and the fields below them.
func fields(t *testing.T, kind string, asked func(top string) bool) string {
	t.Helper()
	var s schema
	if err := json.Unmarshal(config.Schema(kind), &s); err != nil {
		t.Fatal(err)
	}
	table := row("field", "value", "what it is") + "|---|---|---|\n"
	known := map[string]bool{}
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			p := s.Properties[name]
			at := strings.TrimPrefix(path+"."+name, ".")
			of, inPolicy := strings.CutPrefix(at, "policies[].")
			switch {
			case p.Deprecated, path == "" && (name == "apiVersion" || name == "kind" || !asked(name)):
				continue // is of every document, or of another page
			case inPolicy && known["default."+of]:
				continue // it is a default
			}
			known[at] = true
			inner := p
			if p.Items != nil && p.Items.Properties != nil {
				at, inner = at+"[]", *p.Items
				p.Type = ""
			}
			what := p.Description
			if slices.Contains(s.Required, name) {
				what += "; required"
			}
			table += row(code(at), p.value(), what)
			walk(at, inner)
		}
	}
	walk("", s)
	return table
}

// value returns the values that a field accepts, and its default.
func (s schema) value() string {
	var choices []string
	for _, either := range slices.Concat([]schema{s}, s.AnyOf, s.OneOf) {
		switch {
		case either.Enum != nil:
			for _, e := range either.Enum {
				choices = append(choices, code(fmt.Sprint(e)))
			}
		case strings.Contains(either.Pattern, "(ms|s|m|h)"):
			choices = append(choices, "time, as `26h`")
		case strings.HasSuffix(either.Pattern, "%$"):
			choices = append(choices, "share, as `10%`")
		case either.Type == "array":
			choices = append(choices, "list")
		case either.Type == "object" && either.Properties == nil:
			choices = append(choices, "mapping")
		case either.Type != "" && either.Type != "object":
			choices = append(choices, map[string]string{"string": "text", "integer": "number", "number": "number", "boolean": "`true` or `false`"}[either.Type])
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

// commands returns a table of all commands, with the flags that are specific to each.
func commands(c *cobra.Command) string {
	table := row("command", "what it does", "flags of its own") + "|---|---|---|\n"
	common := []string{"help", "config", "repository", "kubeconfig", "context", "output", "site", "namespace"}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			if !below.IsAvailableCommand() || below.Name() == "completion" {
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

// parameters are tables of the parameters of the core, and of those that each other
// template adds.
func parameters(t *testing.T) string {
	t.Helper()
	known := map[string]bool{}
	table := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		var template struct {
			Parameters yaml.Node `yaml:"Parameters"`
		}
		if err := yaml.Unmarshal(text, &template); err != nil {
			t.Fatal(err)
		}
		rows := row("parameter", "default", "what it is") + "|---|---|---|\n"
		for i := 0; i < len(template.Parameters.Content); i += 2 {
			name := template.Parameters.Content[i].Value
			var p struct {
				Description, Default string
				AllowedValues        []string
			}
			of := template.Parameters.Content[i+1]
			for j := 0; j < len(of.Content); j += 2 {
				switch value := of.Content[j+1]; of.Content[j].Value {
				case "Description":
					p.Description = value.Value
				case "Default":
					p.Default = code(value.Value)
					if value.Value == "" {
						p.Default = "empty"
					}
				case "AllowedValues":
					for _, v := range value.Content {
						p.AllowedValues = append(p.AllowedValues, code(v.Value))
					}
				}
			}
			if known[name] {
				continue
			}
			known[name] = true
			if p.AllowedValues != nil {
				p.Description = strings.TrimPrefix(p.Description+". One of "+strings.Join(p.AllowedValues, ", "), ". ")
			}
			rows += row(code(name), p.Default, p.Description)
		}
		return rows
	}
	text := "## The site: `template.yaml`\n\n" + table("template.yaml")
	for _, of := range [][2]string{{"Further alarms and the dashboard", "infra/monitoring.yaml"}, {"Drills", "infra/drill.yaml"}, {"Restores", "infra/restore.yaml"}, {"A fleet", "infra/fleet/template.yaml"}} {
		text += "\n## " + of[0] + ": added by " + code(of[1]) + "\n\n" + table(of[1])
	}
	return text
}
