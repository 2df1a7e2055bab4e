// Package account reads the room that an AWS account has for the nodes of an EKS cluster:
// vCPU quotas, subnets, managed node groups and instance types, in one Region. All calls
// only read. A call that fails becomes a fit.Reading with the name of the call, and never
// a value of zero.
package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"github.com/gitlatch/gitlatch/internal/fit"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// within is the time limit of Read. Without a route to a service, a call never ends.
const within = 2 * time.Minute

// An EC2 is the part of the SDK's client of EC2 that this package uses.
type EC2 interface {
	ec2.DescribeCapacityReservationsAPIClient
	ec2.DescribeInstancesAPIClient
	ec2.DescribeInstanceTypeOfferingsAPIClient
	ec2.DescribeInstanceTypesAPIClient
	ec2.DescribeSubnetsAPIClient
}

// An EKS is the part of the SDK's client of EKS that this package uses.
type EKS interface {
	eks.DescribeNodegroupAPIClient
	eks.ListNodegroupsAPIClient
}

// A Quotas is the part of the SDK's client of Service Quotas that this package uses.
type Quotas interface {
	servicequotas.ListServiceQuotasAPIClient
}

// A Reader reads the account of an EKS cluster in the Region of its clients.
type Reader struct {
	Cluster string // name of the EKS cluster
	Region  string // used in the names of readings
	EC2     EC2
	EKS     EKS
	Quotas  Quotas
}

// New returns a reader with the SDK's clients. It sends no request.
func New(config aws.Config, cluster string) Reader {
	return Reader{
		Cluster: cluster,
		Region:  config.Region,
		EC2:     newEC2(config),
		EKS:     eks.NewFromConfig(config),
		Quotas:  servicequotas.NewFromConfig(config),
	}
}

// A Cluster has the objects of the cluster that the room in its account depends on.
// objects.Set implements it.
type Cluster interface {
	Classes() map[string]json.RawMessage // EC2NodeClasses, by the names of their NodePools
	Environment() map[string]string      // of the VPC CNI; nil without the VPC CNI
	Autoscaled() bool                    // an autoscaler adds nodes to managed node groups
}

// Room adds the account to the room of a cluster: the instance types and subnets of its
// NodePools, the managed node groups, the quotas and the mode of the CNI. A NodePool
// without an EC2NodeClass keeps its instance types, and the addresses of its nodes are
// unknown. Read errors are in Unknown of the result.
func (r Reader) Room(ctx context.Context, room fit.Room, of Cluster) fit.Room {
	classes, failed := map[string]class{}, map[string]error{}
	var subnets []string
	for pool, object := range of.Classes() {
		c, err := parseClass(object)
		if err != nil {
			failed[pool] = err
			continue
		}
		classes[pool] = c
		subnets = append(subnets, c.subnets...)
	}
	a := r.read(ctx, subnets)
	cni, unknown := mode(of.Environment())
	room.CNI = cni
	room.Unknown = slices.Concat(room.Unknown, a.unknown, unknown)
	room.VCPUs = slices.Concat(room.VCPUs, lists.Map(a.quotas, func(q quota) fit.VCPUs { return q.VCPUs }))
	room.Subnets = slices.Concat(room.Subnets, a.subnets)
	room = a.pools(room, classes, failed)
	return a.managed(room, of.Autoscaled())
}

// pools adds instance types and subnets to NodePools.
func (a account) pools(room fit.Room, classes map[string]class, failed map[string]error) fit.Room {
	room.Pools = slices.Clone(room.Pools)
	made := map[string][]fit.Shape{} // NodePools with the same class share a list
	for i, p := range room.Pools {
		c, has := classes[p.Name]
		if _, done := made[c.name]; has && !done {
			made[c.name] = a.shapes(c, capacityTypes)
		}
		why := c.without()
		switch err := failed[p.Name]; {
		case err != nil:
			why = err.Error()
		case !has:
			why = "the NodePool has no EC2NodeClass"
		}
		switch shapes := made[c.name]; {
		case len(shapes) > 0:
			room.Pools[i].Shapes = shapes
		case len(p.Shapes) == 0:
			room.Unknown = append(room.Unknown, fit.Reading{Name: "instance types of NodePool " + p.Name, Adds: true, Why: why})
		default: // it keeps the instance types of its present nodes
			room.Pools[i].Shapes = a.limited(p.Shapes)
			room.Unknown = append(room.Unknown, fit.Reading{Name: "addresses of NodePool " + p.Name, Why: why})
		}
		room.Pools[i].Subnets = c.subnets
	}
	return room
}

// managed adds the managed node groups.
func (a account) managed(room fit.Room, autoscaled bool) fit.Room {
	room.Groups = slices.Clone(room.Groups)
	for _, g := range a.groups {
		made := g.Group
		made.Autoscaled = autoscaled
		made.Shapes = g.shapes(a)
		if len(made.Shapes) == 0 && autoscaled && made.Max > made.Size {
			room.Unknown = append(room.Unknown, fit.Reading{Name: "instance types of node group " + made.Name, Adds: true, Why: g.without()})
		}
		room.Groups = append(room.Groups, made)
	}
	return room
}

// An account is the result of read. A list that could not be read is empty, and unknown
// has its reading.
type account struct {
	region  string
	groups  []group
	quotas  []quota
	subnets []fit.Subnet
	unknown []fit.Reading

	types []ec2types.InstanceTypeInfo
	zones map[string][]string // by instance type
}

// read reads the account. subnets are the IDs of subnets in addition to the subnets of
// node groups.
func (r Reader) read(ctx context.Context, subnets []string) account {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a := account{region: r.Region}
	var quotas, groups, used, nets, kinds []fit.Reading // each has one writer
	var running use
	var all errgroup.Group
	all.Go(func() error { a.quotas, quotas = r.quotas(ctx); return nil })
	all.Go(func() error { running, used = r.running(ctx); return nil })
	all.Go(func() error { a.types, a.zones, kinds = r.types(ctx); return nil })
	all.Go(func() error {
		a.groups, groups = r.groups(ctx)
		for _, g := range a.groups {
			subnets = append(subnets[:len(subnets):len(subnets)], g.Subnets...)
		}
		a.subnets, nets = r.subnets(ctx, subnets)
		return nil
	})
	_ = all.Wait() // the functions return no error
	a.unknown = slices.Concat(quotas, used, kinds, groups, nets)
	a.occupy(running)
	return a
}

// subnets returns the subnets with their free addresses.
func (r Reader) subnets(ctx context.Context, ids []string) (all []fit.Subnet, failed []fit.Reading) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for some := range slices.Chunk(ids, filterAtMost) {
		pages := ec2.NewDescribeSubnetsPaginator(r.EC2, &ec2.DescribeSubnetsInput{Filters: []ec2types.Filter{{Name: aws.String("subnet-id"), Values: some}}})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return nil, []fit.Reading{unread("free addresses of subnets in "+r.Region, "ec2:DescribeSubnets", err)}
			}
			for _, s := range page.Subnets {
				free := int64(aws.ToInt32(s.AvailableIpAddressCount))
				all = append(all, fit.Subnet{ID: aws.ToString(s.SubnetId), Zone: aws.ToString(s.AvailabilityZone), Free: free})
			}
		}
	}
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(s fit.Subnet) bool { return s.ID == id }) {
			failed = append(failed, fit.Reading{Name: "free addresses of " + id, Why: "ec2:DescribeSubnets: the response does not contain the subnet"})
		}
	}
	return all, failed
}

// filterAtMost is the maximum number of values in a filter of EC2.
const filterAtMost = 200

// zonesOf returns the zones of subnets, sorted.
func (a account) zonesOf(subnets []string) (zones []string) {
	for _, s := range a.subnets {
		if slices.Contains(subnets, s.ID) {
			zones = append(zones, s.Zone)
		}
	}
	slices.Sort(zones)
	return slices.Compact(zones)
}

// unread returns the reading of a failed call. action is the IAM action of the call.
func unread(name, action string, err error) fit.Reading {
	api, answered := errors.AsType[smithy.APIError](err)
	switch {
	case !answered:
		return fit.Reading{Name: name, Why: fmt.Sprintf("%s: %s", action, err)}
	case strings.HasPrefix(api.ErrorCode(), "AccessDenied") || api.ErrorCode() == "UnauthorizedOperation":
		// The message of EC2 is a long encoded text.
		return fit.Reading{Name: name, Why: fmt.Sprintf("%s: %s. Allow the action %s", action, api.ErrorCode(), action)}
	}
	return fit.Reading{Name: name, Why: fmt.Sprintf("%s: %s: %s", action, api.ErrorCode(), api.ErrorMessage())}
}

// adding marks a reading whose value could only add room.
func adding(r fit.Reading) fit.Reading {
	r.Adds = true
	return r
}
