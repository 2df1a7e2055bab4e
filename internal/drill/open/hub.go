package open

import (
	"context"
	"fmt"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// Hub returns a lister of the objects of a cluster and of the hub that its Argo CD runs
// in, and the address of the cluster for rules. It returns both as given if the
// configuration names no hub.
func Hub(ctx context.Context, o *wiring.Opener, own doctor.Lister, here doctor.Here) (doctor.Lister, doctor.Here, error) {
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
	here.Hub = true
	return doctor.Hub{Lister: own, Hub: objects}, here.Called(g.Destination), nil
}
