package doctor_test

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/chart"
	"github.com/gitlatch/gitlatch/internal/chart/engine"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const folder = "../../testdata/doctor"

// fleetSource is the GitRepository of the site's repository.
const fleetSource = `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {name: fleet, namespace: flux-system}, spec: {url: "https://git.example.com/platform/fleet.git", ref: {branch: main}}, status: {conditions: [{type: Ready, status: "True"}]}}
`

// here is the cluster and the repository of the fixtures.
var here = doctor.Here{Servers: []string{"https://api.prod.example.com"}, Repository: "https://git.example.com/platform/fleet.git", Branch: "main"}

var update = flag.Bool("update", false, "rewrite what the fixtures want by what is found; read the diff")

// good are the fixtures without findings. Every other fixture names one of them as its
// base, and contains only the differences.
var good = []string{"argocd", "flux", "admission"}

// silent are the good fixtures, and the fixtures of a rollout without a finding. The
// latter show doctor's report on the rollout.
var silent = slices.Concat(good, []string{"argocd--system", "argocd--system-together", "argocd--managers", "argocd--whole-spec", "argocd--jq", "argocd--replace", "argocd--braces", "argocd--brake-rule", "argocd--keda-brake-rule", "flux--merged", "flux--artifact", "flux--brake-rule", "flux--keda-brake-rule", "argocd--hub", "argocd--arn", "argocd--own-name", "argocd--hub-arn", "argocd--no-settings", "admission--chart", "admission--packed-chart", "admission--by-terraform", "admission--separate", "admission--separate-argocd", "not-built--ignored", "rollout", "rollout--ahead", "rollout--ahead-to", "rollout--ahead-init", "rollout--ahead-edit", "rollout--back", "rollout--back-to", "rollout--substituted"})

// A fixture is a case: its description, and files by name. Files below repo/ are in the
// repository. declared lists its checkpoint entries. live lists the workloads, each with
// its scale, its minimum and maximum, and the manager that applies its replicas, or
// by:WHO for the last writer. hub is the name of the cluster in the hub with Argo CD, and
// destination its name in its own Argo CD. "edit FILE" changes a file of the base: each line
// after - becomes the lines after + below it.
type fixture map[string]string

// read reads a fixture and merges it over its base. An empty file removes the base's
// file.
func read(t *testing.T, name string) fixture {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(folder, name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{}
	for _, file := range archive.Files {
		f[file.Name] = string(file.Data)
	}
	if base, ok := f["base"]; ok {
		all := read(t, strings.TrimSpace(base))
		delete(all, "want")
		maps.Copy(all, f)
		f = all
	}
	for name, edits := range f {
		if file, ok := strings.CutPrefix(name, "edit "); ok {
			f[file] = edited(t, f[file], edits)
			delete(f, name)
		}
	}
	maps.DeleteFunc(f, func(_, text string) bool { return text == "" })
	return f
}

// edited applies the edits of a fixture to a text.
func edited(t *testing.T, text, edits string) string {
	t.Helper()
	for edit := range strings.SplitSeq("\n"+edits, "\n-") {
		old, added, _ := strings.Cut(strings.TrimSuffix(edit, "\n"), "\n")
		if old == "" {
			continue
		}
		if strings.Count("\n"+text, "\n"+old+"\n") != 1 {
			t.Fatalf("the base has not one line %q", old)
		}
		added = strings.TrimPrefix(strings.ReplaceAll("\n"+added, "\n+", "\n"), "\n")
		if added != "" {
			added += "\n"
		}
		text = strings.TrimPrefix(strings.Replace("\n"+text, "\n"+old+"\n", "\n"+added, 1), "\n")
	}
	return text
}

// examine reads a fixture and examines it, as the command does.
func (f fixture) examine(t *testing.T) doctor.Report {
	t.Helper()
	return doctor.Examine(f.read(t))
}

// read returns the case of a fixture.
func (f fixture) read(t *testing.T) doctor.Case {
	t.Helper()
	files := f.files(t)
	repository := repomem.New(files)
	tip, _, err := repository.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f["cluster.yaml"] = strings.ReplaceAll(f["cluster.yaml"], "@sha1:TIP", "@sha1:"+tip)
	c := doctor.Case{Site: f.site(), Here: here, Set: config.DefaultPolicy(5 * time.Minute), Cluster: doctor.ReadCluster(t.Context(), f, nil)}
	c.Here.Tip = tip
	if destination, ok := f["hub"]; ok {
		c.Here.Hub = true
		c.Here = c.Here.Called(strings.TrimSpace(destination))
	}
	if destination, ok := f["destination"]; ok {
		c.Here = c.Here.Called(strings.TrimSpace(destination))
	}
	builds := c.Cluster.Builds()
	for dir := range strings.FieldsSeq(f["paths"]) {
		builds = append(builds, doctor.Build{By: doctor.ByPath, Dir: dir})
	}
	if c.Overlays, err = doctor.ReadOverlays(t.Context(), repository, tip, builds, f.charts(t)); err != nil {
		t.Fatal(err)
	}
	bytes := map[string][]byte{}
	for name, text := range files {
		bytes[name] = []byte(text)
	}
	if c.Tree, err = checkpoint.ParseTree(f.site(), bytes); err != nil {
		t.Fatal(err)
	}
	for _, line := range f.lines("live") {
		if line[0] == "version" {
			continue
		}
		if line[0] == "cluster" {
			c.Fleet.Cluster = line[1]
			continue
		}
		applied, writer := "", ""
		if len(line) > 4 {
			writer, _ = strings.CutPrefix(line[4], "by:")
			if writer == line[4] {
				applied = writer
			}
			line = line[:4]
		}
		id, n := parse(t, line)
		c.Fleet.Samples = append(c.Fleet.Samples, workload.Sample{ID: id, Scale: &workload.Scale{Driver: workload.DrivenByHPA, Desired: n[0], Ready: n[0], Min: n[1], Max: n[2], Applied: applied, Writer: writer}})
	}
	return c
}

// files returns the files of the repository.
func (f fixture) files(t *testing.T) map[string]string {
	t.Helper()
	files := f.declare(t)
	for name, text := range f {
		if at, ok := strings.CutPrefix(name, "repo/"); ok {
			files[at] = text
		}
	}
	return files
}

func (f fixture) lines(name string) (all [][]string) {
	for line := range strings.Lines(f[name]) {
		all = append(all, strings.Fields(line))
	}
	return all
}

func parse(t *testing.T, words []string) (workload.ID, [3]int32) {
	t.Helper()
	id, err := workload.ParseID(words[0])
	if err != nil {
		t.Fatal(err)
	}
	var n [3]int32
	for i, word := range words[1:] {
		if _, err := fmt.Sscan(word, &n[i]); err != nil {
			t.Fatal(err)
		}
	}
	return id, n
}

// declare returns the checkpoint files.
func (f fixture) declare(t *testing.T) map[string]string {
	t.Helper()
	var changes []checkpoint.Change
	for _, line := range f.lines("declared") {
		id, n := parse(t, line)
		changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: n[0], Min: n[1], Max: n[2]}})
	}
	files := map[string]string{}
	written, skipped := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: f.site(), Cluster: cmp.Or(f["uid"], "blue")}, changes)
	if len(skipped) > 0 {
		t.Fatalf("cannot declare %v", skipped)
	}
	if len(changes) == 0 {
		return files // the repository has its own
	}
	for name, data := range written {
		files[name] = string(data)
	}
	return files
}

// site returns the name of the fixture's site.
func (f fixture) site() string { return cmp.Or(strings.TrimSpace(f["site"]), "prod") }

// charts returns the packed charts of a fixture: the files below charts/NAME-VERSION.tgz/.
func (f fixture) charts(t *testing.T) doctor.Charts {
	t.Helper()
	packed := map[string]map[string]string{}
	for name, text := range f {
		if at, ok := strings.CutPrefix(name, "charts/"); ok {
			archive, file, _ := strings.Cut(at, "/")
			if packed[archive] == nil {
				packed[archive] = map[string]string{}
			}
			packed[archive][file] = text
		}
	}
	all := fstest.MapFS{}
	for archive, files := range packed {
		all[archive] = &fstest.MapFile{Data: pack(t, files)}
	}
	charts := doctor.Charts{Render: engine.Render}
	if _, ok := f["in a child"]; ok {
		charts.Render = chart.Child
	}
	if len(all) > 0 {
		charts.Packed = all
	}
	return charts
}

// pack returns a packed chart with files by name.
func pack(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	out := tar.NewWriter(zipped)
	for name, text := range files {
		if err := out.WriteHeader(&tar.Header{Name: "chart/" + name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// List, Minor and Get implement doctor.Lister.
func (f fixture) List(_ context.Context, _, _, kind string) ([]json.RawMessage, error) {
	if why, ok := f["unread "+kind]; ok {
		return nil, fmt.Errorf("%s", strings.TrimSpace(why))
	}
	var all []json.RawMessage
	for document := range strings.SplitSeq(f["cluster.yaml"], "\n---\n") {
		data, err := yaml.YAMLToJSON([]byte(document))
		var o struct{ Kind string }
		if err == nil {
			err = json.Unmarshal(data, &o)
		}
		if err != nil {
			return nil, err
		}
		if o.Kind == kind {
			all = append(all, data)
		}
	}
	return all, nil
}

// Get returns only ConfigMaps.
func (f fixture) Get(ctx context.Context, at string) (json.RawMessage, error) {
	all, err := f.List(ctx, "", "", "ConfigMap")
	for _, data := range all {
		var o struct {
			Metadata struct{ Namespace, Name string }
		}
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, err
		}
		if at == "/api/v1/namespaces/"+o.Metadata.Namespace+"/configmaps/"+o.Metadata.Name {
			return data, nil
		}
	}
	return nil, err
}

func (f fixture) Minor(context.Context) (int, error) {
	minor := 37
	for _, line := range f.lines("live") {
		if line[0] == "version" {
			if _, err := fmt.Sscan(line[1], &minor); err != nil {
				return 0, err
			}
		}
	}
	return minor, nil
}

// tell returns a report in the form of the fixtures.
func tell(r doctor.Report) string {
	var b strings.Builder
	for _, w := range r.Workloads {
		start := "an unknown number"
		if n := w.RebuiltAt(); n != nil {
			start = fmt.Sprint(*n)
		}
		fmt.Fprintf(&b, "%s: %d runs, %d declared, rebuilt at %s by %q, inert by %q\n", w.ID, w.Live, w.Level, start, w.By, w.Inert.Line())
		if w.Returns != "" {
			fmt.Fprintf(&b, "its rollout returns, by itself %v: %s\n", w.Returned, w.Returns)
		}
	}
	for _, unread := range r.Unread {
		fmt.Fprintf(&b, "unread %s\n", unread)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s: %s\n  fix: %s\n", f.Trap, f.Subject, f.Text, f.Fix)
	}
	return b.String()
}

func TestFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(folder + "/*.txtar")
	if err != nil || len(files) < len(good) {
		t.Fatalf("fixtures %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := read(t, name)
			c := f.read(t)
			r := doctor.Examine(c)
			recommends(t, c)
			if got := tell(r); got != f["want"] {
				t.Errorf("got\n%s\nwant\n%s", got, f["want"])
				rewrite(t, file, got)
			}
			isSilent := slices.Contains(silent, name)
			if isSilent != (len(r.Findings) == 0) {
				t.Errorf("silent %v, and findings %v", isSilent, r.Findings)
			}
			// The name of a fixture is its trap; it may have further findings.
			trap, _, _ := strings.Cut(name, "--")
			falls := func(one doctor.Finding) bool { return string(one.Trap) == trap }
			if !isSilent && !slices.ContainsFunc(r.Findings, falls) {
				t.Errorf("it does not fall into %s", trap)
			}
		})
	}
}

// recommends fails if a fix names the admission policy on Kubernetes 1.35, or on an
// unknown version without the version that the policy needs.
func recommends(t *testing.T, c doctor.Case) {
	t.Helper()
	const policy = "\"gitlatch render admission\""
	for minor, allowed := range map[int]string{0: policy + " (Kubernetes 1.36 or later)", 35: ""} {
		c.Cluster.Minor = minor
		for _, f := range doctor.Examine(c).Findings {
			if n := strings.Count(f.Fix, policy); n > 0 && (allowed == "" || n != strings.Count(f.Fix, allowed)) {
				t.Errorf("Kubernetes 1.%d: %s: %s", minor, f.Trap, f.Fix)
			}
		}
	}
}

func rewrite(t *testing.T, file, want string) {
	t.Helper()
	if !*update {
		return
	}
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
		t.Fatal(err)
	}
}
