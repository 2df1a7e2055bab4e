package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/sanitize"
)

// ignored reports whether no tool resets the replicas of a workload after its creation.
// This is true if every applier ignores the replicas, and one of them applies to this cluster.
// Helm does not ignore fields.
func (e *examination) ignored(s subject) bool {
	if len(e.helm(s)) > 0 {
		return false
	}
	known := false
	owners, _ := e.owners(s.ID)
	for _, o := range owners {
		if o.keeps(s, o.annotations) != nil || e.narrowed(s, o) != nil {
			return false
		}
		known = known || !o.away
	}
	return known
}

// reset reports replicas in a manifest that the next apply sets again after a policy set
// the level on creation.
func (e *examination) reset(s *subject) bool {
	o, w := e.given(s.ID)
	if w.Replicas == nil || e.ignored(*s) || e.released(*s, w.Annotations) {
		return false
	}
	s.Start, s.By = *w.Replicas, o.Dir
	text := fmt.Sprintf("The manifest in %s contains replicas: %d. Each apply of the GitOps tool sets the live workload to this replica count, also after a rebuild.", o.Dir, *w.Replicas)
	fix := fmt.Sprintf("add the rule of \"gitlatch render argocd\" or \"gitlatch render flux\", which makes the tool ignore %s. Only then remove replicas from the manifest in %s", s.pointer(), o.Dir)
	if o.Chart {
		text = "The chart renders the workload with replicas. Each apply of the GitOps tool sets the live workload to the replicas of the chart, also after a rebuild."
		fix = omitReplicas + ". For Argo CD, you can instead add the rule of \"gitlatch render argocd\" to the Application"
	}
	e.lowers(s, ReplicasReset, s.ID.String(), text, fix)
	return true
}

// hidden reports the appliers of a workload that no build contains, and returns whether
// there are any. Their workloads start with an unknown number of replicas. If the
// workload has no known applier and a policy admits it, hidden reports the workload
// itself.
func (e *examination) hidden(s *subject, admitted bool) bool {
	before := len(s.Lowers)
	owners, others := e.owners(s.ID)
	owners = slices.DeleteFunc(owners, func(o owner) bool { return o.away })
	others = lists.Filter(others, applier.ofArtifact)
	for _, a := range slices.Concat(lists.Map(owners, func(o owner) applier { return o.applier }), others, e.helm(*s)) {
		if !e.fails(a, s.ID.Namespace) {
			text, fix := e.unbuilt(a)
			e.lowers(s, NotBuilt, a.name, text+". The replicas that a rebuild starts these workloads with are unknown.", fix)
		}
	}
	if len(s.Lowers) == before && len(owners) == 0 && admitted && len(e.Cluster.Unread) == 0 {
		text, folder := "No GitOps tool in this cluster applies the manifest of the workload", "a folder"
		if slices.ContainsFunc(e.Overlays, func(o Overlay) bool { return o.By == ByPath }) {
			text += ", and no folder in --path contains the manifest"
			folder = "another folder"
		}
		e.lowers(s, NotBuilt, s.ID.String(), text+". The replicas that a rebuild starts the workload with are unknown.",
			fmt.Sprintf("if %s in the repository contains the manifest, run \"gitlatch doctor --path FOLDER\"", folder))
	}
	return len(s.Lowers) > before
}

// ofArtifact reports whether an applier reads an artifact, whose commit is not the tip of
// the site's branch if the applier's build is not in the case.
func (a applier) ofArtifact() bool {
	return slices.ContainsFunc(a.origins, func(o origin) bool { return o.artifact })
}

// fails reports whether a build fails that belongs to an applier and includes the
// Component of a namespace. overlays reports this error.
func (e *examination) fails(a applier, namespace string) bool {
	return slices.ContainsFunc(e.including(namespace), func(in inclusion) bool { return in.overlay.By == a.by() && in.overlay.Err != nil })
}

// unbuilt returns the text of a finding about an applier without a build: the source of
// its workloads, and the fix.
func (e *examination) unbuilt(a applier) (text, fix string) {
	const rendered = "write the rendered manifests to a folder, and run \"gitlatch doctor --path FOLDER\""
	mine := lists.Filter(e.Overlays, func(o Overlay) bool { return o.By == a.by() && o.Err != nil })
	policy := fmt.Sprintf(", and add the rule of \"gitlatch render %s\" to %s. Alternatively, ", a.tool, a.name)
	if a.chart {
		policy = ", and remove the replicas from the templates of the chart. Alternatively, "
	}
	fix = e.admission(policy+rendered, rendered)
	switch {
	case len(mine) > 0 && errors.Is(mine[0].Err, errElsewhere):
		return "The workloads come from a Helm chart that is not in the repository",
			"copy the chart into the repository. Alternatively, put the packed chart, NAME-VERSION.tgz, into a folder, and run \"gitlatch doctor --charts FOLDER\""
	case len(mine) > 0 && mine[0].Chart:
		return fmt.Sprintf("The workloads come from the Helm chart in %s, which doctor cannot render: %s", mine[0].Dir, sanitize.Line(mine[0].Err.Error())),
			"correct the error. Alternatively, " + rendered
	case len(mine) > 0:
		text = fmt.Sprintf("folder %s, which does not build (%v)", mine[0].Dir, mine[0].Err)
	case len(a.builds) > 0:
		text = "a folder that doctor did not build, " + strings.Join(lists.Map(a.builds, func(b Build) string { return b.Dir + " of " + b.origin.is }), ", ")
	default:
		text = "a source that doctor did not build, " + names(a.origins, func(o origin) string { return o.is })
	}
	return fmt.Sprintf("The workloads of %s come from %s", a.name, text), fix
}
