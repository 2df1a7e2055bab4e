package doctor

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/doctor/room/limits"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is a kind of object that ReadCluster reads.
type Source struct {
	Name     string // the resource with its group, as in RBAC roles
	Group    string // the API group; "" is the core group
	Path     string // the path of its API group and version
	Resource string
	Kind     string // the kind of one object

	into  func(c *Cluster, object []byte) error
	limit bool // only the limits of a rebuild need it
}

// Sources returns the kinds that doctor reads beside the levels and the workloads. A cluster
// need not have all of them.
func Sources() []Source {
	return []Source{
		{"kustomizations.kustomize.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "/apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations", kustomizationKind, intoTools(kustomizationKind), false},
		{"helmreleases.helm.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "/apis/helm.toolkit.fluxcd.io/v2", "helmreleases", releaseKind, intoTools(releaseKind), false},
		{"applications.argoproj.io", "argoproj.io", "/apis/argoproj.io/v1alpha1", "applications", applicationKind, intoTools(applicationKind), false},
		{"resourcequotas", "", "/api/v1", "resourcequotas", "ResourceQuota",
			into(func(c *Cluster) *[]corev1.ResourceQuota { return &c.Objects.Quotas }), false},
		{"limitranges", "", "/api/v1", "limitranges", "LimitRange", into(func(c *Cluster) *[]corev1.LimitRange { return &c.Objects.Ranges }), true},
		{"nodes", "", "/api/v1", "nodes", "Node", into(func(c *Cluster) *[]corev1.Node { return &c.Objects.Nodes }), true},
		{"nodepools.karpenter.sh", "karpenter.sh", "/apis/karpenter.sh/v1", "nodepools", "NodePool",
			into(func(c *Cluster) *[]limits.NodePool { return &c.Objects.Pools }), true},
		{"ec2nodeclasses.karpenter.k8s.aws", "karpenter.k8s.aws", "/apis/karpenter.k8s.aws/v1", "ec2nodeclasses", "EC2NodeClass",
			into(func(c *Cluster) *[]limits.NodeClass { return &c.Objects.Classes }), true},
	}
}

// A Cluster contains the objects that show how a rebuild starts, and the objects that limit
// it. The zero value was not read.
type Cluster struct {
	Unread []workload.Unread
	// Levels are the objects of gitlatch in the cluster.
	Levels admission.Levels
	// Objects are the objects with the limits of a rebuild.
	Objects limits.Set

	tools       tools
	live        map[workload.ID]*live
	definitions map[workload.Kind]definition // only the definitions that could be read
	denied      []right
}

// Add adds an object in JSON. kind must be one of the Sources.
func (c *Cluster) Add(kind string, data []byte) error {
	err := errors.New("doctor does not use this kind")
	for _, s := range Sources() {
		if s.Kind == kind {
			err = s.into(c, data)
		}
	}
	if err != nil {
		return fmt.Errorf("read a %s: %w", kind, err)
	}
	return nil
}

// AddWorkload adds a live workload in JSON.
func (c *Cluster) AddWorkload(kind workload.Kind, o workload.Object, data []byte) error {
	l, err := readLive(o.Replicas, data)
	if err != nil {
		return fmt.Errorf("read a %s: %w", o.Kind, err)
	}
	if c.live == nil {
		c.live = map[workload.ID]*live{}
	}
	id := workload.ID{Namespace: l.meta.Namespace, Kind: kind, Name: l.meta.Name}
	c.live[id] = &l
	c.Objects.AddWorkload(id, limits.Live{Replicas: l.replicas, Here: l.created, Template: l.template})
	return nil
}

// into returns a function that adds an object to the list of its kind.
func into[T any](list func(*Cluster) *[]T) func(*Cluster, []byte) error {
	return func(c *Cluster, object []byte) error {
		var one T
		err := json.Unmarshal(object, &one)
		*list(c) = append(*list(c), one)
		return err
	}
}

// intoTools returns a function that adds an object of a tool.
func intoTools(kind string) func(*Cluster, []byte) error {
	return func(c *Cluster, object []byte) error { return c.tools.add(kind, object) }
}
