//go:build cluster

package fit

import (
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A machine is an instance type, in the JSON of scripts/karpenter.
type machine struct {
	Name        string              `json:"name"`
	Labels      map[string]string   `json:"labels"`
	Capacity    corev1.ResourceList `json:"capacity"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	Offerings   []offering          `json:"offerings"`
}

// An offering is a zone and a capacity type in which an instance type can be launched.
type offering struct {
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
}

// A family is a family of instance types.
type family struct {
	name, arch string
	perCPU     int64   // GiB of memory per vCPU
	price      float64 // of 2 vCPU, per hour
}

// A size is a size of each family, with the CPU that EKS reserves and the number of pods
// that its CNI allows.
type size struct {
	name     string
	cpu      int64
	reserved int64 // milliCPU
	pods     int64
}

var (
	families = []family{
		{"c6i", "amd64", 2, 0.085},
		{"m6i", "amd64", 4, 0.096},
		{"r6i", "amd64", 8, 0.126},
		{"c7g", "arm64", 2, 0.0725},
		{"m7g", "arm64", 4, 0.0816},
	}
	sizes = []size{
		{"large", 2, 70, 29},
		{"xlarge", 4, 80, 58},
		{"2xlarge", 8, 90, 58},
		{"4xlarge", 16, 110, 234},
	}
)

// machine returns an instance type without offerings.
func (f family) machine(s size) machine {
	memory := s.cpu * f.perCPU << 30 / 1000 * 925 // Karpenter expects that the hypervisor takes 7.5 %
	return machine{
		Name: f.name + "." + s.name,
		Labels: map[string]string{
			corev1.LabelArchStable:                  f.arch,
			corev1.LabelOSStable:                    "linux",
			"karpenter.k8s.aws/instance-category":   f.name[:1],
			"karpenter.k8s.aws/instance-family":     f.name,
			"karpenter.k8s.aws/instance-size":       s.name,
			"karpenter.k8s.aws/instance-cpu":        fmt.Sprint(s.cpu),
			"karpenter.k8s.aws/instance-memory":     fmt.Sprint(s.cpu * f.perCPU * 1024),
			"karpenter.k8s.aws/instance-hypervisor": "nitro",
		},
		Capacity:    list(s.cpu*1000, memory, 20<<30, s.pods),
		Allocatable: list(s.cpu*1000-s.reserved, memory-(255+11*s.pods+100)<<20, 18242267924, s.pods),
	}
}

// machines returns the instance types of some families in the zones. Not every zone has
// every type.
func machines(r *rand.Rand, zones []string) (all []machine) {
	first, several := r.IntN(len(families)), 1+r.IntN(len(families))
	for i := range several {
		f := families[(first+i)%len(families)]
		for _, s := range sizes {
			m := f.machine(s)
			for _, zone := range zones {
				if len(zones) > 1 && r.IntN(8) == 0 {
					continue
				}
				price := f.price * float64(s.cpu) / 2
				m.Offerings = append(m.Offerings, offering{zone, "on-demand", price}, offering{zone, "spot", price * (0.3 + 0.2*r.Float64())})
			}
			if m.Offerings != nil {
				all = append(all, m)
			}
		}
	}
	return all
}

// list returns resources: milliCPU, bytes of memory, bytes of ephemeral storage, pods.
func list(milliCPU, memory, ephemeral, pods int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:              *resource.NewMilliQuantity(milliCPU, resource.DecimalSI),
		corev1.ResourceMemory:           *resource.NewQuantity(memory, resource.BinarySI),
		corev1.ResourceEphemeralStorage: *resource.NewQuantity(ephemeral, resource.BinarySI),
		corev1.ResourcePods:             *resource.NewQuantity(pods, resource.DecimalSI),
	}
}

// node returns a node of the type in a zone. It has the labels of a managed node group.
func (m machine) node(name, zone string) *corev1.Node {
	n := &corev1.Node{}
	n.APIVersion, n.Kind, n.Name = "v1", "Node", name
	n.Labels = map[string]string{
		corev1.LabelHostname: name, corev1.LabelTopologyZone: zone, corev1.LabelInstanceTypeStable: m.Name,
		"eks.amazonaws.com/nodegroup": "system", "eks.amazonaws.com/capacityType": "ON_DEMAND",
	}
	for key, value := range m.Labels {
		if strings.HasPrefix(key, "kubernetes.io/") {
			n.Labels[key] = value
		}
	}
	n.Status.Capacity, n.Status.Allocatable = m.Capacity.DeepCopy(), m.Allocatable.DeepCopy()
	return n
}
