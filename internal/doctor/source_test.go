package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

// recordsBy returns the good case of an admission policy in which the given objects apply
// the checkpoint files, from a folder that also contains other files. An object "file
// NAME" is a file of the repository instead.
func recordsBy(t *testing.T, objects ...string) fixture {
	t.Helper()
	f := read(t, "admission")
	delete(f, "repo/checkpoints/prod/kustomization.yaml")
	own, _, _ := strings.Cut(f["cluster.yaml"], "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: records")
	for _, o := range objects {
		if file, ok := strings.CutPrefix(o, "file "); ok {
			at, lines, _ := strings.Cut(file, "\n")
			f["repo/"+at] = lines
			continue
		}
		own += "---\n" + o + "\n"
	}
	f["cluster.yaml"] = own
	return f
}

func TestASourceLeavesOut(t *testing.T) {
	t.Parallel()
	const repository = "kind: GitRepository\nmetadata: {name: records, namespace: NAMESPACE}\nspec: {ignore: \"/checkpoints/prod/*.yaml\\n/checkpoints/prod/*/kustomization.yaml\\n\"}"
	source := func(namespace string) string { return strings.Replace(repository, "NAMESPACE", namespace, 1) }
	flux := func(ref string) string {
		return "kind: Kustomization\nmetadata: {name: records, namespace: flux-system}\nspec: {path: ./checkpoints/prod, sourceRef: {" + ref + "}}"
	}
	argo := func(directory string) string {
		return "kind: Application\nmetadata: {name: records, namespace: argocd}\nspec: {source: {path: checkpoints/prod, directory: {" + directory + "}}}"
	}
	file := func(at, lines string) string { return "file " + at + "\n" + lines }
	const below, left = "*.yaml\n!checkpoint.yaml\n", "/checkpoints/prod/*.yaml\n/checkpoints/prod/*/kustomization.yaml\n"
	bare := strings.Replace(source("flux-system"), "spec:", "other:", 1)
	for name, c := range map[string]struct {
		objects []string
		good    bool
	}{
		"its file":                  {[]string{bare, flux("kind: GitRepository, name: records"), file(".sourceignore", left)}, true},
		"a file in the folder":      {[]string{bare, flux("kind: GitRepository, name: records"), file("checkpoints/prod/.sourceignore", below)}, true},
		"a file in one above":       {[]string{bare, flux("kind: GitRepository, name: records"), file("checkpoints/.sourceignore", below)}, true},
		"a file beside it":          {[]string{bare, flux("kind: GitRepository, name: records"), file("apps/.sourceignore", below)}, false},
		"its file, overruled":       {[]string{strings.Replace(bare, "other: {ignore: \"", "spec: {ignore: \"!/checkpoints/prod/**\\n", 1), flux("kind: GitRepository, name: records"), file(".sourceignore", left)}, true},
		"its file, asked back in":   {[]string{strings.Replace(bare, "other: {", "spec: {ignore: '!/checkpoints/prod/**', was: {", 1) + "}", flux("kind: GitRepository, name: records"), file(".sourceignore", left)}, false},
		"a file, of a bucket":       {[]string{flux("kind: Bucket, name: records"), file(".sourceignore", left)}, false},
		"a file, by Argo CD":        {[]string{argo("recurse: true"), file(".sourceignore", left)}, false},
		"its own":                   {[]string{source("flux-system"), flux("kind: GitRepository, name: records")}, true},
		"of another namespace":      {[]string{source("team"), flux("kind: GitRepository, name: records, namespace: team")}, true},
		"a namesake":                {[]string{source("team"), flux("kind: GitRepository, name: records")}, false},
		"another name":              {[]string{source("flux-system"), flux("kind: GitRepository, name: other")}, false},
		"another kind":              {[]string{source("flux-system"), flux("kind: Bucket, name: records")}, false},
		"no source":                 {[]string{flux("kind: GitRepository, name: records")}, false},
		"included":                  {[]string{argo("recurse: true, include: '*/checkpoint.yaml'")}, true},
		"through folders":           {[]string{argo("recurse: true, include: '*.yaml', exclude: '{site.yaml,*kustomization.yam?}'")}, true},
		"not recursed":              {[]string{argo("include: '*/checkpoint.yaml'")}, false},
		"nothing excluded":          {[]string{argo("recurse: true, include: '*.yaml'")}, false},
		"a dot is a dot":            {[]string{argo("recurse: true, include: '*.heckpoint.yaml'")}, false},
		"a pattern that is not one": {[]string{argo("recurse: true, include: '{'")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := recordsBy(t, c.objects...)
			r := f.examine(t)
			if good := tell(r) == f["want"]; good != c.good {
				t.Errorf("good %v, want %v:\n%s", good, c.good, tell(r))
			}
			for _, found := range r.Findings {
				if found.Trap != doctor.RecordNotApplied && found.Trap != doctor.BuildFails && found.Trap != doctor.NotBuilt {
					t.Errorf("falls into %+v", found)
				}
			}
		})
	}
}

// Flux builds the files below a folder without a kustomization. It builds a subfolder
// with a kustomization as a unit.
func TestAFolderOfFoldersIsBuiltAsFluxDoes(t *testing.T) {
	t.Parallel()
	f := read(t, "flux")
	f["cluster.yaml"] = edited(t, f["cluster.yaml"], "-  path: ./clusters/prod/shop\n+  path: ./clusters\n")
	if got, want := tell(f.examine(t)), strings.ReplaceAll(f["want"], `"clusters/prod/shop"`, `"clusters"`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
