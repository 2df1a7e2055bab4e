package account_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits/account"
)

// fake is an account with a node group, a subnet, a node of the cluster and another
// instance. The quotas are on two pages. The operation with the name in
// denied fails.
func fake(denied string) account.Reader {
	return account.Reader{
		Cluster: "prod", Region: "eu-west-1",
		Instances: call[ec2.DescribeInstancesInput, ec2.Options]("DescribeInstances", denied, func(*ec2.DescribeInstancesInput) *ec2.DescribeInstancesOutput {
			cpus := &ec2types.CpuOptions{CoreCount: aws.Int32(1), ThreadsPerCore: aws.Int32(2)}
			node := ec2types.Instance{InstanceType: "m6i.large", CpuOptions: cpus, Tags: []ec2types.Tag{{Key: aws.String("kubernetes.io/cluster/prod"), Value: aws.String("owned")}}}
			node.NetworkInterfaces = []ec2types.InstanceNetworkInterface{{SubnetId: aws.String("subnet-1"), PrivateIpAddresses: make([]ec2types.InstancePrivateIpAddress, 3)}}
			other := ec2types.Instance{InstanceType: "m6i.large", CpuOptions: cpus}
			return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: []ec2types.Instance{node, other}}}}
		}),
		Subnets: call[ec2.DescribeSubnetsInput, ec2.Options]("DescribeSubnets", denied, func(*ec2.DescribeSubnetsInput) *ec2.DescribeSubnetsOutput {
			return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{{SubnetId: aws.String("subnet-1"), AvailableIpAddressCount: aws.Int32(11)}}}
		}),
		Nodegroups: call[eks.ListNodegroupsInput, eks.Options]("ListNodegroups", denied, func(*eks.ListNodegroupsInput) *eks.ListNodegroupsOutput {
			return &eks.ListNodegroupsOutput{Nodegroups: []string{"base"}}
		}),
		Nodegroup: call[eks.DescribeNodegroupInput, eks.Options]("DescribeNodegroup", denied, func(*eks.DescribeNodegroupInput) *eks.DescribeNodegroupOutput {
			g := &ekstypes.Nodegroup{NodegroupName: aws.String("base"), Subnets: []string{"subnet-1"}, InstanceTypes: []string{"m6i.large"}, CapacityType: ekstypes.CapacityTypesOnDemand}
			g.Labels = map[string]string{"team": "red"}
			g.ScalingConfig = &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(2), MaxSize: aws.Int32(5)}
			g.Taints = []ekstypes.Taint{{Key: aws.String("team"), Value: aws.String("red"), Effect: ekstypes.TaintEffectNoSchedule}}
			return &eks.DescribeNodegroupOutput{Nodegroup: g}
		}),
		Quotas: call[servicequotas.ListServiceQuotasInput, servicequotas.Options]("ListServiceQuotas", denied, func(in *servicequotas.ListServiceQuotasInput) *servicequotas.ListServiceQuotasOutput {
			if in.NextToken == nil {
				one := quotatypes.ServiceQuota{QuotaCode: aws.String("L-1216C47A"), QuotaName: aws.String("Standard"), Value: aws.Float64(32)}
				return &servicequotas.ListServiceQuotasOutput{Quotas: []quotatypes.ServiceQuota{one}, NextToken: aws.String("more")}
			}
			other := quotatypes.ServiceQuota{QuotaCode: aws.String("L-0263D0A3"), QuotaName: aws.String("Elastic IPs"), Value: aws.Float64(5)}
			return &servicequotas.ListServiceQuotasOutput{Quotas: []quotatypes.ServiceQuota{other}}
		}),
	}
}

// call returns an operation that answers or, if its name is denied, fails.
func call[In, Options, Out any](operation, denied string, answer func(*In) *Out) account.Call[In, Out, Options] {
	return func(ctx context.Context, in *In, _ ...func(*Options)) (*Out, error) {
		if operation == denied {
			return nil, &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "a long encoded text"}
		}
		return answer(in), nil
	}
}

// A rebuild replaces the node of the cluster: its vCPUs do not count, and its addresses are
// free.
func TestTheLimitsOfAnAccount(t *testing.T) {
	t.Parallel()
	a := fake("").Read(t.Context(), nil)
	if !a.Read || len(a.Missing) > 0 || len(a.VCPUs) != 2 || a.VCPUs[0].Name != limits.Quota("m6i.large", limits.OnDemand) || a.VCPUs[0].Has[limits.CPU] != 30000 || len(a.Subnets) != 1 || a.Subnets[0].Has[limits.Addresses] != 14 {
		t.Errorf("missing %v, vCPUs %v, want 30 of 32, subnets %v, want 11 + 3 addresses", a.Missing, a.VCPUs, a.Subnets)
	}
	if len(a.Groups) != 1 {
		t.Fatalf("node groups %+v", a.Groups)
	}
	g := a.Groups[0]
	if g.Desired != 2 || g.Has[limits.Nodes] != 5 || len(g.Taints) != 1 || g.Taints[0].Effect != "NoSchedule" || !slices.Equal(g.Subnets, []string{"subnet-1"}) {
		t.Errorf("node group %+v", g)
	}
	if g.Labels[limits.CapacityType][0] != limits.OnDemand || g.Labels["node.kubernetes.io/instance-type"][0] != "m6i.large" || g.Labels["team"][0] != "red" {
		t.Errorf("labels %v", g.Labels)
	}
}

// A call that is denied is a missing value with the name of the action, and never a value.
func TestADeniedCallIsMissing(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"ec2:DescribeInstances", "ec2:DescribeSubnets",
		"eks:ListNodegroups", "eks:DescribeNodegroup", "servicequotas:ListServiceQuotas"} {
		_, operation, _ := strings.Cut(action, ":")
		a := fake(operation).Read(t.Context(), []string{"subnet-1"})
		if len(a.Missing) != 1 || !strings.Contains(a.Missing[0].Why, "Allow ") || !strings.Contains(a.Missing[0].Why, action) {
			t.Errorf("%s: missing %+v", action, a.Missing)
		}
		if operation == "DescribeInstances" && len(a.VCPUs)+len(a.Subnets) > 0 {
			t.Errorf("without the use, %v and %v are known", a.VCPUs, a.Subnets)
		}
	}
}

// A call without an answer keeps its error.
func TestACallWithoutAnAnswerIsMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no route"))
	r := account.New(aws.Config{Region: "eu-west-1"}, "prod")
	if a := r.Read(ctx, []string{"subnet-1"}); len(a.Missing) != 4 {
		t.Errorf("missing %+v", a.Missing)
	}
}
