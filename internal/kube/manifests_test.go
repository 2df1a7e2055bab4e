package kube_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/workload"
)

var update = flag.Bool("update", false, "rewrite what testdata/manifests wants by what is read; read the diff")

// TestManifests samples an API endpoint with the objects of a case, and compares the
// samples with the expected reading in the same file. A third file lists the resources
// that may not be listed.
func TestManifests(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/manifests/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, f := range archive.Files {
				names = append(names, f.Name)
			}
			if all := []string{"objects.yaml", "want", "forbidden"}; len(names) < 2 || !slices.Equal(names, all[:len(names)]) {
				t.Fatalf("files %q, want objects.yaml, want and perhaps forbidden", names)
			}
			e := serve(t, objects(t, string(archive.Files[0].Data))...)
			if len(names) == 3 {
				e.trouble = forbid(strings.Fields(string(archive.Files[2].Data))...)
			}
			got := tell(sample(t, e))
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

// At least 40 cases have rollouts. They include the cases that other tools get wrong.
func TestManifestsOfRollouts(t *testing.T) {
	t.Parallel()
	var cases []string
	for _, kind := range []string{"deployment", "statefulset", "daemonset"} {
		files, err := filepath.Glob("../../testdata/manifests/" + kind + "-*.txtar")
		if err != nil || len(files) == 0 {
			t.Errorf("%d cases of a %s, %v", len(files), kind, err)
		}
		cases = append(cases, files...)
	}
	if len(cases) < 40 {
		t.Errorf("%d cases, want 40 or more", len(cases))
	}
	for _, controller := range []string{"rollout", "flagger"} {
		if files, err := filepath.Glob("../../testdata/manifests/" + controller + "-*.txtar"); err != nil || len(files) < 15 {
			t.Errorf("%d cases of %s, want 15 or more; %v", len(files), controller, err)
		}
	}
	for _, trap := range []string{"stale-generation", "zero-replicas", "paused", "deadline-exceeded", "partition", "ondelete", "scaled-in-mid-rollout"} {
		if !slices.ContainsFunc(cases, func(file string) bool { return strings.Contains(filepath.Base(file), trap) }) {
			t.Errorf("no case is of %s", trap)
		}
	}
}

// tell returns a fleet as readable text.
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
			if c.Load != 0 {
				line("  load: %.2f", c.Load)
			}
			if c.Hand != "" {
				line("  written by %s at %s", c.Hand, c.Handed.Format(time.RFC3339))
			}
			if c.Blind != "" {
				line("  blind: %s", c.Blind)
			}
			if c.Paused {
				line("  paused")
			}
			if c.Fixed != "" {
				line("  returns: %s", c.Fixed)
			}
			if c.UpOnly {
				line("  never scales down")
			}
			if b := c.Brake; b.On != "" {
				line("  brake: %s", b)
			}
		}
		if r := s.Rollout; r != nil {
			line("  rollout: %s of %d pods", map[bool]string{true: "in flight", false: "none"}[r.InFlight], r.Desired)
			if r.Unjudged {
				line("    nothing judges its progress")
			}
			if r.Failure != "" {
				line("    failed: %s", r.Failure)
			}
			if r.Halted != "" {
				line("    halted: %s", r.Halted)
			}
			if r.Traffic != nil {
				line("    the target has %d %% of the traffic", *r.Traffic)
			}
			if r.InFlight && !r.Mixed() {
				line("    all pods are of one template")
			}
			for _, t := range r.Templates {
				line("    %q: %d desired, %d available, since %s, %s%s", t.Hash, t.Desired, t.Available, since(t), imagesOf(t),
					map[bool]string{true: "; images only"}[t.ImagesOnly])
			}
		}
	}
	return b.String()
}

func since(t workload.Template) string {
	if t.Since.IsZero() {
		return "unknown"
	}
	return t.Since.UTC().Format(time.RFC3339)
}

func imagesOf(t workload.Template) string {
	if t.Images == nil {
		return "images unknown"
	}
	var all []string
	for _, container := range slices.Sorted(maps.Keys(t.Images)) {
		all = append(all, container+" "+t.Images[container])
	}
	return strings.Join(all, ", ")
}

// The records of Argo Rollouts are of the version that make record-argo builds.
func TestRecordsAreOfTheBuiltVersion(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../scripts/argo/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`(?m)^\s+github\.com/argoproj/argo-rollouts (v\S+)`).FindSubmatch(module)
	if version == nil {
		t.Fatal("scripts/argo/go.mod requires no Argo Rollouts")
	}
	files, err := filepath.Glob("../../testdata/manifests/rollout-*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	recorded := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, of, found := strings.Cut(string(archive.Comment), "\nRecorded of Argo Rollouts ")
		if !found {
			continue
		}
		recorded++
		if want := string(version[1]) + ".\n"; of != want {
			t.Errorf("%s is of %q, want %q: make record-argo UPDATE=1 records it", file, of, want)
		}
	}
	if recorded == 0 {
		t.Error("no manifest is recorded of Argo Rollouts")
	}
}
