// Package open opens a drill of a configured site, from the parts of a tick and the parts
// that only a drill has.
package open

import (
	"cmp"
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits/account"
	"github.com/gitlatch/gitlatch/internal/drill/archive"
	"github.com/gitlatch/gitlatch/internal/drill/page"
	"github.com/gitlatch/gitlatch/internal/drill/run"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// The Kubernetes group whose members may run a drill, and the folder with its rights.
const (
	Group  = "gitlatch:drillers"
	Rights = "infra/rbac/doctor"
)

// MinCoverage is the coverage that a drill requires by default.
const MinCoverage = 0.95

// Open returns a drill of the site that uses the parts of a tick.
func Open(ctx context.Context, o *wiring.Opener, parts local.Parts) (*run.Run, error) {
	from, err := Objects(ctx, o)
	if err != nil {
		return nil, err
	}
	standby, err := Standby(ctx, o)
	if err != nil {
		return nil, err
	}
	reports, err := saved(ctx, o)
	if err != nil {
		return nil, err
	}
	return &run.Run{
		Tick: local.Tick(o.Config, parts), Objects: from, Standby: standby,
		Branch: o.Config.Repository.Branch, Policy: o.Config.Repository.PolicyFile,
		MinCoverage: MinCoverage, Archive: reports, Alerts: parts.Alerts, Page: page.Drill,
	}, nil
}

// Objects returns a lister of the objects of the site's cluster. If the configuration names a
// hub, it lists the Applications of the hub.
func Objects(ctx context.Context, o *wiring.Opener) (doctor.Lister, error) {
	found, _, err := o.Client(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	own, err := kube.NewObjects(found)
	if err != nil {
		return nil, err
	}
	g := o.Config.GitOps
	if g == (config.Cluster{}) {
		return own, nil
	}
	found, _, err = o.At(beside(o, g)).Client(ctx)
	if err != nil {
		return nil, fmt.Errorf("gitops: %w", err)
	}
	hub, err := kube.NewObjects(found)
	if err != nil {
		return nil, fmt.Errorf("gitops: %w", err)
	}
	return doctor.Hub{Lister: own, Hub: hub}, nil
}

// Creator returns a sender of dry runs to the site's cluster.
func Creator(ctx context.Context, o *wiring.Opener) (doctor.Creator, error) {
	found, _, err := o.Client(ctx)
	if err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	return kube.NewDryRun(found)
}

// Account returns a function that reads the limits in the AWS account of a cluster: of the
// standby cluster, or else of the site's cluster. The function is nil if the configuration
// names no EKS cluster.
func Account(ctx context.Context, o *wiring.Opener) (doctor.Account, error) {
	named := o.Config.Standby.EKS
	if o.Config.Standby == (config.Cluster{}) {
		named = o.Config.Cluster.EKS
	}
	if named == (config.EKS{}) {
		return nil, nil
	}
	cluster, err := o.At(config.Cluster{EKS: named}).EKS(ctx)
	if err != nil {
		return nil, fmt.Errorf("standby: %w", err)
	}
	return account.New(cluster.Config(), named.Name).Read, nil
}

// Standby returns a lister of the objects of the standby cluster; nil if a rebuild runs in
// the site's cluster.
func Standby(ctx context.Context, o *wiring.Opener) (doctor.Lister, error) {
	s := o.Config.Standby
	if s == (config.Cluster{}) {
		return nil, nil
	}
	found, _, err := o.At(beside(o, s)).Client(ctx)
	if err != nil {
		return nil, fmt.Errorf("standby: %w", err)
	}
	return kube.NewObjects(found)
}

// beside returns a cluster beside the site's. A context without a kubeconfig is in the
// kubeconfig of the site's cluster.
func beside(o *wiring.Opener, c config.Cluster) config.Cluster {
	if c.EKS == (config.EKS{}) {
		c.Kubeconfig = cmp.Or(c.Kubeconfig, o.Config.Cluster.Kubeconfig)
	}
	return c
}

// saved opens the archive of reports. It returns nil if the configuration names no place
// for them.
func saved(ctx context.Context, o *wiring.Opener) (archive.Archive, error) {
	switch d := o.Config.Drills; {
	case d.Bucket != "":
		own, err := o.In(ctx, "drills", "")
		if err != nil {
			return nil, err
		}
		return archive.Bucket{Name: d.Bucket, Prefix: d.Prefix, Clock: o.Clock, Client: s3.NewFromConfig(own)}, nil
	case d.Dir != "":
		return archive.Folder(d.Dir), nil
	}
	return nil, nil
}
