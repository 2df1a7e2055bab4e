package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the schemas and what fixtures want; read the diff")

// A fixture is one document with its expected result.
type fixture struct {
	path    string
	kind    string
	name    string // of the document
	data    []byte
	schema  string // why a schema and the loader differ, or ""
	want    string
	archive *txtar.Archive
}

func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("../../testdata/config", folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures in %s: %v", folder, err)
	}
	all := make([]fixture, len(paths))
	for i, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := fixture{path: path, archive: archive}
		for _, file := range archive.Files {
			switch file.Name {
			case "config.yaml":
				f.kind, f.name, f.data = KindConfig, file.Name, file.Data
			case "fleet.yaml":
				f.kind, f.name, f.data = KindFleet, file.Name, file.Data
			case "gitlatch.yaml":
				f.kind, f.name, f.data = KindPolicy, file.Name, file.Data
			case "schema":
				f.schema = string(file.Data)
			case "want":
				f.want = string(file.Data)
			default:
				t.Fatalf("%s: file %q is not known", path, file.Name)
			}
		}
		all[i] = f
	}
	return all
}

func (f fixture) String() string { return strings.TrimSuffix(filepath.Base(f.path), ".txtar") }

// check compares got with the fixture, or rewrites the fixture.
func (f fixture) check(t *testing.T, got string) {
	t.Helper()
	switch {
	case got == f.want:
	case *update:
		for i, file := range f.archive.Files {
			if file.Name == "want" {
				f.archive.Files[i].Data = []byte(got)
			}
		}
		if err := os.WriteFile(f.path, txtar.Format(f.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("got:\n%s\nwant:\n%s", got, f.want)
	}
}

func TestBadDocumentsAreRefusedWithAllThatIsWrong(t *testing.T) {
	t.Parallel()
	for _, f := range fixtures(t, "bad") {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			var err error
			switch f.kind {
			case KindConfig:
				_, err = ParseConfig(f.name, f.data)
			case KindPolicy:
				_, err = ParsePolicy(f.name, f.data, 5*time.Minute)
			case KindFleet:
				_, err = ParseFleet(f.name, f.data)
			}
			var all *yamldoc.Errors
			if !errors.As(err, &all) {
				t.Fatalf("got error %v, want *yamldoc.Errors", err)
			}
			f.check(t, err.Error()+"\n")
			for _, secret := range []string{"ghp_", "hunter2"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error shows the secret %s...", secret)
				}
			}
		})
	}
}

// A large file on the branch must not exhaust the memory of a tick.
func TestALargeDocumentIsNotParsed(t *testing.T) {
	t.Parallel()
	_, err := ParsePolicy("gitlatch.yaml", []byte("["+strings.Repeat("0,", 1<<19)+"]"), 5*time.Minute)
	if err == nil || err.Error() != "gitlatch.yaml: has 1048578 bytes, and the maximum is 1048576" {
		t.Errorf("got %v", err)
	}
}

// The error is short: a file of one megabyte can have hundreds of thousands of problems.
func TestTheFirstProblemsAreKept(t *testing.T) {
	t.Parallel()
	_, err := ParsePolicy("gitlatch.yaml", []byte(strings.Repeat("a: 1\n", 60_000)), 5*time.Minute)
	lines := strings.Split(err.Error(), "\n")
	if last := lines[len(lines)-1]; len(lines) != 101 || last != "gitlatch.yaml: and 59902 more" {
		t.Errorf("%d lines, the last: %s", len(lines), last)
	}
}

func TestGoodDocumentsAreRead(t *testing.T) {
	t.Setenv("HOME", "/home/ops")
	for _, f := range fixtures(t, "good") {
		t.Run(f.String(), func(t *testing.T) {
			switch f.kind {
			case KindConfig:
				c, err := ParseConfig(f.name, f.data)
				if err != nil {
					t.Fatal(err)
				}
				demand := ""
				if c.Fleet != "" {
					demand = fmt.Sprintf("fleet      %s\n", c.Fleet)
				}
				for _, d := range c.Demand {
					demand += fmt.Sprintf("demand     %+v\n", *d)
				}
				f.check(t, fmt.Sprintf("site       %s\ncluster    %+v\nstate      %+v\nrepository %+v\nperiod     %s\ncommit     %+v\nalerts     %+v\ndrills     %+v\n",
					c.Site, c.Cluster, c.State, c.Repository, c.Period, c.Commit, c.Alerts, c.Drills)+demand)
			case KindPolicy:
				set, err := ParsePolicy(f.name, f.data, 5*time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				f.check(t, describe(set))
			case KindFleet:
				members, err := ParseFleet(f.name, f.data)
				if err != nil {
					t.Fatal(err)
				}
				listed := ""
				for _, m := range members {
					listed += fmt.Sprintf("%+v\n", m)
				}
				f.check(t, listed)
			}
		})
	}
}

func describe(set policy.Set) string {
	var b strings.Builder
	fmt.Fprintf(&b, "latch   %v\n", set.Latch)
	for _, rule := range set.Rules {
		fmt.Fprintf(&b, "match   %+v\npolicy  %+v\n", rule.Match, rule.Policy)
	}
	fmt.Fprintf(&b, "default %+v\nguards  %+v\n", set.Default, set.Guards)
	if set.Kinds != nil {
		fmt.Fprintf(&b, "kinds   %+v\n", set.Kinds)
	}
	if set.Images {
		b.WriteString("images\n")
	}
	return b.String()
}

func TestWhatIsLeftOutIsAsThePresetHasIt(t *testing.T) {
	t.Parallel()
	for name, want := range policy.Presets() {
		set, err := ParsePolicy("gitlatch.yaml", fmt.Appendf(nil, `
apiVersion: gitlatch.dev/v1alpha1
kind: Policy
preset: %s
policies:
- name: inherits
  match: {names: [a]}
`, name), 5*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		want.Name = "default"
		if fmt.Sprint(set.Default) != fmt.Sprint(want) {
			t.Errorf("preset %s: default is %+v, want %+v", name, set.Default, want)
		}
		want.Name = "inherits"
		if got := set.Rules[0].Policy; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("preset %s: policy is %+v, want %+v", name, got, want)
		}
	}
}

func TestAPolicyThatSaysNothingIsTheDefault(t *testing.T) {
	t.Parallel()
	for _, period := range []time.Duration{time.Minute, 5 * time.Minute, time.Hour} {
		set, err := ParsePolicy("gitlatch.yaml", []byte("apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\n"), period)
		if err != nil {
			t.Fatal(err)
		}
		if want := DefaultPolicy(period); describe(set) != describe(want) {
			t.Errorf("period %s: got\n%swant\n%s", period, describe(set), describe(want))
		}
		if set.Latch {
			t.Error("a new site must only observe")
		}
	}
}
