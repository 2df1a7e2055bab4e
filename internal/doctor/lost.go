package doctor

import (
	"fmt"
	"path"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/term"
)

// lost are workloads of one namespace whose Component is in no build.
type lost []subject

// sums returns the sum of the levels, and the number of pods that a rebuild starts for
// the workloads that have a level. If no workload has a level, starts is the sum for all
// workloads. built is false if the start of one of them is unknown.
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

// excluded reports the namespaces whose Component is in no build, and the effect on a
// rebuild.
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

// cluster reports if the examined cluster is not the site's cluster in git.
func (e *examination) cluster() {
	if e.Another() {
		e.find(OtherCluster, e.Fleet.Cluster, fmt.Sprintf("This is not the cluster that %s names, %s. The report describes this cluster. Choose the site's cluster with --context. After a rebuild, run \"gitlatch adopt\" to make this the site's cluster.",
			checkpoint.SitePath(e.Site), e.Tree.Site.Cluster))
	}
}

// Another reports whether the live cluster is certainly not the site's cluster in git.
func (c Case) Another() bool {
	return c.Tree.Site.Cluster != "" && c.Fleet.Cluster != "" && c.Tree.Site.Cluster != c.Fleet.Cluster
}
