package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// unprotected starts the text of a finding about a workload without a rule.
const unprotected = "No rule protects the live replica count"

// admission returns the remedy that works with any tool, followed by more. If the API
// server does not serve admission policies, admission returns instead.
func (e *examination) admission(more, instead string) string {
	if Old(e.Cluster.Minor) {
		return instead
	}
	requires := ""
	if e.Cluster.Minor == 0 {
		requires = fmt.Sprintf(" (Kubernetes 1.%d or later)", since)
	}
	return fmt.Sprintf("commit the output of \"gitlatch render admission\"%s to a folder that your GitOps tool applies", requires) + more
}

// helpHelm is the remedy for a chart without admission policies.
const helpHelm = "follow the steps for earlier versions of Kubernetes in \"gitlatch help helm\""

// staleCounts is the text of a finding about an Application whose syncs write all its
// objects.
const staleCounts = "Each sync writes all workloads of the Application with replica counts that are a few seconds old. A sync can therefore undo the last change of an autoscaler."

// inert sets the rules that protect the live replicas of a workload, and adds the
// findings about missing rules.
func (e *examination) inert(s *subject) {
	keepers, wrong := e.judge(*s)
	s.Inert = keepers
	e.report.Findings = append(e.report.Findings, wrong...)
}

// judge returns the rules that protect a workload's live replicas, and the findings. It
// changes nothing.
func (e *examination) judge(s subject) (keepers Keepers, wrong []Finding) {
	owners, others := e.owners(s.ID)
	var dropped, unbound []Finding
	for _, owner := range owners {
		f := owner.keeps(s, owner.annotations)
		if f == nil {
			f = e.narrowed(s, owner)
		}
		dropped = append(dropped, e.dropped(s, owner.applier, f == nil)...)
		switch {
		case f != nil && owner.away:
			wrong = append(wrong, Finding{OtherDestination, s.ID.String(), owner.mayOwn(f.Text), f.Fix})
		case f != nil:
			wrong = append(wrong, *f)
		case owner.unbound != nil:
			unbound = append(unbound, owner.unbound.about(s))
		default:
			if owner.stale {
				dropped = append(dropped, Finding{StaleCounts, owner.name, staleCounts, "add " + outOfSync + " to spec.syncPolicy.syncOptions of " + owner.name})
			}
			keepers = append(keepers, Keeper{owner.tool, owner.name, "ignores " + s.pointer()})
		}
	}
	for _, other := range others {
		unbound = append(unbound, other.unbound.about(s))
	}
	if w, ok := e.admits(s); ok && len(e.including(s.ID.Namespace)) == 0 {
		return Keepers{{Admission, w.name(), "acts on creation alone"}}, dropped
	}
	_, live := e.changes(s, "replicas", false) // ways reports this policy
	switch {
	case len(wrong) > 0 || live:
		return nil, append(wrong, dropped...)
	case len(keepers) > 0:
		return keepers, dropped
	case len(unbound) > 0:
		return nil, append(unbound, dropped...)
	case s.sample == nil || len(e.Cluster.Unread) > 0 || slices.ContainsFunc(e.Overlays, func(o Overlay) bool { return o.Err != nil }):
		return nil, nil
	}
	text, fix := e.noApplier(s)
	return nil, []Finding{{NoApplier, s.ID.String(), text, fix}}
}

// about returns the finding for a workload.
func (f Finding) about(s subject) Finding {
	f.Subject = s.ID.String()
	return f
}

// applyByTool is the remedy for a workload without an applier and without admission
// policies.
const applyByTool = "let Flux or Argo CD apply the workload, with the rule of \"gitlatch render flux\" or \"gitlatch render argocd\" and the Component of the namespace"

// noApplier returns the text of a finding about a workload without a known applier: why
// no rule protects its replicas, and the fix.
func (e *examination) noApplier(s subject) (text, fix string) {
	if all := e.helm(s); len(all) > 0 {
		return fmt.Sprintf(unprotected+". %s applies the workload, and Helm has no rule that ignores %s.", strings.Join(lists.Map(all, func(a applier) string { return a.name }), ", "), s.pointer()),
			e.admission("", helpHelm)
	}
	none := "No Flux Kustomization and no Argo CD Application in this cluster applies the workload"
	hub := ". If Argo CD in another cluster, a hub, applies the workload, set gitops in the configuration to that cluster"
	if e.Here.Hub {
		none = "No Flux Kustomization in this cluster and no Argo CD Application in the hub applies the workload"
		hub = ""
	}
	return unprotected + ". " + none + ".",
		e.admission(", and include no Component", applyByTool) + hub
}

// fluxManager is the field manager of Flux.
const fluxManager = "kustomize-controller"

// dropped returns a finding if Flux still owns the replicas of a workload but the
// manifest no longer states them. The next apply then removes the field.
func (e *examination) dropped(s subject, by applier, kept bool) []Finding {
	if s.sample == nil || s.sample.Scale == nil || s.sample.Scale.Applied != fluxManager || by.tool != Flux {
		return nil
	}
	for _, o := range e.Overlays {
		if w, ok := o.rendered(s.ID); ok && o.By == by.by() && w.Replicas == nil {
			next := "The next apply sets the replicas to 1"
			if kept {
				next = "The next apply that changes another field fails with \"doc is missing key: " + s.pointer() + "\""
			}
			return []Finding{{CountDropped, s.ID.String(), fmt.Sprintf("Flux owns the field with the replica count %d, but the manifest in %s no longer contains this field. %s.",
				s.sample.Scale.Desired, o.Dir, next),
				fmt.Sprintf("set replicas: %d in the manifest in %s, or set another replica count with \"kubectl scale\" or an autoscaler", s.sample.Scale.Desired, o.Dir)}}
		}
	}
	return nil
}

// including returns the folders that include the Component of a namespace, each with its
// overlay.
func (e *examination) including(namespace string) []inclusion {
	component := path.Dir(checkpoint.RecordPath(e.Site, namespace))
	var found []inclusion
	for _, o := range e.Overlays {
		for _, f := range o.Folders {
			if slices.Contains(f.Components, component) {
				found = append(found, inclusion{o, f})
			}
		}
	}
	return found
}

type inclusion struct {
	overlay Overlay
	folder  gitops.Folder
}
