package main

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestATemplateIsPackagedWithItsFunctions(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	for _, function := range []string{"LatchFunction", "DrillFunction"} {
		if err := os.MkdirAll(filepath.Join(from, function), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(from, function, "bootstrap"), []byte("program of "+function), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(from, to, "v1.2.3", []string{"../../template.yaml", "../../infra/drill.yaml"}); err != nil {
		t.Fatal(err)
	}
	archive, err := zip.OpenReader(filepath.Join(to, "DrillFunction.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	if f := archive.File; len(f) != 1 || f[0].Name != "bootstrap" || f[0].Mode().Perm() != 0o755 || f[0].UncompressedSize64 != uint64(len("program of DrillFunction")) {
		t.Errorf("the zip holds %+v", f[0].FileHeader)
	}

	for path, of := range map[string]struct{ packaged, function string }{
		"../../template.yaml":    {"gitlatch.yaml", "LatchFunction"},
		"../../infra/drill.yaml": {"gitlatch-drill.yaml", "DrillFunction"},
	} {
		comesFromABucket(t, path, filepath.Join(to, of.packaged), of.function)
	}
}

// comesFromABucket compares a packaged template with its source.
func comesFromABucket(t *testing.T, path, name, function string) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	packaged, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	had := map[string]bool{}
	for line := range strings.Lines(string(source)) {
		had[line] = true
	}
	changed := ""
	for line := range strings.Lines(string(packaged)) {
		if !had[line] {
			changed += line
		}
	}
	for _, want := range []string{
		`CodeUri: {Bucket: !Ref CodeBucket, Key: !Sub "${CodePrefix}` + function + `.zip"}`,
		"  CodeBucket:\n", "    Default: gitlatch/v1.2.3/\n",
	} {
		if !strings.Contains(changed, want) {
			t.Errorf("the template lacks %s; it changed\n%s", want, changed)
		}
	}
	if strings.Contains(string(packaged), "CodeUri: .") {
		t.Error("a function's code is still a path")
	}
}

func TestWhatCannotBePackagedIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Resources: {A: {Type: 'AWS::SQS::Queue'}}\nParameters:\n  P: {}\n": "it has no Parameters, or no function",
		"Parameters:\n  P: {}\n": "it has no Resources",
		"Resources: {A: {Type: 'AWS::Serverless::Function', Properties: {CodeUri: {Bucket: b}}}}\nParameters:\n  P: {}\n": "A: its CodeUri must be a path",
	} {
		if _, _, err := Package([]byte(text), "v1"); err == nil || err.Error() != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := run("bin", t.TempDir(), "", nil); err == nil || !strings.HasPrefix(err.Error(), "-version is missing") {
		t.Errorf("without a version: %v", err)
	}
}
