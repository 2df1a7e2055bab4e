package stack

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The variable that Go's runtime reads.
const memoryLimit = "GOMEMLIMIT"

func environmentSetIsRead(t *testing.T, of templates) (broken []string) {
	for _, s := range samples {
		broken = append(broken, environmentIsRead(t, s.name, deployed(t, of, s).resources())...)
	}
	return broken
}

// environmentIsRead compares the variables of each function with those that its program reads.
func environmentIsRead(t *testing.T, sample string, resources map[string]any) (broken []string) {
	t.Helper()
	for id, f := range functions(resources) {
		reads, err := variablesRead(programs[id])
		if err != nil {
			t.Fatal(err)
		}
		reads = append(slices.Clone(reads), memoryLimit)
		variables, _ := at(f, "Properties", "Environment", "Variables").(map[string]any)
		for name := range variables {
			if !slices.Contains(reads, name) {
				broken = append(broken, fmt.Sprintf("%s: %s is set for %s, which never reads it", sample, name, id))
			}
		}
		for _, name := range reads {
			if variables[name] == nil {
				broken = append(broken, fmt.Sprintf("%s: %s reads %s, which is not set", sample, id, name))
			}
		}
	}
	return broken
}

// programs are the main packages of the functions.
var programs = map[string]string{"LatchFunction": "./functions/latch", "RestoreFunction": "./functions/restore", "RegionSwitchFunction": "./functions/regionswitch", "DrillFunction": "./functions/drill",
	"FleetWorker": "./functions/latch", "FleetDispatcher": "./functions/dispatch"}

// variablesRead returns the environment variables that a program reads by a name in our
// code. They do not include variables that a configuration names: the template's names
// none. Lambda sets the variables for the SDK.
func variablesRead(program string) ([]string, error) {
	if once, known := variables[program]; known {
		return once()
	}
	return nil, fmt.Errorf("no program of the function is known to these tests: %q", program)
}

var variables = func() map[string]func() ([]string, error) {
	all := map[string]func() ([]string, error){}
	for _, program := range programs {
		all[program] = sync.OnceValues(func() ([]string, error) { return variablesOf(program) })
	}
	return all
}()

func variablesOf(program string) ([]string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-tags", "lambda.norpc",
		"-f", "{{if not .Standard}}{{.ImportPath}} {{.Dir}} {{range .GoFiles}} {{.}}{{end}}{{end}}", program)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s links: %w", program, err)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(fields[0], "github.com/gitlatch/gitlatch/") {
			continue
		}
		if err := readsOf(fields[1], fields[2:], found); err != nil {
			return nil, err
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// readsOf finds getenv("A"), os.Getenv("A") and os.LookupEnv("A"), with "A" also
// as a constant of the package.
func readsOf(dir string, names []string, found map[string]bool) error {
	var files []*ast.File
	constants := map[string]string{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
		if err != nil {
			return err
		}
		files = append(files, file)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, value := range spec.Values {
					if literal, ok := value.(*ast.BasicLit); ok && literal.Kind == token.STRING {
						constants[spec.Names[i].Name], _ = strconv.Unquote(literal.Value)
					}
				}
			}
			return true
		})
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 || !asksTheEnvironment(call.Fun) {
				return true
			}
			switch argument := call.Args[0].(type) {
			case *ast.BasicLit:
				name, _ := strconv.Unquote(argument.Value)
				found[name] = true
			case *ast.Ident:
				if name, isConstant := constants[argument.Name]; isConstant {
					found[name] = true
				}
			}
			return true
		})
	}
	return nil
}

func asksTheEnvironment(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name == "getenv"
	case *ast.SelectorExpr:
		return f.Sel.Name == "Getenv" || f.Sel.Name == "LookupEnv"
	}
	return false
}
