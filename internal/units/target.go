package units

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Target is a namespace or a workload that a user names. The kind is needed if several
// workloads of the namespace have the name.
type Target struct {
	Namespace string
	Kind      workload.Kind // "" is any
	Name      string        // "" is the complete namespace
}

// ParseTarget parses shop, shop/web or shop/deployment/web.
func ParseTarget(text string) (Target, error) {
	part := strings.Split(text, "/")
	if len(part) > 3 || slices.Contains(part, "") {
		return Target{}, fmt.Errorf("target %q: must be NAMESPACE, NAMESPACE/NAME or NAMESPACE/KIND/NAME", text)
	}
	t := Target{Namespace: part[0]}
	if !workload.ValidLabel(t.Namespace) {
		return Target{}, fmt.Errorf("namespace %q: must be %s", t.Namespace, workload.MustLabel)
	}
	if len(part) > 1 {
		t.Name = part[len(part)-1]
	}
	if len(part) == 3 {
		t.Kind = workload.Kind(part[1])
	}
	return t, nil
}

// ParseTargets parses several targets. With a namespace, each text may omit it, and no
// texts mean the complete namespace.
func ParseTargets(namespace string, texts []string) ([]Target, error) {
	if namespace != "" && len(texts) == 0 {
		texts = []string{namespace}
	} else if namespace != "" {
		texts = lists.Map(texts, func(text string) string { return namespace + "/" + strings.TrimPrefix(text, namespace+"/") })
	}
	var all []Target
	for _, text := range texts {
		t, err := ParseTarget(text)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

// All reports whether the target is a complete namespace.
func (t Target) All() bool { return t.Name == "" }

// ID returns the workload of a target; ok is false if the target has no kind.
func (t Target) ID() (workload.ID, bool) {
	return workload.ID{Namespace: t.Namespace, Kind: t.Kind, Name: t.Name}, t.Kind != ""
}

// Covers reports whether the target includes a workload.
func (t Target) Covers(id workload.ID) bool {
	return t.Namespace == id.Namespace && (t.All() || t.Name == id.Name && (t.Kind == "" || t.Kind == id.Kind))
}

// String returns the target in the form of ParseTarget.
func (t Target) String() string {
	part := []string{t.Namespace, string(t.Kind), t.Name}
	return strings.Join(slices.DeleteFunc(part, func(name string) bool { return name == "" }), "/")
}
