package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// excluded reports the namespaces whose Component is in no build.
func (e *examination) excluded() {
	for namespace, l := range e.without {
		fix := fmt.Sprintf("add %s to components of the overlay, above its transformers", path.Dir(checkpoint.RecordPath(e.Site, namespace)))
		if !slices.ContainsFunc(l, func(s subject) bool { return s.Level > 0 }) {
			fix = "if the Component does not exist, run \"gitlatch init\". Then " + fix
		}
		f := e.find(ComponentMissing, namespace,
			"No folder that doctor builds (from Flux, Argo CD and --path) includes the Component of the namespace. A rebuild ignores the levels of the namespace, and uses the replicas in the manifests (default 1).", fix)
		for i, w := range e.report.Workloads {
			if slices.ContainsFunc(l, func(s subject) bool { return s.ID == w.ID }) {
				e.report.Workloads[i].Lowers = append(w.Lowers, f)
			}
		}
	}
}

// cluster reports if the examined cluster is not the site's cluster in git.
func (e *examination) cluster() {
	if e.Another() {
		e.find(OtherCluster, e.Fleet.Cluster, fmt.Sprintf("%s names the cluster %s as the cluster of the site, but doctor checked a different cluster.",
			checkpoint.SitePath(e.Site), e.Tree.Site.Cluster), "select the site's cluster with --context. After a rebuild, run \"gitlatch adopt\"")
	}
}

// Another reports whether the live cluster is certainly not the site's cluster in git.
func (c Case) Another() bool {
	return c.Tree.Site.Cluster != "" && c.Fleet.Cluster != "" && c.Tree.Site.Cluster != c.Fleet.Cluster
}
