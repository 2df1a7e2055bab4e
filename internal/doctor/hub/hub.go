// Package hub opens what doctor reads of a cluster, and of the hub that its Argo CD
// runs in where the configuration names one.
package hub

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/site"
)

// Open returns what reads the objects of a cluster, and what evidence has to be of.
// Both are as given where the configuration names no hub.
func Open(ctx context.Context, o *site.Opener, own doctor.Lister, here doctor.Here) (doctor.Lister, doctor.Here, error) {
	g := o.Config.GitOps
	if g.Context == "" && g.EKS == (config.EKS{}) {
		return own, here.Called(g.Destination), nil
	}
	found, _, err := o.At(config.Cluster{Kubeconfig: o.Config.Cluster.Kubeconfig, Context: g.Context, EKS: g.EKS}).Client(ctx)
	if err != nil {
		return nil, here, fmt.Errorf("gitops: %w", err)
	}
	objects, err := kube.NewObjects(found)
	if err != nil {
		return nil, here, fmt.Errorf("gitops: %w", err)
	}
	return doctor.Hub{Lister: own, Hub: objects}, here.ByHub(g.Destination), nil
}
