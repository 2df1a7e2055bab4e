package account

import (
	"context"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	quotatypes "github.com/aws/aws-sdk-go-v2/service/servicequotas/types"

	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/lists"
)

const (
	onDemand = "on-demand"
	spot     = "spot"
)

// codes are the vCPU quotas of EC2 by the families of instances. A family that is missing
// here has no quota: its instances need dedicated hosts.
var codes = []struct{ families, onDemand, spot string }{
	{"a c d h i im is m r t z", "L-1216C47A", "L-34B43A08"},
	{"g gr vt", "L-DB2E81BA", "L-3819A6DF"},
	{"dl", "L-6E869C2A", "L-85EED4F7"},
	{"f", "L-74FC7D96", "L-88CF9481"},
	{"hpc", "L-F7808C92", ""},
	{"inf", "L-1945791B", "L-B5D1601B"},
	{"p2 p3 p4", "L-417A185B", "L-7212CCBC"},
	{"p5", "L-417A185B", "L-C4BD4855"},
	{"p6", "L-417A185B", ""},
	{"trn", "L-2C3B7624", "L-6B0D517C"},
	{"u", "L-43DA4232", ""},
	{"x", "L-7295265B", "L-E3A00192"},
}

// family has the letters and the generation of an instance type: "p" and "4" of
// p4d.24xlarge, "u" and "1" of u-6tb1.metal.
var family = regexp.MustCompile(`^([a-z]+)(?:-[0-9]+tb)?([0-9]+)`)

// code returns the code of the quota that an instance counts toward, or "".
func code(instanceType ec2types.InstanceType, capacityType string) string {
	of := append(family.FindStringSubmatch(string(instanceType)), "", "", "")
	for _, q := range codes {
		families := " " + q.families + " "
		if of[1] != "" && (strings.Contains(families, " "+of[1]+" ") || strings.Contains(families, " "+of[1]+of[2]+" ")) {
			return map[string]string{onDemand: q.onDemand, spot: q.spot}[capacityType]
		}
	}
	return ""
}

// name returns the name of a quota.
func name(q quotatypes.ServiceQuota) string {
	return "vCPU quota " + aws.ToString(q.QuotaCode) + " " + aws.ToString(q.QuotaName)
}

// quotas returns the vCPU quotas of EC2.
func (r Reader) quotas(ctx context.Context) ([]quotatypes.ServiceQuota, error) {
	in := &servicequotas.ListServiceQuotasInput{ServiceCode: aws.String("ec2")}
	all, err := pages(ctx, r.Quotas, in, &in.NextToken, func(o *servicequotas.ListServiceQuotasOutput) ([]quotatypes.ServiceQuota, *string) {
		return o.Quotas, o.NextToken
	})
	wanted := map[string]bool{}
	for _, q := range codes {
		wanted[q.onDemand] = true
		wanted[q.spot] = true
	}
	all = lists.Filter(all, func(q quotatypes.ServiceQuota) bool { return wanted[aws.ToString(q.QuotaCode)] && q.Value != nil })
	if err == nil && len(all) == 0 {
		err = errors.New("the response has no vCPU quota")
	}
	return all, err
}

// free returns the CPU that each vCPU quota has for a rebuild. Instances that are not nodes
// of the cluster stay.
func (r Reader) free(quotas []quotatypes.ServiceQuota, running []ec2types.Instance, listed []ec2types.InstanceTypeInfo) []limits.Holder {
	each := map[ec2types.InstanceType]int64{}
	for _, t := range listed {
		each[t.InstanceType] = vcpus(t)
	}
	used := map[string]int64{}
	for _, i := range running {
		onHost := i.Placement != nil && i.Placement.Tenancy == ec2types.TenancyHost // a dedicated host has its own quota
		if onHost || r.replaced(i) {
			continue
		}
		capacityType := onDemand
		if i.InstanceLifecycle == ec2types.InstanceLifecycleTypeSpot {
			capacityType = spot
		}
		used[code(i.InstanceType, capacityType)] += each[i.InstanceType]
	}
	return lists.Map(quotas, func(q quotatypes.ServiceQuota) limits.Holder {
		return limits.Holder{Name: name(q), Has: limits.Amounts{limits.CPU: 1000 * max(0, int64(*q.Value)-used[*q.QuotaCode])}}
	})
}

// kinds returns the instance types that run Linux pods. The amounts are those that EC2
// states, which are more than a node has for pods.
func kinds(all []ec2types.InstanceTypeInfo, quotas []quotatypes.ServiceQuota) (found []limits.Shape) {
	names := map[string]string{}
	for _, q := range quotas {
		names[aws.ToString(q.QuotaCode)] = name(q)
	}
	for _, t := range all {
		arch := architecture(t)
		if arch == "" || t.NetworkInfo == nil || t.MemoryInfo == nil {
			continue
		}
		one := limits.Shape{Name: string(t.InstanceType), Labels: labels(t, arch), Capacity: capacity(t), Quotas: map[string]string{}}
		one.Allocatable = one.Capacity
		for _, usage := range t.SupportedUsageClasses {
			if quota, has := names[code(t.InstanceType, string(usage))]; has {
				one.Quotas[string(usage)] = quota
			}
		}
		found = append(found, one)
	}
	return found
}

func vcpus(t ec2types.InstanceTypeInfo) int64 {
	if t.VCpuInfo == nil {
		return 0
	}
	return int64(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
}

// architecture returns the architecture as Kubernetes names it; "" is not supported.
func architecture(t ec2types.InstanceTypeInfo) (arch string) {
	if t.ProcessorInfo != nil {
		for _, a := range t.ProcessorInfo.SupportedArchitectures {
			arch += map[ec2types.ArchitectureType]string{ec2types.ArchitectureTypeX8664: "amd64", ec2types.ArchitectureTypeArm64: "arm64"}[a]
		}
	}
	return arch
}

// capacity returns the amounts of an instance. The network interfaces limit the number of
// pods, with two pods on the network of the host.
func capacity(t ec2types.InstanceTypeInfo) limits.Amounts {
	addresses := int64(aws.ToInt32(t.NetworkInfo.Ipv4AddressesPerInterface)) - 1
	all := limits.Amounts{limits.CPU: 1000 * vcpus(t), limits.Memory: aws.ToInt64(t.MemoryInfo.SizeInMiB) << 20, "nvidia.com/gpu": 0, "amd.com/gpu": 0}
	all[limits.Count] = int64(aws.ToInt32(t.NetworkInfo.MaximumNetworkInterfaces))*addresses + 2
	if t.GpuInfo != nil {
		for _, g := range t.GpuInfo.Gpus {
			all[strings.ToLower(aws.ToString(g.Manufacturer))+".com/gpu"] += int64(aws.ToInt32(g.Count))
		}
	}
	return all
}

// labels returns the labels of an instance type that NodePools select most. Package limits
// takes other labels of Karpenter as unknown.
func labels(t ec2types.InstanceTypeInfo, arch string) map[string][]string {
	kind, size, _ := strings.Cut(string(t.InstanceType), ".")
	all := map[string][]string{
		"node.kubernetes.io/instance-type":  {string(t.InstanceType)},
		"kubernetes.io/arch":                {arch},
		"kubernetes.io/os":                  {"linux"},
		"karpenter.k8s.aws/instance-family": {kind},
		"karpenter.k8s.aws/instance-size":   {size},
		"karpenter.k8s.aws/instance-cpu":    {strconv.FormatInt(vcpus(t), 10)},
		"karpenter.k8s.aws/instance-memory": {strconv.FormatInt(aws.ToInt64(t.MemoryInfo.SizeInMiB), 10)},
	}
	if parts := family.FindStringSubmatch(string(t.InstanceType)); parts != nil {
		all["karpenter.k8s.aws/instance-category"] = []string{parts[1]}
		all["karpenter.k8s.aws/instance-generation"] = []string{parts[2]}
	}
	return all
}
