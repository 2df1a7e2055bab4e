package versions

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/lists"
)

const (
	root   = "../../.."
	result = "testdata/versions/table.md"
)

var (
	run  = flag.Bool("versions", false, "run the tests on each version of Kubernetes, and update the table")
	only = flag.String("only", "", "with -versions, run the tests only on the versions with this prefix")
)

// A row is a part of gitlatch, or a tool, with the tests that run it.
type row struct {
	name    string
	modules []string // modules with the versions in the table, each after its folder in scripts
	tests   []test
}

// A test is a list of tests of a package, such as A|B, or one subtest, such as A/by/b, with
// their build tag. on reports whether they run on Kubernetes 1.minor.
type test struct {
	folder, names, tag string
	on                 func(minor int) bool
}

func always(int) bool { return true }

// admits reports whether Kubernetes 1.minor has admission policies.
func admits(minor int) bool { return minor >= admission.Minor }

func early(minor int) bool { return !admits(minor) }

// rows are the lines of the table.
var rows = []row{
	{"Samples", nil, []test{{"kube", "TestRealControlPlane", "cluster", always}}},
	{"`gitlatch doctor` with the admission policy", nil, []test{{"doctor", "TestOnARealControlPlane", "cluster", admits}}},
	{"Restore and brakes", nil, []test{
		{"restore/cluster", "TestARealRestore", "cluster", always},
		{"proof/handbook", "TestARebuildBeforeAdmissionPolicies", "early", early},
	}},
	{"Quick start", nil, []test{{"proof/handbook", "TestTheQuickStartOfTheReadmeRuns", "cluster", admits}}},
	{"Admission policy", nil, []test{{"admission", "TestOnARealAPIServer", "gitops", admits}}},
	{"Flux (kustomize-controller)", []string{"flux github.com/fluxcd/kustomize-controller"}, []test{
		{"proof/owners", "TestFoldersFirst/flux", "gitops", admits},
		{"proof/owners", "TestTheExampleOfFlux", "gitops", admits},
		{"proof/owners", "TestARestoreThatWaitsRaisesWhatComesLater/flux", "gitops", always},
	}},
	{"Argo CD", []string{"argocd github.com/argoproj/argo-cd/v3"}, []test{
		{"proof/owners", "TestFoldersFirst/argocd", "gitops", admits},
		{"proof/owners", "TestTheExampleOfArgoCD", "gitops", admits},
		{"proof/owners", "TestARestoreThatWaitsRaisesWhatComesLater/argocd", "gitops", always},
	}},
	{"Helm 4, Helm 3, helm-controller",
		[]string{"helm helm.sh/helm/v4", "helm helm.sh/helm/v3", "helm/controllers github.com/fluxcd/helm-controller"},
		[]test{{"proof/owners", "TestOwnersOfReplicas|TestFolderApplied", "gitops", admits}}},
	{"KEDA", []string{"keda github.com/kedacore/keda/v2"}, []test{{"restore/cluster", "TestKEDA", "keda", always}}},
	{"Flagger", []string{"flagger github.com/fluxcd/flagger"}, []test{{"tick", "TestFlaggersFleetIsDeclaredOnce", "gitops", always}}},
}

// on reports whether a test of the row runs on Kubernetes 1.minor.
func (r row) on(minor int) bool {
	return slices.ContainsFunc(r.tests, func(c test) bool { return c.on(minor) })
}

// A kubernetes is a version that scripts/controlplane builds.
type kubernetes struct {
	argument []string // of build.sh
	version  string   // such as 1.35.4
	minor    int
}

// versions returns the versions, the oldest first.
func versions(t *testing.T) []kubernetes {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(root, "scripts/controlplane/versions/*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("folders in scripts/controlplane/versions: %q, %v", folders, err)
	}
	var all []kubernetes
	for _, folder := range folders {
		name := filepath.Base(folder)
		all = append(all, kubernetes{argument: []string{name}, version: required(t, "controlplane/versions/"+name, "k8s.io/kubernetes")})
	}
	all = append(all, kubernetes{version: required(t, "controlplane", "k8s.io/kubernetes")})
	for i, k := range all {
		if _, err := fmt.Sscanf(k.version, "1.%d.", &all[i].minor); err != nil {
			t.Fatalf("Kubernetes %s: %v", k.version, err)
		}
	}
	return all
}

// required returns the version of a module in the go.mod of a folder of scripts.
func required(t *testing.T, folder, module string) string {
	t.Helper()
	text := read(t, filepath.Join("scripts", folder, "go.mod"))
	found := regexp.MustCompile(`(?m)^\s*(?:require )?` + regexp.QuoteMeta(module) + ` v(\S+)`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("%s requires no %s", folder, module)
	}
	return found[1]
}

// A cell is a row of the table with the versions of its modules, and a version of Kubernetes.
type cell struct{ row, kubernetes string }

// line returns the first columns of a row.
func (r row) line(t *testing.T) string {
	t.Helper()
	modules := lists.Map(r.modules, func(of string) string {
		folder, module, _ := strings.Cut(of, " ")
		return required(t, folder, module)
	})
	return fmt.Sprintf("| %s | %s |", r.name, cmp.Or(strings.Join(modules, ", "), "-"))
}

// table returns the table of the results. A cell without a result is "not run".
func table(t *testing.T, on []kubernetes, results map[cell]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| part | version |")
	for _, k := range on {
		fmt.Fprintf(&b, " Kubernetes %s |", k.version)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(on)) + "\n")
	for _, r := range rows {
		line := r.line(t)
		b.WriteString(line)
		for _, k := range on {
			result := "not available"
			if r.on(k.minor) {
				result = cmp.Or(results[cell{line, k.version}], "not run")
			}
			fmt.Fprintf(&b, " %s |", result)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// parse returns the results in a table.
func parse(text string) map[cell]string {
	results := map[cell]string{}
	lines := lists.Map(strings.Split(strings.TrimSpace(text), "\n"), func(line string) []string { return strings.Split(line, " | ") })
	for _, columns := range lines {
		if len(columns) != len(lines[0]) {
			continue // the line below the header
		}
		for i, result := range columns[2:] {
			version := strings.TrimSuffix(strings.TrimPrefix(lines[0][i+2], "Kubernetes "), " |")
			results[cell{strings.Join(columns[:2], " | ") + " |", version}] = strings.TrimSuffix(result, " |")
		}
	}
	return results
}

// The handbook contains the table of the results, and its versions are those
// in the go.mod files. With -versions, the test runs the tests of the table and updates it.
func TestVersions(t *testing.T) {
	t.Parallel()
	all, before := versions(t), read(t, result)
	nightly := strings.Join(lists.Map(all, func(k kubernetes) string { return fmt.Sprintf(`"1.%d"`, k.minor) }), ", ")
	if !strings.Contains(read(t, ".github/workflows/nightly.yml"), "{kubernetes: ["+nightly+"]}") {
		t.Errorf("the job versions of nightly.yml does not run on %s", nightly)
	}
	results := parse(before)
	for _, k := range all {
		if *run && strings.HasPrefix(k.version, *only) {
			t.Run(k.version, func(t *testing.T) { k.run(t, results) })
		}
	}
	want := table(t, all, results)
	for _, file := range []string{"internal/docs/install.md", result} {
		text := read(t, file)
		switch {
		case strings.Contains(text, want):
		case *run:
			text = strings.Replace(text, before, want, 1)
			if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		default:
			t.Errorf("%s does not contain this table. Run \"make test-versions\":\n%s", file, want)
		}
	}
}

// read returns the text of a file, by its path from the root.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run builds the version, runs the tests of each row on it, and sets their results.
func (k kubernetes) run(t *testing.T, results map[cell]string) {
	start := time.Now()
	build := exec.CommandContext(t.Context(), "scripts/controlplane/build.sh", k.argument...)
	build.Dir, build.Stderr = root, os.Stderr
	folder, err := build.Output()
	if err != nil {
		t.Fatalf("build Kubernetes %s: %v", k.version, err)
	}
	fmt.Printf("Kubernetes %s: built in %s\n", k.version, time.Since(start).Round(time.Second))
	for _, r := range rows {
		passed := true
		for _, c := range r.tests {
			if c.on(k.minor) {
				passed = c.passes(t, k.version, strings.TrimSpace(string(folder))) && passed
			}
		}
		results[cell{r.line(t), k.version}] = map[bool]string{true: "tested", false: "failed"}[passed]
	}
}

// passes reports whether the test passes with the control plane in a folder. A skipped test
// does not pass.
func (c test) passes(t *testing.T, version, folder string) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	start := time.Now()
	pattern := "^(" + strings.ReplaceAll(c.names, "/", ")$/^(") + ")$"
	cmd := exec.CommandContext(ctx, "go", "test", "-v", "-count=1", "-timeout=1h", "-tags="+c.tag, "-run="+pattern, "./internal/"+c.folder)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GITLATCH_CONTROLPLANE="+folder)
	out, err := cmd.CombinedOutput()
	for name := range strings.SplitSeq(c.names, "|") {
		if !strings.Contains(string(out), "--- PASS: "+name+" ") {
			err = fmt.Errorf("%s did not pass", name)
		}
	}
	fmt.Printf("Kubernetes %s: %s %s in %s\n", version, c.folder, c.names, time.Since(start).Round(time.Second))
	if err != nil {
		t.Errorf("Kubernetes %s: %s: %v\n%s", version, c.folder, err, out)
	}
	return err == nil
}
