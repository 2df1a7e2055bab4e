package account

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gitlatch/gitlatch/internal/fit"
)

// A class is the part of a node configuration that changes the room on a node: of an
// EC2NodeClass of Karpenter, or of a managed node group. The zero value has the defaults
// of Amazon Linux 2023.
type class struct {
	name    string
	family  string // of the AMI, in lower case: "al2023", "bottlerocket"; "" is al2023
	subnets []string
	maxPods int64 // per node; 0 is the number that the network interfaces allow
	perCPU  int64 // maximum number of pods per vCPU; 0 is unlimited
	storage int64 // size of the volume for ephemeral storage in bytes; 0 is 20 GiB
	// local is true if the disks of the instance replace the volume.
	local bool

	kubeReserved, systemReserved, hard, soft map[string]string
	managed                                  bool // of a managed node group
}

// The parts of an EC2NodeClass that a class needs.
type nodeClass struct {
	Metadata struct{ Name string }
	Spec     struct {
		AMIFamily           string
		AMISelectorTerms    []struct{ Alias string }
		InstanceStorePolicy string
		BlockDeviceMappings []struct {
			DeviceName string
			RootVolume bool
			EBS        struct{ VolumeSize *resource.Quantity }
		}
		Kubelet struct {
			MaxPods, PodsPerCore         int64
			KubeReserved, SystemReserved map[string]string
			EvictionHard, EvictionSoft   map[string]string
		}
	}
	Status struct{ Subnets []struct{ ID string } }
}

// parseClass parses an EC2NodeClass. The subnets are those in its status, which Karpenter
// selects.
func parseClass(object json.RawMessage) (class, error) {
	var n nodeClass
	if err := json.Unmarshal(object, &n); err != nil {
		return class{}, fmt.Errorf("parse an EC2NodeClass: %w", err)
	}
	k := n.Spec.Kubelet
	c := class{
		name: n.Metadata.Name, family: strings.ToLower(n.Spec.AMIFamily), maxPods: k.MaxPods, perCPU: k.PodsPerCore, local: n.Spec.InstanceStorePolicy == "RAID0",
		kubeReserved: k.KubeReserved, systemReserved: k.SystemReserved, hard: k.EvictionHard, soft: k.EvictionSoft,
	}
	for _, term := range n.Spec.AMISelectorTerms {
		if family, _, aliased := strings.Cut(term.Alias, "@"); aliased {
			c.family = family
		}
	}
	if c.family == "bottlerocket" { // it ignores these fields
		c.perCPU, c.soft = 0, nil
	}
	for _, s := range n.Status.Subnets {
		c.subnets = append(c.subnets, s.ID)
	}
	device := map[string]string{"bottlerocket": "/dev/xvdb", "al2": "/dev/xvda", "al2023": "/dev/xvda"}[c.family]
	for _, b := range n.Spec.BlockDeviceMappings {
		if size := b.EBS.VolumeSize; size != nil && (b.RootVolume || b.DeviceName == device || device == "") {
			c.storage = size.Value()
		}
	}
	return c, c.check()
}

// check returns an error if a quantity of the kubelet's configuration cannot be parsed.
func (c class) check() error {
	for _, of := range []map[string]string{c.kubeReserved, c.systemReserved, c.hard, c.soft} {
		for name, text := range of {
			if _, err := amount(text, 0); err != nil {
				return fmt.Errorf("EC2NodeClass %s: %s: %w", c.name, name, err)
			}
		}
	}
	return nil
}

// windows is the begin of the families that run no Linux pods.
const windows = "windows"

// without returns the reason why a NodePool has no instance types.
func (c class) without() string {
	switch {
	case strings.HasPrefix(c.family, windows):
		return "its nodes run Windows"
	case len(c.subnets) == 0:
		return "the status of EC2NodeClass " + c.name + " lists no subnets"
	}
	return "no instance type of EC2 is available in the subnets of EC2NodeClass " + c.name
}

// amount parses a quantity, or a percentage of a capacity.
func amount(text string, capacity int64) (int64, error) {
	if share, percent := strings.CutSuffix(text, "%"); percent {
		f, err := strconv.ParseFloat(share, 64)
		if f == 100 { // the kubelet ignores the threshold
			f = 0
		}
		return int64(math.Ceil(float64(capacity) / 100 * f)), err
	}
	q, err := resource.ParseQuantity(text)
	return q.Value(), err
}

const (
	kib = 1 << 10
	mib = kib << 10
	gib = mib << 10
)

// reserved returns the resources of a node that pods cannot use, as Karpenter computes
// them. interfaces is the number of pods that the network interfaces allow.
func (c class) reserved(capacity fit.Resources, interfaces int64) fit.Resources {
	pods := capacity[fit.Pods]
	if c.family == "al2" || c.family == "custom" {
		pods = interfaces
	}
	kube := fit.Resources{fit.CPU: reservedCPU(capacity[fit.CPU]), fit.Memory: (11*pods + 255) * mib, fit.Storage: gib}
	c.override(kube, c.kubeReserved)
	system := fit.Resources{}
	c.override(system, c.systemReserved)
	total := fit.Resources{}
	for _, name := range []string{fit.CPU, fit.Memory, fit.Storage} {
		total[name] = kube[name] + system[name]
	}
	total[fit.Memory] += c.evicted("memory.available", capacity[fit.Memory], 100*mib)
	total[fit.Storage] += c.evicted("nodefs.available", capacity[fit.Storage], (capacity[fit.Storage]+9)/10)
	return total
}

// reservedCPU returns the CPU that the kubelet reserves, in thousandths: 6 % of the first
// CPU, 1 % of the second, 0.5 % of the next two, and 0.25 % of the others.
func reservedCPU(milli int64) (total int64) {
	begin := int64(0)
	for _, step := range []struct {
		end   int64
		share float64
	}{{1000, 0.06}, {2000, 0.01}, {4000, 0.005}, {math.MaxInt64, 0.0025}} {
		total += int64(float64(max(min(milli, step.end)-begin, 0)) * step.share)
		begin = step.end
	}
	return total
}

// override replaces amounts. parseClass has checked that they can be parsed.
func (c class) override(of fit.Resources, by map[string]string) {
	for name, text := range by {
		q, _ := resource.ParseQuantity(text)
		of[name] = q.Value()
		if name == fit.CPU {
			of[name] = q.MilliValue()
		}
	}
}

// evicted returns the eviction threshold of a signal: the larger one of hard and soft.
func (c class) evicted(signal string, capacity, otherwise int64) int64 {
	largest, set := int64(0), false
	for _, of := range []map[string]string{c.hard, c.soft} {
		text, has := of[signal]
		if has {
			n, _ := amount(text, capacity)
			largest, set = max(largest, n), true
		}
	}
	if !set {
		return otherwise
	}
	return largest
}
