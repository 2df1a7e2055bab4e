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

// A workload that keeps its history has 11 templates, so that one list of all
// of them takes a page for some 22 workloads.
const workloadsPerPage = pageSize / 11

// fewWorkloads are asked for one by one in any case: their answers are small.
const fewWorkloads = 20

// A podTemplate is one template of a workload, and its pods: a ReplicaSet of a
// Deployment or an Argo Rollout, or a ControllerRevision of another kind.
type podTemplate struct {
	owner  types.UID // of the controller; "" without one
	name   string
	number int64 // the newest has the highest; going back gives a new one
	// hash is what its pods bear: of a StatefulSet's the name.
	hash    string
	spec    corev1.PodTemplateSpec
	known   bool // spec is
	desired int32
	pods    int32
	// available counts the pods that were ready for minReadySeconds.
	available int32
	since     time.Time
	// failure says why pods of it cannot be made or deleted; "" where they can.
	failure string
}

// template is what the pods are made of; nil where it is not known.
func (t *podTemplate) template() *corev1.PodTemplateSpec {
	if !t.known {
		return nil
	}
	return &t.spec
}

// tell returns the template beside the target's; nil is the target itself, or one that is
// not known.
func (t *podTemplate) tell(target *corev1.PodTemplateSpec) workload.Template {
	return workload.Template{Hash: t.hash, Images: images(t.template()), Desired: t.desired, Available: t.available, Since: t.since,
		ImagesOnly: differInImages(target, t.template())}
}

// newest orders templates from the newest.
func newest(a, b podTemplate) int {
	return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.hash, b.hash))
}

// A history is what was found of the templates of workloads in flight.
type history struct {
	of map[types.UID][]podTemplate // by the workload that controls them
	// lost are the workloads whose templates are unread, with the resource of these.
	lost map[types.UID]string
}

// templates lists the templates of the workloads in flight, and asks for
// nothing while none is.
func (l *look) templates(ctx context.Context, all []reading) (history, error) {
	h := history{of: map[types.UID][]podTemplate{}, lost: map[types.UID]string{}}
	err := l.add(ctx, h, replicaSets, all, workload.Deployment, workload.ArgoRollout)
	if err == nil {
		err = l.add(ctx, h, controllerRevisions, all, workload.StatefulSet, workload.DaemonSet)
	}
	return h, err
}

// add lists the templates of the workloads of some kinds that are in flight: each
// one's own, or all at once where that takes fewer requests.
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

// ownOf lists the templates of one workload. A selector may fit those of a
// neighbour too.
func (l *look) ownOf(ctx context.Context, kept row[podTemplate], r reading) ([]podTemplate, error) {
	selector, err := metav1.LabelSelectorAsSelector(r.flight.selector)
	if err != nil {
		return nil, err
	}
	of := Selection{Namespace: r.sample.ID.Namespace, Labels: selector.String()}
	return list(ctx, l.client, kept, of, controlledBy(func(uid types.UID) bool { return uid == r.flight.uid }))
}

// controlledBy wants what something controls, entire.
func controlledBy(by func(types.UID) bool) func(*podTemplate) portion {
	return func(t *podTemplate) portion {
		if by(t.owner) {
			return entire
		}
		return nothing
	}
}
