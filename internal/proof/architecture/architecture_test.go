package architecture

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const module = "github.com/gitlatch/gitlatch/"

// Pure packages decide: values and an instant go in, values come out. Their tests can run
// hundreds of thousands of cases, because no package uses a network or a clock.
var pure = []string{"internal/workload", "internal/policy", "internal/checkpoint", "internal/yamldoc", "internal/repo", "internal/ledger", "internal/ledger/history", "internal/latch", "internal/alert", "internal/clean/sanitize",
	"internal/restore/plan", "internal/restore/brake", "internal/restore/recovery", "internal/diff", "internal/backtest", "internal/term", "internal/drill", "internal/drill/page", "internal/tick/anomaly", "internal/lists", "internal/units", "internal/docs", "internal/doctor/room", "internal/admission"}

// The packages that pure packages may use, in addition to the standard library and each
// other. An errgroup only starts goroutines, duration only formats, and gomponents writes HTML.
var pureMayReach = []string{"go.yaml.in/yaml/v3", "golang.org/x/sync/errgroup", "k8s.io/apimachinery/pkg/util/duration", "maragu.dev/gomponents", "maragu.dev/gomponents/html"}

// The packages of the standard library that pure packages must not use.
var impure = []string{"net", "net/http", "os/exec", "os/signal"}

func TestPurePackagesReachNothingOfTheWorld(t *testing.T) {
	t.Parallel()
	for _, name := range pure {
		p := find(t, name)
		for _, dep := range p.Deps {
			own, isOwn := strings.CutPrefix(dep, module)
			switch {
			case isOwn && !slices.Contains(pure, own):
				t.Errorf("%s is pure and reaches %s, which is not", name, own)
			case !isOwn && !standard(dep) && !slices.Contains(pureMayReach, dep):
				t.Errorf("%s is pure and reaches %s", name, dep)
			case slices.Contains(impure, dep):
				t.Errorf("%s is pure and reaches %s", name, dep)
			}
		}
		for _, dep := range p.Imports {
			if dep == "os" || strings.HasPrefix(dep, "math/rand") || strings.HasPrefix(dep, "log") {
				t.Errorf("%s is pure and imports %s", name, dep)
			}
		}
	}
}

// Functions that read the clock or wait for it. A time that is passed as an argument
// can be tested.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

// Other packages may wait or set a deadline, but they get the time of day from main.
func TestOnlyAMainAsksWhatTimeItIs(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		switch {
		case slices.Contains(pure, p.name()):
			for _, use := range uses(t, p, "time", clock) {
				t.Errorf("%s: a pure package takes the instant as an argument", use)
			}
		case p.Name != "main" && !strings.HasPrefix(p.name(), "internal/testenv/"):
			for _, use := range uses(t, p, "time", []string{"Now", "Since", "Until"}) {
				t.Errorf("%s: only a main asks what time it is, and passes it on", use)
			}
		}
	}
}

// The folders, including the folders below, that may import a package that is large or
// specific to one vendor. Tests count as well: a test that needs such a package belongs
// next to the adapter.
var importers = map[string][]string{
	"github.com/spf13/cobra":       {"internal/cli", "functions/gitlatch", "internal/proof/handbook"},
	"go.etcd.io/bbolt":             {"internal/latch/bolt", "internal/testenv"},
	"github.com/go-git/":           {"internal/repo", "internal/doctor", "internal/testenv"},
	"k8s.io/client-go/":            {"internal/kube", "internal/eks", "internal/restore", "internal/wiring", "internal/demo", "internal/testenv", "internal/cli", "internal/proof/bench", "functions"},
	"github.com/aws/aws-lambda-go": {"functions", "functions/awslambda", "internal/testenv"},

	"github.com/aws/aws-sdk-go-v2/service/sqs": {"functions/fleet/queue", "internal/testenv", "functions"},
	"github.com/aws/aws-sdk-go-v2/service/s3":  {"internal/drill/archive", "internal/drill/open", "functions/drill"},
	"github.com/aws/aws-sdk-go-v2/service/ec2": {"internal/doctor/room/limits/account", "internal/cli/setup", "internal/proof/stack"},

	"github.com/aws/aws-sdk-go-v2/service/servicequotas": {"internal/doctor/room/limits/account"},

	"golang.org/x/crypto/ssh":           {"internal/repo/gitwire", "internal/repo/signing", "internal/testenv/gitserver"},
	"github.com/google/go-github/":      {"internal/repo/github"},
	"github.com/bradleyfalzon/":         {"internal/repo/github"},
	"github.com/getkin/kin-openapi":     {"internal/testenv/openapi"},
	"sigs.k8s.io/aws-iam-authenticator": {"internal/eks", "internal/testenv"},
	"maragu.dev/gomponents":             {"internal/drill/page"},

	// A template calls methods by their names at run time. With one, the linker keeps each
	// exported method of a binary: 28 MB more for the command, 5 MB for a function.
	"html/template": {},
	"text/template": {},
}

func TestWhatIsLargeIsImportedInItsOwnRoomsOnly(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		for _, dep := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for prefix, rooms := range importers {
				in := func(room string) bool { return strings.HasPrefix(p.name()+"/", room+"/") }
				if strings.HasPrefix(dep, prefix) && !slices.ContainsFunc(rooms, in) {
					t.Errorf("%s imports %s: that is for %s", p.name(), dep, strings.Join(rooms, ", "))
				}
			}
			shared := dep == module+"functions/awslambda" || strings.HasPrefix(dep, module+"functions/fleet")
			beside := strings.HasPrefix(p.name(), "functions/") || forTests(p.name())
			if strings.HasPrefix(dep, module+"functions/") && !(shared && beside) {
				t.Errorf("%s imports %s: arrows point inward, nothing imports a main's rooms", p.name(), dep)
			}
		}
	}
}

// Each package would slow the start of every tick.
var notInTheLambda = []string{"github.com/spf13/cobra", "sigs.k8s.io/kustomize/", "helm.sh/helm/", "go.etcd.io/bbolt", "html/template", "text/template", "github.com/aws/aws-sdk-go-v2/service/s3", "github.com/aws/aws-sdk-go-v2/service/sqs", module + "internal/doctor",
	"github.com/aws/aws-sdk-go-v2/service/ec2", "github.com/aws/aws-sdk-go-v2/service/servicequotas", module + "internal/cli/setup"}

func TestTheLambdaHoldsNothingThatOnlyTheCommandNeeds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"functions/latch", "functions/restore", "functions/regionswitch"} {
		for _, dep := range find(t, name).Deps {
			for _, prefix := range notInTheLambda {
				answers := dep == module+"internal/doctor/room" // of the document of a drill
				if strings.HasPrefix(dep, prefix) && !answers {
					t.Errorf("%s links %s", name, dep)
				}
			}
		}
	}
}

// A drill reads more of a cluster than a tick. It does not link the packages that
// only the command needs.
func TestTheDrillHoldsNothingThatOnlyTheCommandNeeds(t *testing.T) {
	t.Parallel()
	for _, dep := range find(t, "functions/drill").Deps {
		for _, prefix := range []string{"github.com/spf13/cobra", "go.etcd.io/bbolt", module + "internal/restore"} {
			if strings.HasPrefix(dep, prefix) {
				t.Errorf("functions/drill links %s", dep)
			}
		}
	}
}

// A newcomer builds the demo first. A cluster, AWS and a host of pull requests are not part
// of the simulated day, and their clients would take minutes to download and compile.
var notInTheDemo = []string{"github.com/aws/", "k8s.io/client-go/", "k8s.io/api/", "sigs.k8s.io/", "helm.sh/helm/", "github.com/google/go-github/", "github.com/bradleyfalzon/", "github.com/spf13/cobra"}

func TestTheDemoHoldsNoClientsOfClouds(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"scripts/demo", "internal/wiring/local"} {
		for _, dep := range find(t, name).Deps {
			for _, prefix := range notInTheDemo {
				if strings.HasPrefix(dep, prefix) {
					t.Errorf("%s links %s", name, dep)
				}
			}
		}
	}
}

func TestATickCannotScale(t *testing.T) {
	t.Parallel()
	for _, dep := range find(t, "functions/latch").Deps {
		if strings.HasPrefix(dep, module+"internal/restore") {
			t.Errorf("functions/latch links %s, which writes to the cluster", dep)
		}
	}
}

// A pkg is a package as go list describes it.
type pkg struct {
	ImportPath, Name, Dir              string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

func (p pkg) name() string { return strings.TrimPrefix(p.ImportPath, module) }

// The deployed build has this tag. Without it the Lambda links net/rpc, and with that
// html/template.
var listed = sync.OnceValues(func() ([]pkg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	list := exec.CommandContext(ctx, "go", "list", "-tags", "lambda.norpc", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	list.Dir = root
	out, err := list.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, errors.New("go list: " + string(exit.Stderr))
	}
	if err != nil {
		return nil, err
	}
	var all []pkg
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, err
		}
		all = append(all, p)
	}
})

const root = "../../.."

func packages(t *testing.T) []pkg {
	t.Helper()
	all, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func find(t *testing.T, name string) pkg {
	t.Helper()
	for _, p := range packages(t) {
		if p.name() == name {
			return p
		}
	}
	t.Fatalf("there is no package %s", name)
	return pkg{}
}

// standard reports whether a package is of the standard library: the first
// element of its path has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

// uses returns the places in which a package's files, except its tests, name some
// functions of an imported package.
func uses(t *testing.T, p pkg, imported string, functions []string) []string {
	t.Helper()
	var found []string
	for _, name := range p.GoFiles {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(functions, s.Sel.Name) {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == imported {
					at := files.Position(s.Pos())
					found = append(found, p.name()+"/"+filepath.Base(at.Filename)+": "+imported+"."+s.Sel.Name)
				}
			}
			return true
		})
	}
	return found
}
