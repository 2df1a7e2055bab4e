package account

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// A use is the present use of the account.
type use struct {
	instances []instance       // that a rebuild does not replace, and unused capacity reservations
	freed     map[string]int64 // addresses of the Karpenter nodes of the cluster, by subnet
}

// An instance is a number of instances of one type.
type instance struct {
	kind, capacityType string
	number             int64
	vcpus              int64 // of each, if the instance type is not listed
}

// running returns the instances that count toward the quotas. A rebuild replaces the
// Karpenter nodes of the cluster, so they do not count, and it can use their addresses.
func (r Reader) running(ctx context.Context) (u use, failed []fit.Reading) {
	u.freed = map[string]int64{}
	pages := ec2.NewDescribeInstancesPaginator(r.EC2, &ec2.DescribeInstancesInput{MaxResults: aws.Int32(1000),
		Filters: []types.Filter{{Name: aws.String("instance-state-name"), Values: []string{"pending", "running"}}}})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			const action = "ec2:DescribeInstances"
			return use{}, []fit.Reading{unread("vCPUs in use in "+r.Region, action, err), adding(unread("addresses of Karpenter nodes in "+r.Region, action, err))}
		}
		for _, of := range page.Reservations {
			for _, i := range of.Instances {
				u.add(i, r.Cluster)
			}
		}
	}
	reserved := ec2.NewDescribeCapacityReservationsPaginator(r.EC2, &ec2.DescribeCapacityReservationsInput{
		Filters: []types.Filter{{Name: aws.String("state"), Values: []string{"active"}}}})
	for reserved.HasMorePages() {
		page, err := reserved.NextPage(ctx)
		if err != nil {
			return u, []fit.Reading{unread("capacity reservations in "+r.Region, "ec2:DescribeCapacityReservations", err)}
		}
		for _, c := range page.CapacityReservations {
			free := int64(aws.ToInt32(c.AvailableInstanceCount))
			u.instances = append(u.instances, instance{kind: aws.ToString(c.InstanceType), capacityType: onDemand, number: free})
		}
	}
	return u, nil
}

func (u *use) add(i types.Instance, cluster string) {
	switch {
	case i.Placement != nil && i.Placement.Tenancy == types.TenancyHost: // a dedicated host has its own quota
	case replaced(i.Tags, cluster):
		for _, n := range i.NetworkInterfaces {
			u.freed[aws.ToString(n.SubnetId)] += int64(len(n.PrivateIpAddresses)) + addressesPerPrefix*int64(len(n.Ipv4Prefixes))
		}
	default:
		one := instance{kind: string(i.InstanceType), capacityType: onDemand, number: 1}
		if i.InstanceLifecycle == types.InstanceLifecycleTypeSpot {
			one.capacityType = spot
		}
		if c := i.CpuOptions; c != nil {
			one.vcpus = int64(aws.ToInt32(c.CoreCount)) * int64(aws.ToInt32(c.ThreadsPerCore))
		}
		u.instances = append(u.instances, one)
	}
}

// addressesPerPrefix is the number of addresses in an IPv4 prefix of the VPC CNI.
const addressesPerPrefix = 16

// replaced reports whether Karpenter started an instance for the cluster.
func replaced(tags []types.Tag, cluster string) bool {
	has := map[string]string{}
	for _, t := range tags {
		has[aws.ToString(t.Key)] = aws.ToString(t.Value)
	}
	_, pool := has["karpenter.sh/nodepool"]
	_, auto := has["eks:kubernetes-node-pool-name"] // of EKS Auto Mode
	_, owned := has["kubernetes.io/cluster/"+cluster]
	return (pool || auto) && (owned || has["eks:eks-cluster-name"] == cluster)
}

// occupy subtracts the present use from the quotas, and adds the freed addresses to the
// subnets. For instance types without a number of vCPUs, it adds a reading.
func (a *account) occupy(u use) {
	vcpus := map[string]int64{}
	for _, t := range a.types {
		vcpus[string(t.InstanceType)] = int64(aws.ToInt32(t.VCpuInfo.DefaultVCpus))
	}
	used, unknown := map[string]int64{}, map[string]bool{}
	for _, i := range u.instances {
		each := max(vcpus[i.kind], i.vcpus)
		used[code(i.kind, i.capacityType)] += each * i.number
		if each == 0 && i.number > 0 {
			unknown[i.kind] = true
		}
	}
	for i, q := range a.quotas {
		a.quotas[i].Used = used[q.code]
	}
	for i, s := range a.subnets {
		a.subnets[i].Free += u.freed[s.ID]
	}
	if len(unknown) > 0 {
		a.unknown = append(a.unknown, fit.Reading{Name: "vCPUs in use in " + a.region,
			Why: "the number of vCPUs of these instance types is unknown: " + strings.Join(slices.Sorted(maps.Keys(unknown)), ", ")})
	}
}
