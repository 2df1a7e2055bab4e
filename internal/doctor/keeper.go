package doctor

import (
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Tool is a kind of rule that protects live replicas.
type Tool string

// The tools.
const (
	Flux      Tool = "flux"
	ArgoCD    Tool = "argocd"
	Admission Tool = "admission"
)

// says names an object of the tool.
func (t Tool) says(object string) string { return string(t) + ": " + object }

// A Keeper is an object with a rule that protects the live replicas of a workload.
type Keeper struct {
	Tool Tool
	Name string // for example "Kustomization flux-system/shop"
	How  string // for example "ignores /spec/replicas"
}

// Keepers are the rules that protect one workload. They are empty if no rule was found.
type Keepers []Keeper

// Line names the rules on one line. "" means no rule.
func (k Keepers) Line() string {
	return strings.Join(lists.Map(k, func(k Keeper) string { return k.Tool.says(k.Name) + " " + k.How }), "; ")
}

// Names returns the names of the objects. "" means no rule.
func (k Keepers) Names() string {
	return strings.Join(lists.Map(k, func(k Keeper) string { return k.Name }), "; ")
}
