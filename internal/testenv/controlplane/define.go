package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A Definition is a new namespaced kind of the cluster. Its resource name is its name
// in lower case. Its objects may have any fields, and no controller acts on them.
type Definition struct {
	Group, Version, Kind string
	// Subresources are its subresources in the form of a CustomResourceDefinition; ""
	// means that it has no subresources.
	Subresources string
}

// The kinds of others that tests read and write: KEDA's, Argo CD's and Flux's.
var (
	ScaledObject  = Definition{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"}
	Application   = Definition{Group: "argoproj.io", Version: "v1alpha1", Kind: "Application"}
	Kustomization = Definition{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "Kustomization"}
	GitRepository = Definition{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepository"}
	HelmRelease   = Definition{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}
)

// Define has the cluster know kinds, and serve them.
func (cp *ControlPlane) Define(t testing.TB, kinds ...Definition) {
	t.Helper()
	for _, d := range kinds {
		one := strings.ToLower(d.Kind)
		many := one + "s"
		if stem, ends := strings.CutSuffix(one, "y"); ends {
			many = stem + "ies"
		}
		subresources := ""
		if d.Subresources != "" {
			subresources = "\n    subresources: " + d.Subresources
		}
		cp.Apply(t, fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[6]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[6]s, singular: %[4]s, kind: %[3]s, listKind: %[3]sList}
  versions:
  - name: %[2]s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}%[5]s
`, d.Group, d.Version, d.Kind, one, subresources, many))
	}
	cp.Established(t)
}

// Established waits until all kinds that were defined are served. kubectl wait and
// a template of kubectl fail on one so new that it has no conditions yet.
func (cp *ControlPlane) Established(t testing.TB) {
	t.Helper()
	err := Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		var all struct {
			Items []struct {
				Metadata struct{ Name string }
				Status   struct {
					Conditions []struct{ Type, Status string }
				}
			}
		}
		if err := cp.Read(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", &all); err != nil {
			return err
		}
		for _, d := range all.Items {
			if !slices.Contains(d.Status.Conditions, struct{ Type, Status string }{"Established", "True"}) {
				return fmt.Errorf("%s is not established", d.Metadata.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("define kinds: %v", err)
	}
}
