package doctor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A brakeField is the field of an autoscaler that the brake of a restore sets.
type brakeField struct {
	text string // as findings show it
	of   string // the kind of autoscaler
	path []string
	// lets are the values that allow the autoscaler to scale down. A tool that applies
	// another value stops the autoscaler as a brake does.
	lets []string
}

var brakeFields = map[workload.Kind]brakeField{
	gitops.HPA: {"spec.behavior.scaleDown.selectPolicy", "HPA", []string{"spec", "behavior", "scaleDown", "selectPolicy"}, []string{"Max", "Min"}},
	gitops.ScaledObject: {"the annotation autoscaling.keda.sh/paused-scale-in", "ScaledObject",
		[]string{"metadata", "annotations", "autoscaling.keda.sh/paused-scale-in"}, []string{"false", "False", "FALSE", "f", "F", "0"}},
}

// restoreManager is the field manager of a brake.
const restoreManager = "gitlatch-restore"

// A scaler is an autoscaler in a build, or a live autoscaler.
type scaler struct {
	gitops.Autoscaler
	in *Overlay // nil for a live autoscaler
}

// autoscalers returns the autoscalers of each workload.
func (e *examination) autoscalers() map[workload.ID][]scaler {
	all := map[workload.ID][]scaler{}
	for i, o := range e.Overlays {
		for _, a := range o.Autoscalers {
			a.ID = o.placed(a.Object)
			a.Target.Namespace = a.ID.Namespace
			all[a.Target] = append(all[a.Target], scaler{a, &e.Overlays[i]})
		}
	}
	for _, a := range e.Cluster.autoscalers {
		all[a.Target] = append(all[a.Target], scaler{a, nil})
	}
	return all
}

// setBy returns the appliers that set the field of a brake on an autoscaler. A build of an
// applier shows the field. Without a build, a live autoscaler shows which manager set it.
func (e *examination) setBy(a scaler) (all []applier) {
	owners, _ := e.owners(a.ID)
	for _, by := range owners {
		_, built := by.built(a.ID, e.Overlays)
		manager := map[Tool]string{Flux: fluxManager, ArgoCD: argoManager}[by.tool]
		if a.in != nil && a.in.By == by.by() || a.in == nil && !built && a.setThrough(manager) {
			all = append(all, by.applier)
		}
	}
	for i, r := range e.Cluster.releases {
		by := e.installs[i]
		_, built := by.built(a.ID, e.Overlays)
		if a.in != nil && a.in.By == by.by() || a.in == nil && !built && r.applies(a.Meta.Labels) && a.setThrough(helmManager) {
			all = append(all, by)
		}
	}
	return all
}

// The field managers of Argo CD and of HelmReleases. The first is the start of the name,
// which differs between versions.
const (
	argoManager = "argocd-"
	helmManager = "helm-controller"
)

// setThrough reports whether a manager whose name starts with a prefix owns the field of
// a brake.
func (a scaler) setThrough(prefix string) bool {
	path := lists.Map(brakeFields[a.ID.Kind].path, func(name string) string { return "f:" + name })
	return slices.ContainsFunc(a.Meta.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(m.Manager, prefix) && m.FieldsV1 != nil && workload.At(m.FieldsV1.GetRawBytes(), path...) != nil
	})
}

// overwritten reports the appliers that reset the brake of a restore on an autoscaler of
// a workload.
func (e *examination) overwritten(s subject) {
	if s.Level == 0 || s.sample != nil && s.sample.OptOut {
		return // a restore does not brake it
	}
	for _, a := range e.scalers[s.ID] {
		field := brakeFields[a.ID.Kind]
		var value string
		if json.Unmarshal(workload.At(a.Data, field.path...), &value) != nil || !slices.Contains(field.lets, value) {
			continue
		}
		for _, by := range e.setBy(a) {
			e.resets(s, a, owner{by, a.Annotations})
		}
	}
}

// resets adds a finding if no rule protects the brake from an applier.
func (e *examination) resets(s subject, a scaler, by owner) {
	field := brakeFields[a.ID.Kind]
	object, _ := gitops.Autoscalers.Object(a.ID.Kind)
	braked := subject{
		Workload: Workload{ID: a.ID}, object: object, labels: a.Meta.Labels, field: pointer(field.path...),
		sample: &workload.Sample{Scale: &workload.Scale{Writer: restoreManager}},
	}
	f := by.keeps(braked, by.annotations)
	if f == nil {
		f = e.narrowed(braked, by)
	}
	if f == nil || f.Trap == SSA { // with its annotation, Flux does not update the autoscaler
		return
	}
	text := fmt.Sprintf("%s applies %s of %s %s, and so removes the brake that a restore sets. Without traffic, the %[3]s then scales down the workload.", by.name, field.text, field.of, a.ID.Name)
	if by.away {
		text = by.mayOwn(text)
	}
	e.find(BrakeOverwritten, s.ID.String(), text, fmt.Sprintf("%s. Alternatively, remove %s from the manifest of %s %s", f.Fix, field.text, field.of, a.ID.Name))
}
