package account_test

import (
	"context"
	"errors"
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

// fake is an account with a node group, a subnet, two instance types, a node of the cluster
// and another instance. The instance types are on two pages. The operation with the name in
// denied fails.
func fake(denied string) account.Reader {
	return account.Reader{
		Cluster: "prod", Region: "eu-west-1",
		Instances: call[ec2.DescribeInstancesInput, ec2.Options]("DescribeInstances", denied, func(*ec2.DescribeInstancesInput) *ec2.DescribeInstancesOutput {
			node := ec2types.Instance{InstanceType: "m6i.large", Tags: []ec2types.Tag{{Key: aws.String("kubernetes.io/cluster/prod"), Value: aws.String("owned")}}}
			node.NetworkInterfaces = []ec2types.InstanceNetworkInterface{{SubnetId: aws.String("subnet-1"), PrivateIpAddresses: make([]ec2types.InstancePrivateIpAddress, 3)}}
			other := ec2types.Instance{InstanceType: "m6i.large"}
			return &ec2.DescribeInstancesOutput{Reservations: []ec2types.Reservation{{Instances: []ec2types.Instance{node, other}}}}
		}),
		Types: call[ec2.DescribeInstanceTypesInput, ec2.Options]("DescribeInstanceTypes", denied, func(in *ec2.DescribeInstanceTypesInput) *ec2.DescribeInstanceTypesOutput {
			one := ec2types.InstanceTypeInfo{
				InstanceType:          "m6i.large",
				VCpuInfo:              &ec2types.VCpuInfo{DefaultVCpus: aws.Int32(2)},
				MemoryInfo:            &ec2types.MemoryInfo{SizeInMiB: aws.Int64(8192)},
				NetworkInfo:           &ec2types.NetworkInfo{MaximumNetworkInterfaces: aws.Int32(3), Ipv4AddressesPerInterface: aws.Int32(10)},
				ProcessorInfo:         &ec2types.ProcessorInfo{SupportedArchitectures: []ec2types.ArchitectureType{"x86_64"}},
				SupportedUsageClasses: []ec2types.UsageClassType{"on-demand", "spot"},
			}
			if in.NextToken == nil {
				return &ec2.DescribeInstanceTypesOutput{InstanceTypes: []ec2types.InstanceTypeInfo{one}, NextToken: aws.String("more")}
			}
			one.InstanceType = "g6.large"
			one.GpuInfo = &ec2types.GpuInfo{Gpus: []ec2types.GpuDeviceInfo{{Manufacturer: aws.String("NVIDIA"), Count: aws.Int32(4)}}}
			return &ec2.DescribeInstanceTypesOutput{InstanceTypes: []ec2types.InstanceTypeInfo{one}}
		}),
		Subnets: call[ec2.DescribeSubnetsInput, ec2.Options]("DescribeSubnets", denied, func(*ec2.DescribeSubnetsInput) *ec2.DescribeSubnetsOutput {
			return &ec2.DescribeSubnetsOutput{Subnets: []ec2types.Subnet{{SubnetId: aws.String("subnet-1"), AvailableIpAddressCount: aws.Int32(11)}}}
		}),
		Nodegroups: call[eks.ListNodegroupsInput, eks.Options]("ListNodegroups", denied, func(*eks.ListNodegroupsInput) *eks.ListNodegroupsOutput {
			return &eks.ListNodegroupsOutput{Nodegroups: []string{"base"}}
		}),
		Nodegroup: call[eks.DescribeNodegroupInput, eks.Options]("DescribeNodegroup", denied, func(*eks.DescribeNodegroupInput) *eks.DescribeNodegroupOutput {
			g := &ekstypes.Nodegroup{NodegroupName: aws.String("base"), Subnets: []string{"subnet-1"}, InstanceTypes: []string{"m6i.large"}}
			g.ScalingConfig = &ekstypes.NodegroupScalingConfig{DesiredSize: aws.Int32(2), MaxSize: aws.Int32(5)}
			g.Taints = []ekstypes.Taint{{Key: aws.String("team"), Value: aws.String("red"), Effect: ekstypes.TaintEffectNoSchedule}}
			return &eks.DescribeNodegroupOutput{Nodegroup: g}
		}),
		Quotas: call[servicequotas.ListServiceQuotasInput, servicequotas.Options]("ListServiceQuotas", denied, func(*servicequotas.ListServiceQuotasInput) *servicequotas.ListServiceQuotasOutput {
			return &servicequotas.ListServiceQuotasOutput{Quotas: []quotatypes.ServiceQuota{
				{QuotaCode: aws.String("L-1216C47A"), QuotaName: aws.String("Standard"), Value: aws.Float64(32)},
				{QuotaCode: aws.String("L-0263D0A3"), QuotaName: aws.String("Elastic IPs"), Value: aws.Float64(5)},
			}}
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
	if len(a.Missing) > 0 || len(a.VCPUs) != 1 || a.VCPUs[0].Has[limits.CPU] != 30000 || len(a.Subnets) != 1 || a.Subnets[0].Has[limits.Addresses] != 14 {
		t.Errorf("missing %v, vCPUs %v, want 30 of 32, subnets %v, want 11 + 3 addresses", a.Missing, a.VCPUs, a.Subnets)
	}
	if len(a.Groups) != 1 || a.Groups[0].Desired != 2 || a.Groups[0].Max != 5 || len(a.Groups[0].Taints) != 1 || a.Groups[0].Taints[0].Effect != "NoSchedule" {
		t.Errorf("node groups %+v", a.Groups)
	}
	if len(a.Types) != 2 || a.Types[0].Capacity[limits.CPU] != 2000 || a.Types[0].Quotas["on-demand"] != a.VCPUs[0].Name || a.Types[0].Quotas["spot"] != "" {
		t.Fatalf("instance types %+v", a.Types)
	}
	if m, g := a.Types[0], a.Types[1]; g.Capacity["nvidia.com/gpu"] != 4 || m.Capacity["nvidia.com/gpu"] != 0 || len(g.Quotas) > 0 || m.Capacity[limits.Count] != 29 {
		t.Errorf("instance types %+v", a.Types)
	}
}

// A call that is denied is a missing value with the name of the action, and never a value.
func TestADeniedCallIsMissing(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"ec2:DescribeInstances", "ec2:DescribeInstanceTypes", "ec2:DescribeSubnets",
		"eks:ListNodegroups", "eks:DescribeNodegroup", "servicequotas:ListServiceQuotas"} {
		_, operation, _ := strings.Cut(action, ":")
		a := fake(operation).Read(t.Context(), []string{"subnet-1"})
		if len(a.Missing) != 1 || !strings.Contains(a.Missing[0].Why, "Allow ") || !strings.Contains(a.Missing[0].Why, action) {
			t.Errorf("%s: missing %+v", action, a.Missing)
		}
		if operation == "DescribeInstances" && len(a.VCPUs)+len(a.Subnets) > 0 {
			t.Errorf("without the use, %v and %v are known", a.VCPUs, a.Subnets)
		}
		if operation == "DescribeInstanceTypes" && len(a.VCPUs) > 0 {
			t.Errorf("without the instance types, %v are known", a.VCPUs)
		}
	}
}

// A call without an answer keeps its error.
func TestACallWithoutAnAnswerIsMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("no route"))
	r := account.New(aws.Config{Region: "eu-west-1"}, "prod")
	if a := r.Read(ctx, []string{"subnet-1"}); len(a.Missing) != 5 {
		t.Errorf("missing %+v", a.Missing)
	}
}
