package checkpoint

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// Evidence lists the rules that protect live replica counts from the levels in git.
// The key is a workload, "namespace/kind/name", or all workloads of a kind in a
// namespace, "namespace/kind/*". The value names the rule. Nil covers no workload.
type Evidence map[string]string

// anyName is the name in a key that covers all workloads of a kind in a namespace.
const anyName = "*"

const (
	evidenceFile   = "protection.yaml"
	evidenceKind   = "Protection"
	evidenceHeader = `# The rules that protect the live replica counts of this site from the levels in git.
# gitlatch doctor --write updates this file. gitlatch writes no level of a workload that
# no line covers, unless its policy sets acceptRisk.
apiVersion: ` + siteAPI + `
kind: ` + evidenceKind + `
`
)

// EvidencePath is the path of a site's protection.yaml.
func EvidencePath(site string) string { return path.Join(Directory(site), evidenceFile) }

// CoverOne returns the key of a line that covers one workload.
func CoverOne(id workload.ID) string { return id.String() }

// CoverAll returns the key of a line that covers all workloads of a kind in a namespace.
func CoverAll(namespace string, kind workload.Kind) string {
	return workload.ID{Namespace: namespace, Kind: kind, Name: anyName}.String()
}

// Covers returns the rule that protects a workload: the line for the workload, or else
// the line for its namespace and kind.
func (e Evidence) Covers(id workload.ID) (what string, ok bool) {
	_, what, ok = e.Line(id)
	return what, ok
}

// Line returns the rule that Covers returns, and the key of its line.
func (e Evidence) Line(id workload.ID) (covered, what string, ok bool) {
	for _, covered = range []string{CoverOne(id), CoverAll(id.Namespace, id.Kind)} {
		what, ok = e[covered]
		if ok {
			return covered, what, true
		}
	}
	return "", "", false
}

// Format returns the canonical bytes of protection.yaml. Every line must be one that
// ParseEvidence could have read.
func (e Evidence) Format() []byte {
	b := []byte(evidenceHeader)
	if len(e) == 0 {
		return fmt.Append(b, "rules: {}\n")
	}
	b = fmt.Append(b, "rules:\n")
	for _, covered := range slices.Sorted(maps.Keys(e)) {
		b = fmt.Appendf(b, "  %q: %q\n", covered, e[covered])
	}
	return b
}

// ParseEvidence reads protection.yaml, by its path. It accepts the bytes of Format and
// the edits of a user. The error is *yamldoc.Errors. Each problem has its line, its field
// and a remedy.
func ParseEvidence(file string, data []byte) (Evidence, error) {
	found := Evidence{}
	r := newReader(file)
	r.Read(data, yamldoc.Document{APIVersion: siteAPI, Kind: evidenceKind, Object: yamldoc.Fields(
		yamldoc.Optional("rules", "the rule that protects each workload", yamldoc.Map{
			Must:  "a mapping such as {shop/deployment/web: the rule that protects it}",
			Empty: true,
			Entry: func(covered string) (yamldoc.Value, error) {
				return yamldoc.Taken(anyText, func(what string) { found[covered] = what }, wrongText), coverable(covered)
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
		return fmt.Errorf("must name on one line the rule that protects it, got %s", yamldoc.Quote(what))
	}
	return nil
}

// coverable returns an error if a key covers no workload with replicas.
func coverable(covered string) error {
	one := covered
	if all, ok := strings.CutSuffix(covered, "/"+anyName); ok {
		one = all + "/x"
	}
	id, err := workload.ParseID(one)
	switch {
	case err != nil:
		return errors.New("must be namespace/kind/name, or namespace/kind/* for all of a kind, such as shop/deployment/web")
	case !id.Kind.Scales():
		return fmt.Errorf("kind %q has no replicas, so it has no level", id.Kind)
	}
	return nil
}
