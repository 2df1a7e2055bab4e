package doctor

import (
	"encoding/json"
	"errors"
	"fmt"

	admission "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/fit/objects"
	"github.com/gitlatch/gitlatch/internal/gitops"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Source is a kind of object that ReadCluster reads.
type Source struct {
	Name     string // the resource with its group, as in RBAC roles
	Path     string // the path of its API group and version
	Resource string
	Kind     string // the kind of one object

	into func(c *Cluster, object []byte) error
}

// Sources returns the kinds that findings need. doctor also reads the workloads and
// objects.Kinds. A cluster need not have all of them.
func Sources() []Source {
	return []Source{
		{"kustomizations.kustomize.toolkit.fluxcd.io", "/apis/kustomize.toolkit.fluxcd.io/v1", "kustomizations", "Kustomization",
			into(func(c *Cluster) *[]kustomization { return &c.kustomizations })},
		{"gitrepositories.source.toolkit.fluxcd.io", "/apis/source.toolkit.fluxcd.io/v1", "gitrepositories", "GitRepository",
			into(func(c *Cluster) *[]gitRepository { return &c.repositories })},
		{"ocirepositories.source.toolkit.fluxcd.io", "/apis/source.toolkit.fluxcd.io/v1", "ocirepositories", "OCIRepository",
			into(func(c *Cluster) *[]ociRepository { return &c.artifacts })},
		{"helmreleases.helm.toolkit.fluxcd.io", "/apis/helm.toolkit.fluxcd.io/v2", "helmreleases", "HelmRelease",
			into(func(c *Cluster) *[]helmRelease { return &c.releases })},
		{"applications.argoproj.io", "/apis/argoproj.io/v1alpha1", "applications", "Application",
			into(func(c *Cluster) *[]application { return &c.applications })},
		{"mutatingadmissionpolicies.admissionregistration.k8s.io", "/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy",
			into(func(c *Cluster) *[]admission.MutatingAdmissionPolicy { return &c.policies })},
		{"mutatingadmissionpolicybindings.admissionregistration.k8s.io", "/apis/admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding",
			into(func(c *Cluster) *[]admission.MutatingAdmissionPolicyBinding { return &c.bindings })},
		{"horizontalpodautoscalers.autoscaling", "/apis/autoscaling/v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", intoAutoscalers(gitops.HPA)},
		{"scaledobjects.keda.sh", "/apis/keda.sh/v1alpha1", "scaledobjects", "ScaledObject", intoAutoscalers(gitops.ScaledObject)},
		{"resourcequotas", "/api/v1", "resourcequotas", "ResourceQuota",
			into(func(c *Cluster) *[]corev1.ResourceQuota { return &c.Objects.Quotas })},
		{"namespaces", "/api/v1", "namespaces", "Namespace",
			into(func(c *Cluster) *[]metav1.PartialObjectMetadata { return &c.Objects.Namespaces })},
	}
}

// A Cluster contains the objects that apply manifests from git, and the objects that
// limit a rebuild.
type Cluster struct {
	Kinds  workload.Kinds // the kinds of workloads
	Minor  int            // the minor version of Kubernetes 1; 0 if unknown
	Unread []workload.Unread
	// Objects are the objects that decide whether a rebuild can be placed.
	Objects objects.Set

	kustomizations []kustomization
	repositories   []gitRepository
	artifacts      []ociRepository
	releases       []helmRelease
	applications   []application
	policies       []admission.MutatingAdmissionPolicy
	bindings       []admission.MutatingAdmissionPolicyBinding
	autoscalers    []gitops.Autoscaler
	definitions    map[workload.Kind]definition // only the definitions that could be read
	// clients are the workloads that the command helm applied. The value is true if its
	// next upgrade fails with a conflict on the replicas.
	clients map[workload.ID]bool
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

// into returns a function that adds an object to the list of its kind.
func into[T any](list func(*Cluster) *[]T) func(*Cluster, []byte) error {
	return func(c *Cluster, object []byte) error {
		var one T
		err := json.Unmarshal(object, &one)
		*list(c) = append(*list(c), one)
		return err
	}
}

// intoAutoscalers returns a function that adds an autoscaler of a kind.
func intoAutoscalers(kind workload.Kind) func(*Cluster, []byte) error {
	return func(c *Cluster, object []byte) error {
		a, err := gitops.AutoscalerOf(kind, object, c.Kinds)
		c.autoscalers = append(c.autoscalers, a)
		return err
	}
}

// labels returns the labels of a namespace. If the namespace could not be read, they are
// only the name label that Kubernetes sets.
func (c Cluster) labels(namespace string) map[string]string {
	if n, ok := lists.First(c.Objects.Namespaces, func(n metav1.PartialObjectMetadata) bool { return n.Name == namespace }); ok {
		return n.Labels
	}
	return map[string]string{corev1.LabelMetadataName: namespace}
}
