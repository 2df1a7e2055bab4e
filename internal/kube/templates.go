package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// workloadsPerPage is the number of workloads whose templates fit a page. A workload with
// its full history has 11 templates.
const workloadsPerPage = pageSize / 11

// fewWorkloads is the number of workloads in flight up to which the sampler always lists
// the templates of each separately. These answers are small.
const fewWorkloads = 20

// A podTemplate is one template of a workload with its pods: a ReplicaSet of a Deployment
// or an Argo Rollout, or a ControllerRevision of another kind.
type podTemplate struct {
	owner  types.UID // the UID of the controller; "" if there is not one
	name   string
	number int64 // the highest is the newest; a rollback gets a new number
	// hash is the label value of its pods. For a StatefulSet it is the name.
	hash    string
	spec    corev1.PodTemplateSpec
	known   bool // true if spec is set
	desired int32
	pods    int32
	// available is the number of pods that were ready for minReadySeconds.
	available int32
	since     time.Time
	// failure is the reason why its pods cannot be created or deleted; "" if they can.
	failure string
}

// template returns the pod template, or nil if it is unknown.
func (t *podTemplate) template() *corev1.PodTemplateSpec {
	if !t.known {
		return nil
	}
	return &t.spec
}

// tell returns the template as part of a rollout. target is the target's template. It is
// nil if it is unknown, or if t is the target.
func (t *podTemplate) tell(target *corev1.PodTemplateSpec) workload.Template {
	return workload.Template{Hash: t.hash, Images: images(t.template()), Desired: t.desired, Available: t.available, Since: t.since,
		ImagesOnly: differInImages(target, t.template())}
}

// newest sorts templates, the newest first.
func newest(a, b podTemplate) int {
	return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.hash, b.hash))
}

// A history has the templates of the workloads in flight.
type history struct {
	of map[types.UID][]podTemplate // by the UID of the workload
	// lost has the workloads whose templates could not be listed, and their resource.
	lost map[types.UID]string
}

// templates lists the templates of the workloads in flight. If no rollout is in flight,
// it sends no request.
func (l *look) templates(ctx context.Context, all []reading) (history, error) {
	h := history{of: map[types.UID][]podTemplate{}, lost: map[types.UID]string{}}
	err := l.add(ctx, h, replicaSets, all, workload.Deployment, workload.ArgoRollout)
	if err == nil {
		err = l.add(ctx, h, controllerRevisions, all, workload.StatefulSet, workload.DaemonSet)
	}
	return h, err
}

// add lists the templates of the workloads in flight of some kinds. It lists them for
// each workload, or in one list if that takes fewer requests.
func (l *look) add(ctx context.Context, h history, kept row[podTemplate], all []reading, kinds ...workload.Kind) error {
	wanted := map[types.UID]bool{}
	var flying []reading
	workloads := 0
	for _, r := range all {
		if !slices.Contains(kinds, r.sample.ID.Kind) {
			continue
		}
		workloads++
		if r.flight != nil {
			flying, wanted[r.flight.uid] = append(flying, r), true
		}
	}
	if len(flying) > max(fewWorkloads, workloads/workloadsPerPage) {
		found, err := list(ctx, l.client, kept, Selection{}, controlledBy(func(uid types.UID) bool { return wanted[uid] }))
		if err != nil {
			for uid := range wanted {
				h.lost[uid] = kept.resource
			}
			return l.unread(ctx, kept.resource, err)
		}
		for _, t := range found {
			h.of[t.owner] = append(h.of[t.owner], t)
		}
		return nil
	}

	var failures []error
	var failed []workload.ID
	for _, r := range flying {
		own, err := l.ownOf(ctx, kept, r)
		h.of[r.flight.uid] = own
		if err != nil {
			h.lost[r.flight.uid] = kept.resource
			failures, failed = append(failures, err), append(failed, r.sample.ID)
		}
	}
	if len(failures) == 0 {
		return nil
	}
	what := kept.resource + " of " + failed[0].Short()
	if more := len(failed) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more", what, more)
	}
	return l.unread(ctx, what, failures[0])
}

// ownOf lists the templates of one workload. The selector may also match templates of
// another workload, which ownOf drops.
func (l *look) ownOf(ctx context.Context, kept row[podTemplate], r reading) ([]podTemplate, error) {
	selector, err := metav1.LabelSelectorAsSelector(r.flight.selector)
	if err != nil {
		return nil, err
	}
	of := Selection{Namespace: r.sample.ID.Namespace, Labels: selector.String()}
	return list(ctx, l.client, kept, of, controlledBy(func(uid types.UID) bool { return uid == r.flight.uid }))
}

// controlledBy requests the objects of some controllers entirely, and drops all others.
func controlledBy(by func(types.UID) bool) func(*podTemplate) portion {
	return func(t *podTemplate) portion {
		if by(t.owner) {
			return entire
		}
		return nothing
	}
}
