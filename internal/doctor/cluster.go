package doctor

import (
	"encoding/json"
	"errors"
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is one kind of object that a case holds.
type Source struct {
	Name     string // the resource with its group, as roles and people spell it
	Path     string // of its API group and version
	Resource string
	Kind     string // of one object
}

// Sources are all kinds that are read. A cluster may do without any of them.
func Sources() []Source {
	return []Source{
		{"kustomizations.kustomize.toolkit.fluxcd.io", "/apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations", "Kustomization"},
		{"gitrepositories.source.toolkit.fluxcd.io", "/apis/source.toolkit.fluxcd.io/v1", "gitrepositories", "GitRepository"},
		{"helmreleases.helm.toolkit.fluxcd.io", "/apis/helm.toolkit.fluxcd.io/v2", "helmreleases", "HelmRelease"},
		{"applications.argoproj.io", "/apis/argoproj.io/v1alpha1", "applications", "Application"},
		{"mutatingadmissionpolicies.admissionregistration.k8s.io", "/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy"},
		{"mutatingadmissionpolicybindings.admissionregistration.k8s.io", "/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"},
		{"resourcequotas", "/api/v1", "resourcequotas", "ResourceQuota"},
		{"namespaces", "/api/v1", "namespaces", "Namespace"},
	}
}

// A Cluster is the objects by which git is applied to a cluster, and those that
// limit what a rebuild can start.
type Cluster struct {
	Kinds  workload.Kinds // of workloads
	Minor  int            // of Kubernetes 1; 0 is not known
	Unread []workload.Unread

	kustomizations []kustomization
	repositories   []gitRepository
	releases       []helmRelease
	applications   []application
	policies       []admission.MutatingAdmissionPolicy
	bindings       []admission.MutatingAdmissionPolicyBinding
	quotas         []corev1.ResourceQuota
	namespaces     map[string]map[string]string // labels by name
	definitions    map[workload.Kind]definition // those that could be read
}

// Add takes an object of one of the Sources, by its kind, as JSON.
func (c *Cluster) Add(kind string, data []byte) (err error) {
	switch kind {
	case "Kustomization":
		c.kustomizations, err = add(c.kustomizations, data)
	case "GitRepository":
		c.repositories, err = add(c.repositories, data)
	case "HelmRelease":
		c.releases, err = add(c.releases, data)
	case "Application":
		c.applications, err = add(c.applications, data)
	case "MutatingAdmissionPolicy":
		c.policies, err = add(c.policies, data)
	case "MutatingAdmissionPolicyBinding":
		c.bindings, err = add(c.bindings, data)
	case "ResourceQuota":
		c.quotas, err = add(c.quotas, data)
	case "Namespace":
		var n struct{ Metadata metav1.ObjectMeta }
		err = json.Unmarshal(data, &n)
		if c.namespaces == nil {
			c.namespaces = map[string]map[string]string{}
		}
		c.namespaces[n.Metadata.Name] = n.Metadata.Labels
	default:
		err = errors.New("is of a kind that nothing looks at")
	}
	if err != nil {
		return fmt.Errorf("read a %s: %w", kind, err)
	}
	return nil
}

func add[T any](all []T, data []byte) ([]T, error) {
	var one T
	err := json.Unmarshal(data, &one)
	return append(all, one), err
}

// labels are those of a namespace, as far as they are known.
func (c Cluster) labels(namespace string) map[string]string {
	if l, ok := c.namespaces[namespace]; ok {
		return l
	}
	return map[string]string{corev1.LabelMetadataName: namespace}
}
