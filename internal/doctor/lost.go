package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
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
		what, begin := fmt.Sprintf("its checkpoints, of %d pods together, have no effect", declared), ""
		if declared == 0 {
			what, begin = "what will be declared there has no effect", "gitlatch init begins it where there is none, "
		}
		start := fmt.Sprintf("a rebuild starts at %d", starts)
		if !built {
			start = "a rebuild starts at what the manifests state, and at 1 where they state nothing"
		}
		f := e.find(ComponentMissing, namespace, fmt.Sprintf("nothing that is built includes the Component %s, so that %s: %s. Add it to the components of the overlay, above its transformers; %s--path names overlays that no tool applies here",
			path.Dir(checkpoint.ComponentPath(e.Site, namespace)), what, start, begin))
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
		e.find(OtherCluster, e.Fleet.Cluster, fmt.Sprintf("this cluster is not the one that %s is of, %s, and all that is said here is of this one: choose the site's by --context; after a rebuild, gitlatch adopt makes this one the site's, which its next commit writes down",
			checkpoint.SitePath(e.Site), e.Tree.Site.Cluster))
	}
}

// Another reports whether what runs is known not to be the cluster that git says
// the site is of.
func (c Case) Another() bool {
	return c.Tree.Site.Cluster != "" && c.Fleet.Cluster != "" && c.Tree.Site.Cluster != c.Fleet.Cluster
}
