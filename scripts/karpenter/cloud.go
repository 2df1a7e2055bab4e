package main

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/awslabs/operatorpkg/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	kwok "sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/scheduling"
	"sigs.k8s.io/karpenter/pkg/utils/resources"
)

// An InstanceType is a type of machine that the account can launch.
type InstanceType struct {
	Name string `json:"name"`
	// Labels are those that each node of the type has, such as kubernetes.io/arch. The
	// label of the instance type is implied.
	Labels      map[string]string   `json:"labels"`
	Capacity    corev1.ResourceList `json:"capacity"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	Offerings   []Offering          `json:"offerings"`
}

// An Offering is a zone and a capacity type that an instance type can be launched in.
type Offering struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

// awsLabels are labels that the AWS provider adds to the well-known labels. Each node has
// them, or lacks them because of its instance type.
var awsLabels = []string{
	"karpenter.k8s.aws/instance-category", "karpenter.k8s.aws/instance-family", "karpenter.k8s.aws/instance-generation",
	"karpenter.k8s.aws/instance-size", "karpenter.k8s.aws/instance-cpu", "karpenter.k8s.aws/instance-memory",
	"karpenter.k8s.aws/instance-cpu-manufacturer", "karpenter.k8s.aws/instance-hypervisor", "karpenter.k8s.aws/instance-local-nvme",
	"karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-manufacturer", "karpenter.k8s.aws/instance-gpu-count",
}

// An EC2NodeClass is the node class of the AWS provider, which is always ready.
type EC2NodeClass struct{ kwok.KWOKNodeClass }

// DeepCopyObject implements runtime.Object.
func (c *EC2NodeClass) DeepCopyObject() runtime.Object {
	return &EC2NodeClass{KWOKNodeClass: *c.DeepCopy()}
}

func init() {
	scheme.Scheme.AddKnownTypes(schema.GroupVersion{Group: "karpenter.k8s.aws", Version: "v1"}, &EC2NodeClass{})
	karpenter.WellKnownLabels.Insert(awsLabels...)
}

// cloud is a cloud provider of the given instance types. Its other calls fail, because
// launch takes their place.
type cloud struct {
	types []*cloudprovider.InstanceType
}

var errUnused = errors.New("the oracle does not make this call")

func newCloud(all []InstanceType) cloud {
	var c cloud
	for _, t := range all {
		c.types = append(c.types, t.karpenter())
	}
	return c
}

// karpenter returns the type as the AWS provider describes it.
func (t InstanceType) karpenter() *cloudprovider.InstanceType {
	known := scheduling.NewRequirements(scheduling.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, t.Name))
	for _, key := range awsLabels {
		known.Add(scheduling.NewRequirement(key, corev1.NodeSelectorOpDoesNotExist))
	}
	for key, value := range t.Labels {
		known[key] = scheduling.NewRequirement(key, corev1.NodeSelectorOpIn, value)
	}
	var zones, capacityTypes []string
	var offerings cloudprovider.Offerings
	for _, o := range t.Offerings {
		zones = append(zones, o.Zone)
		capacityTypes = append(capacityTypes, o.CapacityType)
		offerings = append(offerings, &cloudprovider.Offering{
			Price:     o.Price,
			Available: true,
			Requirements: scheduling.NewRequirements(
				scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, o.Zone),
				scheduling.NewRequirement(karpenter.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, o.CapacityType)),
		})
	}
	known.Add(
		scheduling.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zones...),
		scheduling.NewRequirement(karpenter.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, capacityTypes...))
	return &cloudprovider.InstanceType{
		Name: t.Name, Requirements: known, Offerings: offerings, Capacity: t.Capacity,
		Overhead: &cloudprovider.InstanceTypeOverhead{KubeReserved: resources.Subtract(t.Capacity, t.Allocatable)},
	}
}

// cheapest returns the cheapest offering that meets the requirements, and its type. It
// draws one of several that are equally cheap.
func (c cloud) cheapest(wanted scheduling.Requirements, order *rand.Rand) (*cloudprovider.InstanceType, *cloudprovider.Offering) {
	var found *cloudprovider.InstanceType
	var best *cloudprovider.Offering
	equal := 0
	for _, t := range c.types {
		if !wanted.Get(corev1.LabelInstanceTypeStable).Has(t.Name) {
			continue
		}
		for _, o := range t.Offerings.Available().Compatible(wanted) {
			switch {
			case best == nil || o.Price < best.Price:
				equal = 1
			case o.Price > best.Price:
				continue
			default:
				equal++
			}
			if order.IntN(equal) == 0 {
				found, best = t, o
			}
		}
	}
	return found, best
}

func (c cloud) GetInstanceTypes(context.Context, *karpenter.NodePool) ([]*cloudprovider.InstanceType, error) {
	return c.types, nil
}

func (c cloud) GetSupportedNodeClasses() []status.Object { return []status.Object{&EC2NodeClass{}} }

func (c cloud) Name() string { return "aws" }

func (c cloud) RepairPolicies() []cloudprovider.RepairPolicy { return nil }

func (c cloud) Create(context.Context, *karpenter.NodeClaim) (*karpenter.NodeClaim, error) {
	return nil, errUnused
}

func (c cloud) Delete(context.Context, *karpenter.NodeClaim) error { return errUnused }

func (c cloud) Get(context.Context, string) (*karpenter.NodeClaim, error) { return nil, errUnused }

func (c cloud) List(context.Context) ([]*karpenter.NodeClaim, error) { return nil, errUnused }

func (c cloud) IsDrifted(context.Context, *karpenter.NodeClaim) (cloudprovider.DriftReason, error) {
	return "", errUnused
}
