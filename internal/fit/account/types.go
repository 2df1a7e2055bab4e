package account

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// types returns the instance types of the Region, and the zones that offer each.
func (r Reader) types(ctx context.Context) (all []types.InstanceTypeInfo, zones map[string][]string, failed []fit.Reading) {
	name := "instance types in " + r.Region
	pages := ec2.NewDescribeInstanceTypesPaginator(r.EC2, &ec2.DescribeInstanceTypesInput{MaxResults: aws.Int32(100)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, nil, []fit.Reading{adding(unread(name, "ec2:DescribeInstanceTypes", err))}
		}
		all = append(all, page.InstanceTypes...)
	}
	zones = map[string][]string{}
	in := &ec2.DescribeInstanceTypeOfferingsInput{LocationType: types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(1000)}
	offered := ec2.NewDescribeInstanceTypeOfferingsPaginator(r.EC2, in)
	for offered.HasMorePages() {
		page, err := offered.NextPage(ctx)
		if err != nil {
			return nil, nil, []fit.Reading{adding(unread(name, "ec2:DescribeInstanceTypeOfferings", err))}
		}
		for _, o := range page.InstanceTypeOfferings {
			zones[string(o.InstanceType)] = append(zones[string(o.InstanceType)], aws.ToString(o.Location))
		}
	}
	// Prices are out of scope, so the smallest is first.
	slices.SortFunc(all, func(x, y types.InstanceTypeInfo) int {
		return cmp.Or(cmp.Compare(vcpus(x), vcpus(y)), cmp.Compare(memory(x), memory(y)), cmp.Compare(x.InstanceType, y.InstanceType))
	})
	return all, zones, nil
}

// shapes returns the instance types that can start in the subnets of a class. It leaves
// out capacity types without a quota, unless no quota could be read.
func (a account) shapes(c class, capacityTypes []string) (all []fit.Shape) {
	if strings.HasPrefix(c.family, windows) {
		return nil
	}
	zones := a.zonesOf(c.subnets)
	quotas := a.names()
	for _, t := range a.types {
		s := fit.Shape{Name: string(t.InstanceType), VCPUs: vcpus(t)}
		for _, capacityType := range capacityTypes {
			quota, has := quotas[code(s.Name, capacityType)]
			if !slices.Contains(t.SupportedUsageClasses, types.UsageClassType(capacityType)) || !has && len(quotas) > 0 {
				continue
			}
			for _, zone := range zones {
				if slices.Contains(a.zones[s.Name], zone) {
					s.Offers = append(s.Offers, fit.Offer{Zone: zone, CapacityType: capacityType, Quota: quota})
				}
			}
		}
		if len(s.Offers) == 0 || architecture(t) == "" {
			continue
		}
		s.Interfaces, s.PerInterface = interfaces(t.NetworkInfo), int64(aws.ToInt32(t.NetworkInfo.Ipv4AddressesPerInterface))
		limit := s.Interfaces*(s.PerInterface-1) + 2
		s.Capacity = c.capacity(t, limit)
		s.Allocatable = maps.Clone(s.Capacity)
		for name, n := range c.reserved(s.Capacity, limit) {
			s.Allocatable[name] = max(s.Allocatable[name]-n, 0)
		}
		s.Labels = labels(t, a.region)
		if !c.managed {
			maps.Copy(s.Labels, karpenters(t))
		}
		all = append(all, s)
	}
	return all
}

// limited returns the instance types of present nodes with their quotas.
func (a account) limited(all []fit.Shape) []fit.Shape {
	quotas := a.names()
	return lists.Map(all, func(s fit.Shape) fit.Shape {
		s.VCPUs = s.Capacity[fit.CPU] / 1000
		var counted []fit.Offer
		for _, o := range s.Offers {
			o.Quota = quotas[code(s.Name, o.CapacityType)]
			if o.Quota != "" || len(quotas) == 0 {
				counted = append(counted, o)
			}
		}
		s.Offers = counted
		return s
	})
}

// names returns the names of the quotas by their codes.
func (a account) names() map[string]string {
	all := map[string]string{}
	for _, q := range a.quotas {
		all[q.code] = q.Name
	}
	return all
}

func vcpus(t types.InstanceTypeInfo) int64 { return int64(aws.ToInt32(t.VCpuInfo.DefaultVCpus)) }

// overhead is the share of the memory that the hypervisor uses, as Karpenter assumes.
const overhead = 0.075

// memory returns the memory of a node in bytes. The kernel of arm64 reserves 64 MiB.
func memory(t types.InstanceTypeInfo) int64 {
	size := aws.ToInt64(t.MemoryInfo.SizeInMiB)
	if architecture(t) == "arm64" {
		size -= 64
	}
	return (size - int64(math.Ceil(float64(size)*overhead))) * mib
}

// architecture returns the architecture as Kubernetes names it; "" is not supported.
func architecture(t types.InstanceTypeInfo) string {
	for _, a := range t.ProcessorInfo.SupportedArchitectures {
		switch a {
		case types.ArchitectureTypeX8664:
			return "amd64"
		case types.ArchitectureTypeArm64:
			return "arm64"
		}
	}
	return ""
}

// interfaces returns the number of network interfaces on the card that the VPC CNI uses.
func interfaces(n *types.NetworkInfo) int64 {
	if card := int(aws.ToInt32(n.DefaultNetworkCardIndex)); card < len(n.NetworkCards) {
		return int64(aws.ToInt32(n.NetworkCards[card].MaximumNetworkInterfaces))
	}
	return int64(aws.ToInt32(n.MaximumNetworkInterfaces))
}

// capacity returns the capacity of a node. interfaces is the number of pods that the
// network interfaces allow.
func (c class) capacity(t types.InstanceTypeInfo, interfaces int64) fit.Resources {
	pods := cmp.Or(c.maxPods, interfaces)
	switch {
	case c.managed && vcpus(t) < 30: // EKS limits the nodes of its groups
		pods = min(pods, 110)
	case c.managed:
		pods = min(pods, 250)
	}
	if c.perCPU > 0 {
		pods = min(pods, c.perCPU*vcpus(t))
	}
	all := fit.Resources{fit.CPU: 1000 * vcpus(t), fit.Memory: memory(t), fit.Storage: cmp.Or(c.storage, 20*gib), fit.Pods: pods}
	if disks := t.InstanceStorageInfo; c.local && disks != nil {
		all[fit.Storage] = aws.ToInt64(disks.TotalSizeInGB) * 1e9
	}
	if t.GpuInfo != nil {
		for _, g := range t.GpuInfo.Gpus {
			all[devices[aws.ToString(g.Manufacturer)]] += int64(aws.ToInt32(g.Count))
		}
	}
	if t.NeuronInfo != nil {
		for _, n := range t.NeuronInfo.NeuronDevices {
			all["aws.amazon.com/neuron"] += int64(aws.ToInt32(n.Count))
		}
	}
	delete(all, "") // a device without a name in Kubernetes
	return all
}

// devices are the extended resources of the manufacturers of GPUs.
var devices = map[string]string{"NVIDIA": "nvidia.com/gpu", "AMD": "amd.com/gpu", "Habana": "habana.ai/gaudi"}

// labels returns the labels that every node of the instance type has, except its zone.
func labels(t types.InstanceTypeInfo, region string) map[string]string {
	return map[string]string{
		fit.InstanceType:                string(t.InstanceType),
		fit.Arch:                        architecture(t),
		"kubernetes.io/os":              "linux",
		"topology.kubernetes.io/region": region,
	}
}

// karpenters returns the labels that only Karpenter sets.
func karpenters(t types.InstanceTypeInfo) map[string]string {
	all := map[string]string{}
	set := func(label, value string) {
		if value != "" {
			all["karpenter.k8s.aws/instance-"+label] = strings.ToLower(strings.ReplaceAll(value, " ", "-"))
		}
	}
	number := func(label string, n int64) { set(label, strconv.FormatInt(n, 10)) }
	name := string(t.InstanceType)
	of, size, _ := strings.Cut(name, ".")
	set("family", of)
	set("size", size)
	if parts := family.FindStringSubmatch(name); parts != nil {
		set("category", parts[1])
		set("generation", parts[2])
	}
	number("cpu", vcpus(t))
	number("memory", aws.ToInt64(t.MemoryInfo.SizeInMiB))
	set("cpu-manufacturer", aws.ToString(t.ProcessorInfo.Manufacturer))
	set("hypervisor", string(t.Hypervisor))
	set("encryption-in-transit-supported", strconv.FormatBool(aws.ToBool(t.NetworkInfo.EncryptionInTransitSupported)))
	bandwidth := 0.0
	for _, card := range t.NetworkInfo.NetworkCards {
		bandwidth += aws.ToFloat64(card.BaselineBandwidthInGbps)
	}
	if bandwidth > 0 {
		number("network-bandwidth", int64(1000*bandwidth))
	}
	if e := t.EbsInfo; e != nil && e.EbsOptimizedInfo != nil && e.EbsOptimizedSupport == types.EbsOptimizedSupportDefault {
		number("ebs-bandwidth", int64(aws.ToInt32(e.EbsOptimizedInfo.MaximumBandwidthInMbps)))
	}
	if d := t.InstanceStorageInfo; d != nil && d.NvmeSupport != types.EphemeralNvmeSupportUnsupported {
		number("local-nvme", aws.ToInt64(d.TotalSizeInGB))
	}
	if t.GpuInfo != nil && len(t.GpuInfo.Gpus) == 1 {
		g := t.GpuInfo.Gpus[0]
		set("gpu-name", aws.ToString(g.Name))
		set("gpu-manufacturer", aws.ToString(g.Manufacturer))
		number("gpu-count", int64(aws.ToInt32(g.Count)))
		if g.MemoryInfo != nil {
			number("gpu-memory", int64(aws.ToInt32(g.MemoryInfo.SizeInMiB)))
		}
	}
	return all
}
