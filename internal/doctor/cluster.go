package doctor

import (
	"encoding/json"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is a kind of object that ReadCluster reads.
type Source struct {
	Name     string // the resource with its group, as in RBAC roles
	Group    string // the API group; "" is the core group
	Path     string // the path of its API group and version
	Resource string
	Kind     string // the kind of one object

	into func(c *Cluster, object []byte) error
}

// Sources returns the kinds that answers need. doctor also reads the levels, the workloads and
// objects.Kinds. A cluster need not have all of them.
func Sources() []Source {
	return []Source{
		{"kustomizations.kustomize.toolkit.fluxcd.io", "kustomize.toolkit.fluxcd.io", "/apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations", kustomizationKind, intoTools(kustomizationKind)},
		{"helmreleases.helm.toolkit.fluxcd.io", "helm.toolkit.fluxcd.io", "/apis/helm.toolkit.fluxcd.io/v2", "helmreleases", releaseKind, intoTools(releaseKind)},
		{"applications.argoproj.io", "argoproj.io", "/apis/argoproj.io/v1alpha1", "applications", applicationKind, intoTools(applicationKind)},
		{"resourcequotas", "", "/api/v1", "resourcequotas", "ResourceQuota",
			into(func(c *Cluster) *[]corev1.ResourceQuota { return &c.Objects.Quotas })},
		{"namespaces", "", "/api/v1", "namespaces", "Namespace",
			into(func(c *Cluster) *[]metav1.PartialObjectMetadata { return &c.Objects.Namespaces })},
	}
}

// A Cluster contains the objects that show how a rebuild starts, and the objects that limit
// it. The zero value was not read.
type Cluster struct {
	Unread []workload.Unread
	// Levels are the objects of gitlatch in the cluster.
	Levels admission.Levels
	// Objects are the objects that decide whether a rebuild can be placed.
	Objects objects.Set

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
	c.live[workload.ID{Namespace: l.meta.Namespace, Kind: kind, Name: l.meta.Name}] = &l
	return c.Objects.AddWorkload(kind, o.Replicas, data)
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
