package account

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// A group is a managed node group, without its Shapes.
type group struct {
	fit.Group

	class         class
	capacityType  string
	instanceTypes []string // in the order of preference
}

// without returns the reason why a node group has no instance types.
func (g group) without() string {
	switch {
	case g.class.family == windows:
		return g.class.without()
	case len(g.instanceTypes) == 0:
		return "its launch template sets them, and gitlatch does not read launch templates"
	}
	return "EC2 does not list " + strings.Join(g.instanceTypes, ", ") + " in the zones of its subnets"
}

// groups returns the managed node groups of the cluster.
func (r Reader) groups(ctx context.Context) (all []group, failed []fit.Reading) {
	var names []string
	pages := eks.NewListNodegroupsPaginator(r.EKS, &eks.ListNodegroupsInput{ClusterName: aws.String(r.Cluster)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, []fit.Reading{adding(unread("managed node groups of "+r.Cluster+" in "+r.Region, "eks:ListNodegroups", err))}
		}
		names = append(names, page.Nodegroups...)
	}
	for _, name := range names {
		in := &eks.DescribeNodegroupInput{ClusterName: aws.String(r.Cluster), NodegroupName: aws.String(name)}
		answer, err := r.EKS.DescribeNodegroup(ctx, in)
		var gone *types.ResourceNotFoundException
		switch {
		case errors.As(err, &gone): // deleted since it was listed
		case err != nil:
			failed = append(failed, adding(unread("managed node group "+name, "eks:DescribeNodegroup", err)))
		case answer.Nodegroup.Status == types.NodegroupStatusDeleting: // its nodes go
		default:
			all = append(all, groupOf(*answer.Nodegroup))
		}
	}
	return all, failed
}

// effects are the taint effects of EKS as Kubernetes names them.
var effects = map[types.TaintEffect]string{
	types.TaintEffectNoSchedule: "NoSchedule", types.TaintEffectNoExecute: "NoExecute", types.TaintEffectPreferNoSchedule: "PreferNoSchedule",
}

func groupOf(n types.Nodegroup) group {
	name := aws.ToString(n.NodegroupName)
	family, _, _ := strings.Cut(string(n.AmiType), "_") // "AL2023_x86_64_STANDARD"
	g := group{
		Group: fit.Group{Name: name, Subnets: n.Subnets, Labels: map[string]string{}},
		class: class{
			name:    name,
			subnets: n.Subnets,
			storage: int64(aws.ToInt32(n.DiskSize)) * gib,
			family:  strings.ToLower(family),
			managed: true,
		},
		capacityType:  onDemand,
		instanceTypes: n.InstanceTypes,
	}
	if n.ScalingConfig != nil {
		g.Size, g.Max = int64(aws.ToInt32(n.ScalingConfig.DesiredSize)), int64(aws.ToInt32(n.ScalingConfig.MaxSize))
	}
	if n.CapacityType == types.CapacityTypesSpot {
		g.capacityType = spot
	}
	maps.Copy(g.Labels, n.Labels)
	g.Labels[fit.GroupLabel] = name
	g.Labels["eks.amazonaws.com/capacityType"] = string(n.CapacityType)
	for _, t := range n.Taints {
		g.Taints = append(g.Taints, fit.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: effects[t.Effect]})
	}
	return g
}

// shapes returns the instance types of the group, in its order of preference.
func (g group) shapes(a account) (all []fit.Shape) {
	of := lists.Index(a.shapes(g.class, []string{g.capacityType}), func(s fit.Shape) string { return s.Name })
	for _, name := range g.instanceTypes {
		if s, has := of[name]; has {
			for i := range s.Offers {
				s.Offers[i].CapacityType = "" // Karpenter's label, which these nodes do not have
			}
			all = append(all, s)
		}
	}
	return all
}
