package doctor_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

var owns = regexp.MustCompile(`([a-z-]+) \((Apply|Update)( scale)?\)`)

// entries returns the managed fields of an object whose replicas have the owners of a cell.
// applies is true if the tool applies the object server-side.
func entries(cell string, applies bool) (all []string) {
	operation := "Update"
	if applies {
		operation = "Apply"
	}
	all = append(all, fmt.Sprintf(`{manager: tool, operation: %s, fieldsV1: {"f:spec": {"f:template": {}}}}`, operation))
	for _, m := range owns.FindAllStringSubmatch(cell, -1) {
		subresource := ""
		if m[3] != "" {
			subresource = "subresource: scale, "
		}
		all = append(all, fmt.Sprintf(`{manager: %s, operation: %s, %sfieldsV1: {"f:spec": {"f:replicas": {}}}}`, m[1], m[2], subresource))
	}
	return all
}

// The rule for resets agrees with each cell that proof/owners measured on the real tools, and
// does not answer the others. A row that changes the method of its tool has two tools, so its
// cells are not comparable.
func TestTheRuleAgreesWithTheTools(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../proof/owners/testdata/replicas-*.md")
	if err != nil || len(files) != 4 {
		t.Fatalf("%q, %v", files, err)
	}
	known, unknown := 0, 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[2:] {
			cell := strings.Split(strings.Trim(line, "| "), " | ")
			tool, manifest, created, last, scaledBy := cell[0], cell[1], cell[2], cell[3], cell[5]
			if strings.Contains(tool, ", then ") || strings.HasPrefix(tool, "the same ") {
				continue
			}
			applies := strings.Contains(created, "(Apply)") || created == "nobody"
			for _, state := range []struct {
				owner, next string // next are the replicas after the next apply
				live        int
			}{{created, cell[9], 20}, {scaledBy, cell[7], 42}} {
				answer := keptBy(t, tool, last, state.live, entries(state.owner, applies))
				name := fmt.Sprintf("%s, manifest %s, owner %s", tool, manifest, state.owner)
				switch {
				case answer.Yes() && state.next != fmt.Sprint(state.live):
					t.Errorf("%s: the tool resets to %s, and the answer is yes: %s", name, state.next, answer.Text())
				case answer.No() && state.next != "3":
					t.Errorf("%s: the next apply leads to %s, and the answer is no: %s", name, state.next, answer.Text())
				case answer.Yes() || answer.No():
					known++
				default:
					unknown++
				}
			}
		}
	}
	if known < 40 || unknown < 20 {
		t.Errorf("%d cells have an answer, and %d are unknown", known, unknown)
	}
}

// keptBy returns the answer for a workload of level 20 that a tool of proof/owners applies.
func keptBy(t *testing.T, tool, last string, live int, managers []string) doctor.Answer {
	t.Helper()
	w := newWorld()
	annotations := `gitlatch.dev/floor: "20"`
	switch last {
	case "3":
		annotations += ", " + noted(`{"replicas": 3}`)
	case "omitted":
		annotations += ", " + noted(`{"selector": {}}`)
	}
	labels := ""
	switch {
	case strings.HasPrefix(tool, "Argo CD"):
		annotations += `, argocd.argoproj.io/tracking-id: "shop:apps/Deployment:shop/web"`
		w.objects["shop"] = application
		if strings.Contains(tool, "RespectIgnoreDifferences") {
			w.objects["shop"] = strings.Replace(application, "syncPolicy: {", "syncPolicy: {syncOptions: [RespectIgnoreDifferences=true], ", 1)
		}
	case strings.HasPrefix(tool, "Flux"):
		labels = ", " + fluxOwned
		if strings.Contains(tool, "spec.ignore") {
			w.objects["apps"] = kustomization("apps", "ignore: [{paths: [/spec/replicas]}]", "True")
		}
	}
	object := deployment("annotations: {"+annotations+"}"+labels, "", managers...)
	w.objects["web"] = strings.Replace(object, "replicas: 42", fmt.Sprintf("replicas: %d", live), 1)
	return doctor.Examine(w.read(t)).Workloads[0].Answers.Kept
}
