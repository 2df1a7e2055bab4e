package checkpoint

import (
	"maps"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/docs"
	"github.com/gitlatch/gitlatch/internal/workload"
)

func TestEvidenceReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, e := range []Evidence{
		{},
		{
			CoverAll("shop", workload.Deployment):                                           "flux: Kustomization flux-system/shop ignores /spec/replicas",
			CoverOne(deployment("web.v2")):                                                  `a person: "never mind" # é: {}`,
			CoverOne(workload.ID{Namespace: "on", Kind: workload.StatefulSet, Name: "1e3"}): "null",
		},
	} {
		data := e.Format()
		again, err := ParseEvidence(evidenceFile, data)
		if err != nil || !maps.Equal(again, e) {
			t.Errorf("got %v, %v of\n%s", again, err, data)
		}
		if string(again.Format()) != string(data) {
			t.Errorf("the same evidence is not the same file:\n%s\n%s", data, again.Format())
		}
	}
}

func TestEvidenceCoversWhatItNames(t *testing.T) {
	t.Parallel()
	e := Evidence{"shop/deployment/web": "own", "shop/statefulset/*": "all"}
	for id, want := range map[string]string{
		"shop/deployment/web": "own", "shop/deployment/web-2": "", "pay/deployment/web": "",
		"shop/statefulset/web": "all", "shop/statefulset/db": "all", "pay/statefulset/db": "",
	} {
		parsed, err := workload.ParseID(id)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := e.Covers(parsed); got != want || ok != (want != "") {
			t.Errorf("%s is covered by %q, %v, want %q", id, got, ok, want)
		}
	}
	e["shop/statefulset/db"] = "own"
	if got, _ := e.Covers(workload.ID{Namespace: "shop", Kind: workload.StatefulSet, Name: "db"}); got != "own" {
		t.Errorf("covered by %q, want the line of its own", got)
	}
}

func TestBrokenEvidenceCostsNothingElse(t *testing.T) {
	t.Parallel()
	files := read(t, example.Name)
	files[EvidencePath(example.Name)] = []byte("<<<<<<< HEAD\n")
	tree := mustParse(t, files)
	if tree.Unproven == nil || !strings.HasPrefix(tree.Unproven.Error(), "checkpoints/prod-eu/protection.yaml:1: ") || len(tree.Evidence) > 0 {
		t.Errorf("read %v, %v", tree.Evidence, tree.Unproven)
	}
	if len(tree.Records) == 0 || len(tree.Broken) > 0 {
		t.Errorf("records %v, broken %v", tree.Records, tree.Broken)
	}
}

// The handbook shows a valid file.
func TestTheEvidenceOfTheHandbookIsAFile(t *testing.T) {
	t.Parallel()
	_, shown, _ := strings.Cut(docs.Text("protection"), "## protection.yaml")
	_, shown, _ = strings.Cut(shown, "\n\n    ")
	shown, _, _ = strings.Cut(shown, "\n\n")
	found, err := ParseEvidence(evidenceFile, []byte(strings.ReplaceAll(shown, "\n    ", "\n")+"\n"))
	if err != nil || len(found) == 0 {
		t.Errorf("%v: %v, of\n%s", found, err, shown)
	}
}
