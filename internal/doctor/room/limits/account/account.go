// Package account reads the limits that an AWS account has for the nodes of an EKS cluster,
// in one Region. All calls only read. A call that fails becomes a missing value with the
// name of its IAM action, and never a value of zero.
package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// within is the time limit of Read. Without a route to a service, a call never ends.
const within = 2 * time.Minute

// A Call is an operation of an AWS service.
type Call[In, Out, Options any] func(context.Context, *In, ...func(*Options)) (*Out, error)

// A Reader reads the account of an EKS cluster in the Region of its clients. It has functions
// instead of clients, because an interface makes the linker keep all 700 methods of EC2.
type Reader struct {
	Cluster    string // name of the EKS cluster
	Region     string // used in the names of missing values
	Instances  Call[ec2.DescribeInstancesInput, ec2.DescribeInstancesOutput, ec2.Options]
	Subnets    Call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput, ec2.Options]
	Nodegroups Call[eks.ListNodegroupsInput, eks.ListNodegroupsOutput, eks.Options]
	Nodegroup  Call[eks.DescribeNodegroupInput, eks.DescribeNodegroupOutput, eks.Options]
	Quotas     Call[servicequotas.ListServiceQuotasInput, servicequotas.ListServiceQuotasOutput, servicequotas.Options]
}

// New returns a reader with the SDK's clients. It sends no request.
func New(config aws.Config, cluster string) Reader {
	machines := ec2.NewFromConfig(config)
	clusters := eks.NewFromConfig(config)
	return Reader{cluster, config.Region, machines.DescribeInstances, machines.DescribeSubnets,
		clusters.ListNodegroups, clusters.DescribeNodegroup, servicequotas.NewFromConfig(config).ListServiceQuotas}
}

// pages returns the items of all pages of a call. token is the token of in.
func pages[In, Out, Options, Item any](
	ctx context.Context, call Call[In, Out, Options], in *In, token **string, page func(*Out) ([]Item, *string),
) (all []Item, err error) {
	for {
		out, err := call(ctx, in)
		if err != nil {
			return nil, err
		}
		some, next := page(out)
		all = append(all, some...)
		if aws.ToString(next) == "" {
			return all, nil
		}
		*token = next
	}
}

// Read reads the account. subnets are the IDs of the subnets of NodePools.
func (r Reader) Read(ctx context.Context, subnets []string) (a limits.Account) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	missing := func(value, action string, err error) {
		if err != nil {
			a.Missing = append(a.Missing, limits.Unknown(value+" in "+r.Region, why(action, err)))
		}
	}
	groups, err := r.groups(ctx)
	a = limits.Account{Read: true, Groups: groups}
	missing("node groups of "+r.Cluster, "eks:ListNodegroups and eks:DescribeNodegroup", err)
	own := lists.Map(groups, func(g limits.Source) []string { return g.Subnets })
	quotas, err := r.quotas(ctx)
	missing("vCPU quotas", "servicequotas:ListServiceQuotas", err)
	found, err := r.subnets(ctx, slices.Concat(append(own, subnets)...))
	missing("free addresses of subnets", "ec2:DescribeSubnets", err)
	running, err := r.instances(ctx)
	missing("vCPUs and addresses in use", "ec2:DescribeInstances", err)
	if err == nil {
		a.VCPUs, a.Subnets = r.free(quotas, found, running)
	}
	return a
}

// quotas returns the quotas of EC2.
func (r Reader) quotas(ctx context.Context) ([]quotatypes.ServiceQuota, error) {
	in := &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2")}
	return pages(ctx, r.Quotas, in, &in.NextToken, func(o *servicequotas.ListServiceQuotasOutput) ([]quotatypes.ServiceQuota, *string) {
		return o.Quotas, o.NextToken
	})
}

// subnets returns subnets. A subnet that does not exist is an error.
func (r Reader) subnets(ctx context.Context, ids []string) ([]ec2types.Subnet, error) {
	if len(ids) == 0 {
		return nil, nil // without IDs, EC2 returns all subnets
	}
	in := &ec2.DescribeSubnetsInput{SubnetIds: slices.Compact(slices.Sorted(slices.Values(ids)))}
	page := func(o *ec2.DescribeSubnetsOutput) ([]ec2types.Subnet, *string) { return o.Subnets, o.NextToken }
	return pages(ctx, r.Subnets, in, &in.NextToken, page)
}

// instances returns the pending and running instances.
func (r Reader) instances(ctx context.Context) ([]ec2types.Instance, error) {
	in := &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000), Filters: []ec2types.Filter{{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}}}
	return pages(ctx, r.Instances, in, &in.NextToken, func(o *ec2.DescribeInstancesOutput) (all []ec2types.Instance, next *string) {
		for _, of := range o.Reservations {
			all = append(all, of.Instances...)
		}
		return all, o.NextToken
	})
}

// replaced reports whether an instance is a node of the cluster. A rebuild replaces it.
func (r Reader) replaced(i ec2types.Instance) bool {
	return slices.ContainsFunc(i.Tags, func(t ec2types.Tag) bool {
		key, value := aws.ToString(t.Key), aws.ToString(t.Value)
		return key == "kubernetes.io/cluster/"+r.Cluster || value == r.Cluster && slices.Contains([]string{"eks:eks-cluster-name", "eks:cluster-name", "aws:eks:cluster-name"}, key)
	})
}

// addressesPerPrefix is the number of addresses in an IPv4 prefix of the VPC CNI.
const addressesPerPrefix = 16

// free returns the CPU that each vCPU quota has for a rebuild, and the addresses that each
// subnet has. A rebuild replaces the nodes of the cluster, so it has their addresses and CPU.
// Other instances stay, and those on a dedicated host do not count toward a vCPU quota.
func (r Reader) free(quotas []quotatypes.ServiceQuota, nets []ec2types.Subnet, running []ec2types.Instance) (vcpus, free []limits.Holder) {
	vcpus = []limits.Holder{}
	used := map[string]int64{}
	unknown := map[string]bool{}
	freed := map[string]int64{}
	for _, i := range running {
		name := limits.Quota(string(i.InstanceType), cmp.Or(string(i.InstanceLifecycle), limits.OnDemand))
		switch {
		case r.replaced(i):
			for _, n := range i.NetworkInterfaces {
				freed[aws.ToString(n.SubnetId)] += int64(len(n.PrivateIpAddresses)) + addressesPerPrefix*int64(len(n.Ipv4Prefixes))
			}
		case i.Placement != nil && i.Placement.Tenancy == ec2types.TenancyHost:
		case i.CpuOptions == nil:
			unknown[name] = true
		default:
			used[name] += int64(aws.ToInt32(i.CpuOptions.CoreCount) * aws.ToInt32(i.CpuOptions.ThreadsPerCore))
		}
	}
	for _, q := range quotas {
		name := "vCPU quota " + aws.ToString(q.QuotaCode)
		if q.Value != nil && !unknown[name] {
			vcpus = append(vcpus, limits.Holder{Name: name, Has: limits.Amounts{limits.CPU: 1000 * max(0, int64(*q.Value)-used[name])}})
		}
	}
	free = lists.Map(nets, func(s ec2types.Subnet) limits.Holder {
		id := aws.ToString(s.SubnetId)
		return limits.Holder{Name: id, Has: limits.Amounts{limits.Addresses: freed[id] + int64(aws.ToInt32(s.AvailableIpAddressCount))}}
	})
	return vcpus, free
}

// groups returns the managed node groups of the cluster.
func (r Reader) groups(ctx context.Context) (all []limits.Source, err error) {
	in := &eks.ListNodegroupsInput{ClusterName: aws.String(r.Cluster)}
	page := func(o *eks.ListNodegroupsOutput) ([]string, *string) { return o.Nodegroups, o.NextToken }
	names, err := pages(ctx, r.Nodegroups, in, &in.NextToken, page)
	for _, name := range names {
		answer, err := r.Nodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: in.ClusterName, NodegroupName: aws.String(name)})
		if err != nil {
			return nil, err
		}
		if answer.Nodegroup.Status != ekstypes.NodegroupStatusDeleting {
			all = append(all, group(*answer.Nodegroup))
		}
	}
	return all, err
}

// effects are the taint effects of EKS as Kubernetes names them.
var effects = map[ekstypes.TaintEffect]corev1.TaintEffect{
	ekstypes.TaintEffectNoSchedule:       corev1.TaintEffectNoSchedule,
	ekstypes.TaintEffectNoExecute:        corev1.TaintEffectNoExecute,
	ekstypes.TaintEffectPreferNoSchedule: corev1.TaintEffectPreferNoSchedule,
}

// group returns a node group.
func group(n ekstypes.Nodegroup) limits.Source {
	name := aws.ToString(n.NodegroupName)
	s := limits.Source{Holder: limits.Holder{Name: "node group " + name}, Own: limits.GroupLabel, Subnets: n.Subnets}
	capacity := strings.ToLower(strings.ReplaceAll(string(n.CapacityType), "_", "-")) // "ON_DEMAND" is "on-demand"
	s.Labels = map[string][]string{limits.GroupLabel: {name}, limits.CapacityType: {capacity}, corev1.LabelInstanceTypeStable: n.InstanceTypes}
	for key, value := range n.Labels {
		s.Labels[key] = []string{value}
	}
	if n.ScalingConfig != nil {
		s.Desired = int64(aws.ToInt32(n.ScalingConfig.DesiredSize))
		s.Has = limits.Amounts{limits.Nodes: int64(aws.ToInt32(n.ScalingConfig.MaxSize))}
	}
	for _, t := range n.Taints {
		s.Taints = append(s.Taints, corev1.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: effects[t.Effect]})
	}
	return s
}

// why returns the reason why a call failed. action is the IAM action of the call. The message
// of EC2 is a long encoded text, so the reason has the code.
func why(action string, err error) string {
	api, answered := errors.AsType[smithy.APIError](err)
	if !answered {
		return fmt.Sprintf("%s: %s", action, err)
	}
	return fmt.Sprintf("%s: %s. Allow %s, or try again", action, api.ErrorCode(), action)
}
