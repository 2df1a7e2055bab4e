package kube_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var update = flag.Bool("update", false, "rewrite what testdata/manifests wants by what is read; read the diff")

// TestManifests samples an API endpoint that holds the objects of a case, and
// compares with the reading that stands beside them.
func TestManifests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/manifests/*.txtar")
	if err != nil || len(files) < 25 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[0].Name != "objects.yaml" || archive.Files[1].Name != "want" {
				t.Fatal("want the files objects.yaml and want")
			}
			fleet, err := sampler(t, serve(t, objects(t, string(archive.Files[0].Data))...).config()).Sample(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := tell(fleet)
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("%sgot:\n%s\nwant:\n%s", archive.Comment, got, want)
			}
		})
	}
}

// tell writes a fleet to be read aloud.
func tell(f workload.Fleet) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	for _, u := range f.Unread {
		line("unread: %s", u)
	}
	for _, s := range f.Samples {
		line("%s", s.ID)
		if s.Policy != "" {
			line("  policy: %s", s.Policy)
		}
		if s.OptOut {
			line("  opted out")
		}
		if s.Terminating {
			line("  terminating")
		}
		if s.Unknown != "" {
			line("  unknown: %s", s.Unknown)
		}
		if c := s.Scale; c != nil {
			line("  scale: %d desired, %d ready", c.Desired, c.Ready)
			if c.Unstated {
				line("  stated by nobody")
			}
			if c.Driver != workload.DrivenByNothing {
				line("  driven by %s: %d to %d, target %g, tolerance %g", c.Driver, c.Min, c.Max, c.Target, c.Tolerance)
			}
			if c.Blind != "" {
				line("  blind: %s", c.Blind)
			}
		}
		if r := s.Rollout; r != nil {
			line("  rollout: %s", map[bool]string{true: "in flight", false: "none"}[r.InFlight])
			for _, t := range r.Templates {
				line("    %q: %d desired, %d available, %s", t.Hash, t.Desired, t.Available, imagesOf(t))
			}
		}
	}
	return b.String()
}

func imagesOf(t workload.Template) string {
	var all []string
	for _, container := range slices.Sorted(maps.Keys(t.Images)) {
		all = append(all, container+" "+t.Images[container])
	}
	return strings.Join(all, ", ")
}
