// Package account reads the limits that an AWS account has for the nodes of an EKS cluster,
// in one Region. All calls only read. A call that fails becomes a missing value with the
// name of its IAM action, and never a value of zero.
package account

import (
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
	"github.com/aws/smithy-go"
	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
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
	Types      Call[ec2.DescribeInstanceTypesInput, ec2.DescribeInstanceTypesOutput, ec2.Options]
	Subnets    Call[ec2.DescribeSubnetsInput, ec2.DescribeSubnetsOutput, ec2.Options]
	Nodegroups Call[eks.ListNodegroupsInput, eks.ListNodegroupsOutput, eks.Options]
	Nodegroup  Call[eks.DescribeNodegroupInput, eks.DescribeNodegroupOutput, eks.Options]
	Quotas     Call[servicequotas.ListServiceQuotasInput, servicequotas.ListServiceQuotasOutput, servicequotas.Options]
}

// New returns a reader with the SDK's clients. It sends no request.
func New(config aws.Config, cluster string) Reader {
	machines := ec2.NewFromConfig(config)
	clusters := eks.NewFromConfig(config)
	return Reader{cluster, config.Region, machines.DescribeInstances, machines.DescribeInstanceTypes, machines.DescribeSubnets,
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
	missing := func(value, action string, err error) bool {
		if err != nil {
			a.Missing = append(a.Missing, limits.Missing{Value: value + " in " + r.Region, Why: why(action, err)})
		}
		return err != nil
	}
	groups, err := r.groups(ctx)
	missing("managed node groups of "+r.Cluster, "eks:ListNodegroups and eks:DescribeNodegroup", err)
	for _, g := range groups {
		subnets = append(subnets[:len(subnets):len(subnets)], g.Subnets...)
	}
	a.Groups = groups
	types := &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100)}
	typesOf := func(o *ec2.DescribeInstanceTypesOutput) ([]ec2types.InstanceTypeInfo, *string) {
		return o.InstanceTypes, o.NextToken
	}
	listed, err := pages(ctx, r.Types, types, &types.NextToken, typesOf)
	unlisted := missing("instance types", "ec2:DescribeInstanceTypes", err)
	limits, err := r.quotas(ctx)
	missing("vCPU quotas", "servicequotas:ListServiceQuotas", err)
	found, err := r.subnets(ctx, subnets)
	missing("free addresses of subnets", "ec2:DescribeSubnets", err)
	running, err := r.instances(ctx)
	if missing("vCPUs and addresses in use", "ec2:DescribeInstances", err) {
		limits = nil
		found = nil
	}
	a.Types = kinds(listed, limits)
	if !unlisted { // without the instance types, the vCPUs in use are unknown
		a.VCPUs = r.free(limits, running, listed)
	}
	a.Subnets = r.addresses(found, running)
	return a
}

// subnets returns subnets. A subnet that EC2 does not return is an error.
func (r Reader) subnets(ctx context.Context, ids []string) ([]ec2types.Subnet, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) == 0 {
		return nil, nil
	}
	in := &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("subnet-id"), Values: ids}}}
	page := func(o *ec2.DescribeSubnetsOutput) ([]ec2types.Subnet, *string) { return o.Subnets, o.NextToken }
	all, err := pages(ctx, r.Subnets, in, &in.NextToken, page)
	if err == nil && len(all) < len(ids) {
		err = fmt.Errorf("the response has %d of %d subnets", len(all), len(ids))
	}
	return all, err
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

// addresses returns the free addresses of subnets, with the addresses of the nodes that a
// rebuild replaces.
func (r Reader) addresses(subnets []ec2types.Subnet, running []ec2types.Instance) (all []limits.Holder) {
	freed := map[string]int64{}
	for _, i := range running {
		for _, n := range i.NetworkInterfaces {
			if r.replaced(i) {
				freed[aws.ToString(n.SubnetId)] += int64(len(n.PrivateIpAddresses)) + addressesPerPrefix*int64(len(n.Ipv4Prefixes))
			}
		}
	}
	for _, s := range subnets {
		id := aws.ToString(s.SubnetId)
		free := int64(aws.ToInt32(s.AvailableIpAddressCount)) + freed[id]
		all = append(all, limits.Holder{Name: id, Has: limits.Amounts{limits.Addresses: free}})
	}
	return all
}

// groups returns the managed node groups of the cluster.
func (r Reader) groups(ctx context.Context) (all []limits.Group, err error) {
	in := &eks.ListNodegroupsInput{ClusterName: aws.String(r.Cluster)}
	page := func(o *eks.ListNodegroupsOutput) ([]string, *string) { return o.Nodegroups, o.NextToken }
	names, err := pages(ctx, r.Nodegroups, in, &in.NextToken, page)
	for _, name := range names {
		answer, err := r.Nodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: in.ClusterName, NodegroupName: aws.String(name)})
		var gone *ekstypes.ResourceNotFoundException
		switch {
		case errors.As(err, &gone): // deleted since it was listed
		case err != nil:
			return nil, err
		case answer.Nodegroup.Status == ekstypes.NodegroupStatusDeleting: // its nodes go
		default:
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

func group(n ekstypes.Nodegroup) limits.Group {
	g := limits.Group{Name: aws.ToString(n.NodegroupName), Subnets: n.Subnets, Labels: n.Labels, Types: n.InstanceTypes}
	g.CapacityType = onDemand
	if n.ScalingConfig != nil {
		g.Desired = int64(aws.ToInt32(n.ScalingConfig.DesiredSize))
		g.Max = int64(aws.ToInt32(n.ScalingConfig.MaxSize))
	}
	if n.CapacityType == ekstypes.CapacityTypesSpot {
		g.CapacityType = spot
	}
	for _, t := range n.Taints {
		g.Taints = append(g.Taints, corev1.Taint{Key: aws.ToString(t.Key), Value: aws.ToString(t.Value), Effect: effects[t.Effect]})
	}
	return g
}

// why returns the reason why a call failed. action is the IAM action of the call.
func why(action string, err error) string {
	api, answered := errors.AsType[smithy.APIError](err)
	switch {
	case !answered:
		return fmt.Sprintf("%s: %s", action, err)
	case strings.HasPrefix(api.ErrorCode(), "AccessDenied") || api.ErrorCode() == "UnauthorizedOperation":
		// The message of EC2 is a long encoded text.
		return fmt.Sprintf("%s: %s. Allow %s", action, api.ErrorCode(), action)
	}
	return fmt.Sprintf("%s: %s: %s", action, api.ErrorCode(), api.ErrorMessage())
}
