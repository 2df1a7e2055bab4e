// Package terraform contains tests only. They check the example in infra/terraform without
// Terraform and its provider for AWS.
package terraform

import (
	"bytes"
	"os"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"go.yaml.in/yaml/v3"
)

const path = "../../infra/terraform/main.tf"

// The example is valid HCL in the format of "terraform fmt". Each parameter is one of the
// packaged template, and each required parameter is set.
func TestTheExampleSetsTheParametersOfTheTemplate(t *testing.T) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if formatted := hclwrite.Format(text); !bytes.Equal(formatted, text) {
		t.Errorf("%s is not formatted, want\n%s", path, formatted)
	}
	file, problems := hclsyntax.ParseConfig(text, path, hcl.InitialPos)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	set := keys(t, file.Body.(*hclsyntax.Body))

	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var declared struct {
		Parameters map[string]struct {
			Default *string `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(template, &declared); err != nil {
		t.Fatal(err)
	}
	for name, p := range declared.Parameters {
		if p.Default == nil && !set[name] {
			t.Errorf("%s does not set the required parameter %s", path, name)
		}
	}
	for name := range set {
		_, known := declared.Parameters[name]
		if packaged := name == "CodeBucket" || name == "CodePrefix"; !known && !packaged {
			t.Errorf("%s sets %s, which is no parameter of the template", path, name)
		}
	}
}

// keys returns the names of the parameters: the keys of the objects in the default of the
// variable "parameters", and in the attribute "parameters" of the stack.
func keys(t *testing.T, body *hclsyntax.Body) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	collect := func(node hclsyntax.Node) hcl.Diagnostics {
		if object, ok := node.(*hclsyntax.ObjectConsExpr); ok {
			for _, item := range object.Items {
				key, problems := item.KeyExpr.Value(nil)
				if problems.HasErrors() {
					t.Fatal(problems)
				}
				found[key.AsString()] = true
			}
		}
		return nil
	}
	for _, block := range body.Blocks {
		attribute := block.Body.Attributes["parameters"]
		if block.Type == "variable" && block.Labels[0] == "parameters" {
			attribute = block.Body.Attributes["default"]
		}
		if attribute != nil {
			_ = hclsyntax.VisitAll(attribute.Expr, collect)
		}
	}
	if len(found) < 4 {
		t.Fatalf("only the parameters %v", found)
	}
	return found
}
