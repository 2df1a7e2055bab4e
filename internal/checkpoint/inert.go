package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/strict"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Evidence is what keeps checkpoints inert on the live cluster, so that they
// act at creation alone: by what is covered, "namespace/kind/name" or
// "namespace/kind/*", the sentence that says what does. Nil covers nothing.
type Evidence map[string]string

// anyName stands in a line for all workloads of its namespace and kind.
const anyName = "*"

const (
	evidenceFile   = "inert.yaml"
	evidenceKind   = "Evidence"
	evidenceHeader = `# What keeps the entries of this site inert on the live cluster, so that they act
# at creation alone. gitlatch doctor --write keeps it. A workload that no line covers
# is not written of, unless its policy has acceptRisk.
apiVersion: ` + siteAPI + `
kind: ` + evidenceKind + `
`
)

// EvidencePath is the path of a site's inert.yaml.
func EvidencePath(site string) string { return path.Join(Directory(site), evidenceFile) }

// CoverOne is what a line says that covers one workload.
func CoverOne(id workload.ID) string { return id.String() }

// CoverAll is what a line says that covers all of a namespace and kind.
func CoverAll(namespace string, kind workload.Kind) string {
	return workload.ID{Namespace: namespace, Kind: kind, Name: anyName}.String()
}

// Covers returns what keeps the checkpoint of a workload inert: the line of its
// own, or else that of its namespace and kind.
func (e Evidence) Covers(id workload.ID) (what string, ok bool) {
	_, what, ok = e.Line(id)
	return what, ok
}

// Line returns what Covers does, and what the line says that it covers.
func (e Evidence) Line(id workload.ID) (covered, what string, ok bool) {
	for _, covered = range []string{CoverOne(id), CoverAll(id.Namespace, id.Kind)} {
		what, ok = e[covered]
		if ok {
			return covered, what, true
		}
	}
	return "", "", false
}

// Format returns the canonical bytes of inert.yaml. Every line must be one that
// ParseEvidence could have read.
func (e Evidence) Format() []byte {
	b := []byte(evidenceHeader)
	if len(e) == 0 {
		return fmt.Append(b, "evidence: {}\n")
	}
	b = fmt.Append(b, "evidence:\n")
	for _, covered := range slices.Sorted(maps.Keys(e)) {
		b = fmt.Appendf(b, "  %q: %q\n", covered, e[covered])
	}
	return b
}

// ParseEvidence reads inert.yaml, by its path. It takes what Format writes and what
// a person makes of it. The error is *strict.Errors, each problem with its line, its
// field and what to do.
func ParseEvidence(file string, data []byte) (Evidence, error) {
	found := Evidence{}
	r := newReader(file)
	r.Read(data, strict.Document{APIVersion: siteAPI, Kind: evidenceKind, Object: strict.Fields(
		strict.Optional("evidence", "what keeps workloads inert", strict.Map{
			Must:  "a mapping such as {shop/deployment/web: what keeps it inert}",
			Empty: true,
			Entry: func(covered string) (strict.Value, error) {
				return strict.Taken(anyText, func(what string) { found[covered] = what }, wrongText), coverable(covered)
			},
		}),
	)})
	if err := r.Err(); err != nil {
		return nil, err
	}
	return found, nil
}

func wrongText(what string) error {
	if strings.TrimSpace(what) == "" || strings.ContainsFunc(what, unicode.IsControl) {
		return fmt.Errorf("must say on one line what keeps it inert, got %s", strict.Quote(what))
	}
	return nil
}

// coverable says what is wrong with what a line is to cover.
func coverable(covered string) error {
	one := covered
	if all, ok := strings.CutSuffix(covered, "/"+anyName); ok {
		one = all + "/x"
	}
	id, err := workload.ParseID(one)
	switch {
	case err != nil:
		return errors.New("must be namespace/kind/name, or namespace/kind/* for all of a kind, as in shop/deployment/web")
	case !id.Kind.Scales():
		return fmt.Errorf("kind %q has no replicas that a checkpoint could declare", id.Kind)
	}
	return nil
}
