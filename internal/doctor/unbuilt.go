package doctor

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// errChart is the error for a folder that contains a Helm chart.
var errChart = errors.New("it contains a Helm chart, which doctor does not render")

// chart reports whether a tool renders a folder as a Helm chart.
func chart(files map[string][]byte, dir string) bool {
	there := func(name string) bool { return files[path.Join(dir, name)] != nil }
	return there("Chart.yaml") && !slices.ContainsFunc(gitops.KustomizationNames(), there)
}

// guarded reports charts that may drop the replica count. A chart is not reported if an
// admission policy sets the level of one of its workloads.
func (e *examination) guarded() {
	for _, s := range e.subjects() {
		if _, admitted := e.admits(s); !admitted {
			continue
		}
		owners, _ := e.owners(s.ID)
		for _, name := range append(lists.Map(owners, func(o owner) string { return o.name }), e.releases(s)...) {
			delete(e.guards, name)
		}
	}
	for _, f := range e.guards {
		e.find(f.Trap, f.Subject, f.Text, f.Fix)
	}
}

// ignored reports whether no tool resets the replicas of a workload after its creation.
// This is true if every applier ignores the replicas, and an applier of this cluster or a
// user's line in protection.yaml covers the workload. Helm does not ignore fields.
func (e *examination) ignored(s subject) bool {
	if len(e.releases(s)) > 0 {
		return false
	}
	known := e.userLine(s.ID) != ""
	owners, _ := e.owners(s.ID)
	for _, o := range owners {
		if o.keeps(s, o.annotations) != nil || e.narrowed(s, o) != nil {
			return false
		}
		known = known || !o.away
	}
	return known
}

// userLine returns the line of protection.yaml that a user wrote and that covers a
// workload. It returns "" if there is no such line.
func (e *examination) userLine(id workload.ID) string {
	_, line, _ := e.Tree.Evidence.Line(id)
	if writes(line) {
		return ""
	}
	return line
}

// reset reports replicas in a manifest that the next apply sets again after a policy set
// the level on creation.
func (e *examination) reset(s *subject) bool {
	o, w := e.given(s.ID)
	if w.Replicas == nil || e.ignored(*s) {
		return false
	}
	s.Start, s.By = *w.Replicas, o.Dir
	e.lowers(s, StatedCount, s.ID.String(), fmt.Sprintf("The manifest in %s contains replicas: %d. After a rebuild, the next apply of the GitOps tool sets the workload to this replica count.", o.Dir, *w.Replicas),
		fmt.Sprintf("add the rule of \"gitlatch render argocd\" or \"gitlatch render flux\", which makes the tool ignore %s. Only then remove replicas from the manifest in %s", s.pointer(), o.Dir))
	return true
}

// hidden reports the appliers of a workload that no build contains, and returns whether
// there are any. Their workloads start with an unknown number of replicas. If the
// workload has no known applier and a policy admits it, hidden reports the workload
// itself.
func (e *examination) hidden(s *subject, admitted bool) bool {
	const rendered = ". Alternatively, write the rendered manifests to a folder, and run \"gitlatch doctor --path FOLDER\""
	before := len(s.Lowers)
	owners, _ := e.owners(s.ID)
	owners = slices.DeleteFunc(owners, func(o owner) bool { return o.away })
	for _, o := range owners {
		if !e.fails(o.applier, s.ID.Namespace) {
			e.unbuilt(s, admitted, o.name, fmt.Sprintf("The workloads of %s come from %s. The replicas that a rebuild starts these workloads with are unknown.", o.name, o.unbuiltSource(e.Overlays)),
				fmt.Sprintf("%s, and add the rule of \"gitlatch render %s\" to %s%s", renderAdmission, o.tool, o.name, rendered))
		}
	}
	for _, name := range e.releases(*s) {
		e.unbuilt(s, admitted, name, fmt.Sprintf("The workloads of %s come from a Helm chart, which doctor does not render. The replicas that a rebuild starts these workloads with are unknown.", name),
			renderAdmission+", and remove the replicas from the templates of the chart"+rendered)
	}
	if len(s.Lowers) == before && len(owners) == 0 && admitted && len(e.Cluster.Unread) == 0 {
		text, folder := "No GitOps tool in this cluster applies the manifest of the workload", "a folder"
		if slices.ContainsFunc(e.Overlays, func(o Overlay) bool { return o.By == ByPath }) {
			text += ", and no folder in --path contains the manifest"
			folder = "another folder"
		}
		e.lowers(s, NotBuilt, s.ID.String(), text+". The replicas that a rebuild starts the workload with are unknown.",
			fmt.Sprintf("if %s in the repository contains the manifest, run \"gitlatch doctor --path FOLDER\". If another tool applies the workload and ignores %s, add \"NAMESPACE/KIND/NAME: REASON\" to %s", folder, s.pointer(), checkpoint.EvidencePath(e.Site)))
	}
	return len(s.Lowers) > before
}

// unbuilt adds a finding about an applier without a build: the finding about its chart,
// or else text.
func (e *examination) unbuilt(s *subject, admitted bool, name, text, fix string) {
	if f, guards := e.guards[name]; guards && !admitted {
		e.lowers(s, f.Trap, f.Subject, f.Text, f.Fix)
		return
	}
	e.lowers(s, NotBuilt, name, text, fix)
}

// fails reports whether a build fails that belongs to an applier and includes the
// Component of a namespace. overlays reports this error.
func (e *examination) fails(a applier, namespace string) bool {
	return slices.ContainsFunc(e.including(namespace), func(in inclusion) bool { return in.overlay.By == a.by() && in.overlay.Err != nil })
}

// unbuiltSource describes the source of an applier without a build.
func (a applier) unbuiltSource(overlays []Overlay) string {
	for _, o := range overlays {
		if o.By == a.by() && o.Err != nil && !errors.Is(o.Err, errChart) {
			return fmt.Sprintf("folder %s, which does not build (%v)", o.Dir, o.Err)
		}
	}
	if a.chart || slices.ContainsFunc(overlays, func(o Overlay) bool { return o.By == a.by() && o.Err != nil }) {
		return "a Helm chart, which doctor does not render"
	}
	if len(a.builds) > 0 {
		return "a folder that doctor did not build, " + strings.Join(lists.Map(a.builds, func(b Build) string { return b.Dir + " of " + b.origin.is }), ", ")
	}
	return "a source that doctor did not build, " + names(a.origins, func(o origin) string { return o.is })
}
