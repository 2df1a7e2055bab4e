package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// tag is the tag of the next release.
func tag(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, imageFile))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`newTag: (v\d+\.\d+\.\d+\S*)\n`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s has no newTag that is a version", imageFile)
	}
	return string(found[1])
}

// standIn is a compiler of the Makefile. A real build of all programs takes half an hour of
// CPU time, so each program is a copy of a small one with the name of its platform at the end.
const standIn = `#!/usr/bin/env bash
set -euo pipefail
while [ "$1" != -o ]; do shift; done
out=$2
case $out in */)
	mkdir -p "$out"
	out=${out}gitlatch$([ "$GOOS" != windows ] || echo .exe)
	;;
esac
cp "%[1]s" "$out"
printf '%%s' "${GOOS}_$GOARCH" >>"$out"
`

// snapshot runs make snapshot for a tag, and returns the folder with its files.
func snapshot(t *testing.T, tag string) string {
	t.Helper()
	dir := t.TempDir()
	program, compiler := filepath.Join(dir, "program"), filepath.Join(dir, "compile")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.WriteFile(compiler, fmt.Appendf(nil, standIn, program), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("make", "-C", root, "snapshot", "BIN="+filepath.Join(dir, "bin"), "DIST="+filepath.Join(dir, "dist"), "COMPILE="+compiler,
		"VERSION="+tag, "REVISION="+strings.Repeat("ab", 20), "CREATED=2026-11-22T09:00:00Z")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make snapshot: %v\n%s", err, out)
	}
	return filepath.Join(dir, "dist", "release")
}

// All steps of a release run, except the compiler and the services that the workflow calls.
func TestADryRunMakesEachFileOfARelease(t *testing.T) {
	t.Parallel()
	tag := tag(t)
	dir := snapshot(t, tag)
	files := map[string][]byte{}
	for _, f := range folder(t, dir) {
		files[f.name] = f.content
	}
	checksumsVerify(t, files)
	formulaInstalls(t, files, tag)

	version := strings.TrimPrefix(tag, "v")
	want := []string{"gitlatch", "LICENSE", "README.md", "completions/gitlatch.bash", "completions/gitlatch.fish", "completions/gitlatch.ps1", "completions/gitlatch.zsh",
		"schema/config.json", "schema/fleet.json", "schema/policy.json"}
	held := untar(t, files["gitlatch_"+version+"_linux_arm64.tar.gz"])
	if got := slices.Sorted(maps.Keys(held)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("an archive has %q, want %q", got, want)
	}
	if program := held["gitlatch"]; program.mode != 0o755 || !bytes.HasSuffix(program.content, []byte("linux_arm64")) {
		t.Errorf("the program has mode %o, or is not the program for linux_arm64", program.mode)
	}
	windows := files["gitlatch_"+version+"_windows_amd64.zip"]
	if z, err := zip.NewReader(bytes.NewReader(windows), int64(len(windows))); err != nil || z.File[0].Name != "gitlatch.exe" {
		t.Errorf("the archive for Windows: %v", err)
	}
	for _, name := range []string{"gitlatch.yaml", "LatchFunction.zip", "LatchFunction.cdx.json", "gitlatch_" + version + "_windows_arm64.cdx.json", "SHA256SUMS.sig"} {
		if len(files[name]) == 0 {
			t.Errorf("the release lacks %s", name)
		}
	}
	imageIsWhole(t, untar(t, files["gitlatch-image.tar"]), tag)
}

// checksumsVerify tests that SHA256SUMS has the checksum of each file, except the signature.
func checksumsVerify(t *testing.T, files map[string][]byte) {
	t.Helper()
	var want []string
	for name, content := range files {
		if !strings.HasPrefix(name, "SHA256SUMS") {
			want = append(want, fmt.Sprintf("%x  %s\n", sha256.Sum256(content), name))
		}
	}
	got := slices.Collect(strings.Lines(string(files["SHA256SUMS"])))
	if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(want))) || len(got) < 30 {
		t.Errorf("SHA256SUMS has %d lines:\n%s\nwant\n%s", len(got), strings.Join(got, ""), strings.Join(want, ""))
	}
}

// formulaInstalls tests that the formula names an archive of the release for each platform
// of Homebrew, with its checksum.
func formulaInstalls(t *testing.T, files map[string][]byte, tag string) {
	t.Helper()
	pairs := regexp.MustCompile(`url "https://github\.com/gitlatch/gitlatch/releases/download/([^/"]+)/([^/"]+)"\s+sha256 "([0-9a-f]{64})"`).FindAllSubmatch(files["gitlatch.rb"], -1)
	var platforms []string
	for _, p := range pairs {
		name := string(p[2])
		platforms = append(platforms, strings.TrimSuffix(strings.TrimPrefix(name, "gitlatch_"+strings.TrimPrefix(tag, "v")+"_"), ".tar.gz"))
		if sum := fmt.Sprintf("%x", sha256.Sum256(files[name])); len(files[name]) == 0 || string(p[1]) != tag || string(p[3]) != sum {
			t.Errorf("the formula has %s of %s with checksum %s, want %s with %s", name, p[1], p[3], tag, sum)
		}
	}
	if want := []string{"darwin_arm64", "darwin_amd64", "linux_arm64", "linux_amd64"}; !slices.Equal(platforms, want) {
		t.Errorf("the formula has the platforms %q, want %q:\n%s", platforms, want, files["gitlatch.rb"])
	}
}

// imageIsWhole tests that each blob of the image has the content that its name states, and
// that the image has the version of the tag for both architectures.
func imageIsWhole(t *testing.T, files map[string]file, tag string) {
	t.Helper()
	versions := 0
	for name, f := range files {
		if sum, ok := strings.CutPrefix(name, "image/blobs/sha256/"); ok && sum != fmt.Sprintf("%x", sha256.Sum256(f.content)) {
			t.Errorf("the blob %s has another content", name)
		}
		if bytes.Contains(f.content, []byte(`"architecture":`)) && bytes.Contains(f.content, []byte(`"org.opencontainers.image.version":"`+tag+`"`)) {
			versions++
		}
	}
	index := files["image/index.json"].content
	entry := regexp.MustCompile(`"digest":\s*"sha256:([0-9a-f]{64})"`).FindSubmatch(index)
	if entry == nil || files["image/blobs/sha256/"+string(entry[1])].content == nil {
		t.Errorf("the index of the image is %s", index)
	}
	if versions < 2 {
		t.Errorf("%d files of the image name its version %s, want one for each architecture", versions, tag)
	}
}

// folder returns the files in a folder.
func folder(t *testing.T, dir string) []file {
	t.Helper()
	files, err := read("", dir)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// untar returns the files of a tar archive, which may be compressed with gzip.
func untar(t *testing.T, archive []byte) map[string]file {
	t.Helper()
	var in io.Reader = bytes.NewReader(archive)
	if zipped, err := gzip.NewReader(bytes.NewReader(archive)); err == nil {
		in = zipped
	}
	files := map[string]file{}
	for r := tar.NewReader(in); ; {
		header, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = file{header.Name, header.FileInfo().Mode(), content}
	}
}

func TestATagMustBeTheTagOfTheManifests(t *testing.T) {
	t.Parallel()
	tag := tag(t)
	for image, want := range map[string]string{
		"ghcr.io/gitlatch/gitlatch:" + tag:              "",
		"ghcr.io/gitlatch/gitlatch:" + tag + "-rc.1":    "names the image ghcr.io/gitlatch/gitlatch:" + tag + ", and the release pushes ghcr.io/gitlatch/gitlatch:" + tag + "-rc.1",
		"registry.example.com/platform/gitlatch:" + tag: "correct newName and newTag",
	} {
		err := run(Release{Root: root}, "", "", image)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("image %s: error %v, want %q", image, err, want)
		}
	}
}

func TestAMissingPartOfAReleaseIsNamed(t *testing.T) {
	t.Parallel()
	built := t.TempDir()
	for _, c := range []struct{ want, add string }{
		{"/completions: ", "completions/gitlatch.bash"},
		{"/programs: no such file", "programs/darwin_arm64/gitlatch"},
		{"programs/darwin_amd64 is missing", "programs/darwin_amd64/gitlatch"},
		{"programs/linux_arm64 is missing", "programs/linux_arm64/gitlatch"},
		{"programs/linux_amd64 is missing", "programs/linux_amd64/gitlatch"},
		{"/image: ", "image/index.json"},
		{"/package: ", "package/gitlatch.yaml"},
		{"/sbom: ", "sbom/LatchFunction.cdx.json"},
		{"", "programs/plan9/gitlatch"},
		{"programs/plan9: the name of the folder must be GOOS_GOARCH", ""},
	} {
		err := run(Release{Tag: "v1.2.3", Root: root, Built: built}, "2026-11-22T09:00:00Z", filepath.Join(t.TempDir(), "release"), "")
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
		path := filepath.Join(built, c.add)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("content"), 0o644)); c.add != "" && err != nil {
			t.Fatal(err)
		}
	}
}
