package kube

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A workload that keeps its history has 11 templates, so that one list of all
// of them takes a page for some 22 workloads.
const workloadsPerPage = pageSize / 11

// fewWorkloads are asked for one by one in any case: their answers are small.
const fewWorkloads = 20

// A controlled template knows the workload that controls it.
type controlled interface{ controller() types.UID }

// A history is what was found of the templates of workloads in flight.
type history[T any] struct {
	of map[types.UID][]T // by the workload that controls them
	// lost are the workloads whose templates are unread.
	lost map[types.UID]bool
}

// templates lists the templates of the workloads in flight, and asks for
// nothing while none is.
func (l *look) templates(ctx context.Context, h *haul) (err error) {
	if h.sets, err = historyOf(ctx, l, replicaSets, h.workloads, workload.Deployment, workload.ArgoRollout); err != nil {
		return err
	}
	h.revisions, err = historyOf(ctx, l, controllerRevisions, h.workloads, workload.StatefulSet, workload.DaemonSet)
	return err
}

// historyOf lists the templates of the workloads of some kinds that are in
// flight: each one's own, or all at once where that takes fewer requests.
func historyOf[T controlled](ctx context.Context, l *look, kept row[T], all []reading, kinds ...workload.Kind) (history[T], error) {
	h := history[T]{of: map[types.UID][]T{}, lost: map[types.UID]bool{}}
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
		found, err := list(ctx, l.client, kept, Selection{}, controlledBy[T](func(uid types.UID) bool { return wanted[uid] }))
		if err != nil {
			h.lost = wanted
			return h, l.unread(ctx, kept.resource, err)
		}
		for _, t := range found {
			h.of[t.controller()] = append(h.of[t.controller()], t)
		}
		return h, nil
	}

	var failure error
	var of workload.ID // the workload whose templates failed first
	for _, r := range flying {
		own, err := ownOf(ctx, l, kept, r)
		if err != nil {
			h.lost[r.flight.uid] = true
			if failure == nil {
				failure, of = err, r.sample.ID
			}
			continue
		}
		h.of[r.flight.uid] = own
	}
	if failure == nil {
		return h, nil
	}
	what := kept.resource + " of " + of.Short()
	if more := len(h.lost) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more", what, more)
	}
	return h, l.unread(ctx, what, failure)
}

// ownOf lists the templates of one workload. A selector may fit those of a
// neighbour too.
func ownOf[T controlled](ctx context.Context, l *look, kept row[T], r reading) ([]T, error) {
	selector, err := metav1.LabelSelectorAsSelector(r.flight.selector)
	if err != nil {
		return nil, err
	}
	of := Selection{Namespace: r.sample.ID.Namespace, Labels: selector.String()}
	return list(ctx, l.client, kept, of, controlledBy[T](func(uid types.UID) bool { return uid == r.flight.uid }))
}

// controlledBy wants what something controls, entire.
func controlledBy[T controlled](by func(types.UID) bool) func(*T) portion {
	return func(t *T) portion {
		if by((*t).controller()) {
			return entire
		}
		return nothing
	}
}
