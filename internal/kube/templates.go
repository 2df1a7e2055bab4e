package kube

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Deployment that keeps its history has 11 ReplicaSets, so that one list of
// all of them takes a page for some 45 Deployments.
const deploymentsPerPage = pageSize / 11

// fewDeployments are asked for one by one in any case: their answers are small.
const fewDeployments = 20

// templates lists the ReplicaSets of the Deployments in flight: each one's own,
// or all at once where that takes fewer requests.
func (l *look) templates(ctx context.Context, h *haul) error {
	h.sets, h.lost = map[types.UID][]replicaSet{}, map[types.UID]bool{}
	wanted := map[types.UID]bool{}
	var flying []reading
	deployments := 0
	for _, r := range h.workloads {
		if r.sample.ID.Kind == workload.Deployment {
			deployments++
		}
		if r.rolling != nil {
			flying, wanted[r.rolling.uid] = append(flying, r), true
		}
	}
	if len(flying) > max(fewDeployments, deployments/deploymentsPerPage) {
		all, err := list(ctx, l.client, replicaSets, selection{}, func(s replicaSet) bool { return wanted[s.owner] })
		if err != nil {
			h.lost = wanted
			return l.unread(ctx, replicaSets.resource, err)
		}
		for _, s := range all {
			h.sets[s.owner] = append(h.sets[s.owner], s)
		}
		return nil
	}

	var failure error
	var of workload.ID // the Deployment whose ReplicaSets failed first
	for _, r := range flying {
		own, err := l.templatesOf(ctx, r)
		if err != nil {
			h.lost[r.rolling.uid] = true
			if failure == nil {
				failure, of = err, r.sample.ID
			}
			continue
		}
		h.sets[r.rolling.uid] = own
	}
	if failure == nil {
		return nil
	}
	what := replicaSets.resource + " of " + of.Short()
	if more := len(h.lost) - 1; more > 0 {
		what = fmt.Sprintf("%s and %d more", what, more)
	}
	return l.unread(ctx, what, failure)
}

func (l *look) templatesOf(ctx context.Context, r reading) ([]replicaSet, error) {
	selector, err := metav1.LabelSelectorAsSelector(r.rolling.selector)
	if err != nil {
		return nil, err
	}
	of := selection{namespace: r.sample.ID.Namespace, labels: selector.String()}
	return list(ctx, l.client, replicaSets, of, func(s replicaSet) bool { return s.owner == r.rolling.uid })
}
