package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/term"
)

// lost are the workloads of a namespace that declares what no rebuild has.
type lost []subject

// sums are the pods that were declared of those that are declared, or of all
// where none is yet, and those that they start at; built is false where nothing
// builds one of them.
func (l lost) sums() (declared, starts int64, built bool) {
	for _, s := range l {
		declared += int64(s.Level)
	}
	built = true
	for _, s := range l {
		if s.Level > 0 || declared == 0 {
			if !s.Paused {
				starts += int64(s.Start)
			}
			built = built && s.Start > 0
		}
	}
	return declared, starts, built
}

// excluded notes namespaces whose Component is in no build, and what a rebuild
// gives then.
func (e *examination) excluded() {
	for namespace, l := range e.without {
		declared, starts, built := l.sums()
		levels, begin := "its levels ("+term.Count(int(declared), "pod")+")", ""
		if declared == 0 {
			levels, begin = "its future levels", "If the Component does not exist yet, run \"gitlatch init\". "
		}
		start := "starts " + term.Count(int(starts), "pod")
		if !built {
			start = "uses the manifests' replicas (default 1)"
		}
		f := e.find(ComponentMissing, namespace, fmt.Sprintf("No overlay includes the Component %s. A rebuild ignores %s and %s. Add the Component to components of the overlay, above its transformers. %sIf no tool in this cluster applies the overlay, name it with --path.",
			path.Dir(checkpoint.ComponentPath(e.Site, namespace)), levels, start, begin))
		for i, w := range e.report.Workloads {
			if slices.ContainsFunc(l, func(s subject) bool { return s.ID == w.ID }) {
				e.report.Workloads[i].Lowers = append(w.Lowers, f)
			}
		}
	}
}

// cluster notes that it is another site's, or one that the site was not adopted
// on.
func (e *examination) cluster() {
	if e.Another() {
		e.find(OtherCluster, e.Fleet.Cluster, fmt.Sprintf("This is not the cluster that %s names, %s. The report describes this cluster. Choose the site's cluster with --context. After a rebuild, run \"gitlatch adopt\" to make this the site's cluster.",
			checkpoint.SitePath(e.Site), e.Tree.Site.Cluster))
	}
}

// Another reports whether what runs is known not to be the cluster that git says
// the site is of.
func (c Case) Another() bool {
	return c.Tree.Site.Cluster != "" && c.Fleet.Cluster != "" && c.Tree.Site.Cluster != c.Fleet.Cluster
}
