package doctor

import (
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/each"
)

// A Tool is what keeps a checkpoint inert on the live cluster.
type Tool string

// The tools.
const (
	Flux      Tool = "flux"
	ArgoCD    Tool = "argocd"
	Admission Tool = "admission"
)

// says is how a line about an object of the tool begins.
func (t Tool) says(object string) string { return string(t) + ": " + object }

// writes reports whether a line of protection.yaml is one that doctor writes, rather
// than a person's in their own words.
func writes(line string) bool {
	return slices.ContainsFunc([]Tool{Flux, ArgoCD, Admission}, func(t Tool) bool { return strings.HasPrefix(line, t.says("")) })
}

// A Keeper is an object that keeps a checkpoint inert.
type Keeper struct {
	Tool Tool
	Name string // "Kustomization flux-system/shop"
	How  string // "ignores /spec/replicas"
}

// Keepers are all that keep one checkpoint inert; none is that nothing is known to.
type Keepers []Keeper

// Line is what protection.yaml says of them; "" of none.
func (k Keepers) Line() string {
	return strings.Join(each.Of(k, func(k Keeper) string { return k.Tool.says(k.Name) + " " + k.How }), "; ")
}

// Names are the objects, as a person calls them; "" of none.
func (k Keepers) Names() string {
	return strings.Join(each.Of(k, func(k Keeper) string { return k.Name }), "; ")
}
