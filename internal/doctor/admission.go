package doctor

import (
	"fmt"
	"slices"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// recordName is the name of the ConfigMap in a checkpoint file. doctor recognizes a
	// gitlatch policy by this parameter, because users can rename the policy.
	recordName = "gitlatch-checkpoint"
	// since is the first minor version of Kubernetes 1 whose API server serves
	// MutatingAdmissionPolicies in v1. In this version, they are active by default.
	since = 36
)

// A way is an admission policy and a binding that gives it checkpoint files as
// parameters.
type way struct {
	policy  admission.MutatingAdmissionPolicy
	binding admission.MutatingAdmissionPolicyBinding
}

func (w way) name() string { return "MutatingAdmissionPolicy " + w.policy.Name }

// bound returns the name of the binding with its kind.
func (w way) bound() string { return "MutatingAdmissionPolicyBinding " + w.binding.Name }

// ways returns the policies that read checkpoint files, once for each binding.
func (c Cluster) ways() []way {
	var found []way
	for _, p := range c.policies {
		if k := p.Spec.ParamKind; k == nil || k.APIVersion != "v1" || k.Kind != "ConfigMap" {
			continue
		}
		for _, b := range c.bindings {
			if ref := b.Spec.ParamRef; b.Spec.PolicyName == p.Name && ref != nil && ref.Name == recordName && ref.Namespace == "" {
				found = append(found, way{p, b})
			}
		}
	}
	return found
}

// changes reports whether a mutation of the policy mentions a field.
func (w way) changes(field string) bool {
	return slices.ContainsFunc(w.policy.Spec.Mutations, func(m admission.Mutation) bool {
		return m.ApplyConfiguration != nil && strings.Contains(m.ApplyConfiguration.Expression, field) ||
			m.JSONPatch != nil && strings.Contains(m.JSONPatch.Expression, field)
	})
}

// finds reports whether the policy can find a workload in its checkpoint file. A policy
// without gitlatch's word for the kind uses the API's kind in lower case.
func (w way) finds(s subject) bool {
	word := string(s.ID.Kind)
	return strings.EqualFold(s.object.Kind, word) || w.changes(word) ||
		slices.ContainsFunc(w.policy.Spec.Variables, func(v admission.Variable) bool { return strings.Contains(v.Expression, word) })
}

// onlyCreation reports whether the policy acts only on CREATE.
func (w way) onlyCreation() bool {
	return w.policy.Spec.MatchConstraints != nil &&
		!slices.ContainsFunc(w.policy.Spec.MatchConstraints.ResourceRules, func(r admission.NamedRuleWithOperations) bool {
			return slices.ContainsFunc(r.Operations, func(o admission.OperationType) bool { return o != admission.Create })
		})
}

// covers reports whether the policy matches the creation of a workload and can find the
// workload in its checkpoint file.
func (w way) covers(s subject, namespace map[string]string) bool {
	all, narrowed := w.policy.Spec.MatchConstraints, w.binding.Spec.MatchResources
	return all != nil && w.finds(s) && len(all.ResourceRules) > 0 && matches(all, s, namespace) &&
		(narrowed == nil || matches(narrowed, s, namespace))
}

// matches reports whether m matches the creation of a workload. An empty list of rules
// matches everything, as in a binding.
func matches(m *admission.MatchResources, s subject, namespace map[string]string) bool {
	return selects(m.NamespaceSelector, namespace) && selects(m.ObjectSelector, s.labels) &&
		(len(m.ResourceRules) == 0 || slices.ContainsFunc(m.ResourceRules,
			func(r admission.NamedRuleWithOperations) bool { return creates(r, s.ID, s.object) }))
}

func creates(r admission.NamedRuleWithOperations, id workload.ID, o workload.Object) bool {
	among := func(all []string, one string) bool { return slices.Contains(all, "*") || slices.Contains(all, one) }
	return among(r.APIGroups, o.Group) && among(r.APIVersions, o.Version) && among(r.Resources, o.Resource) &&
		(slices.Contains(r.Operations, admission.Create) || slices.Contains(r.Operations, admission.OperationAll)) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, id.Name))
}

func selects(s *metav1.LabelSelector, of map[string]string) bool {
	if s == nil {
		return true
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	return err == nil && selector.Matches(labels.Set(of))
}

// changes returns the first policy that changes a field of a workload. created selects
// the policies that act only on CREATE; otherwise changes considers only the policies
// that also act on live workloads.
func (e *examination) changes(s subject, field string, created bool) (way, bool) {
	return lists.First(e.Cluster.ways(), func(w way) bool {
		return w.changes(field) && w.onlyCreation() == created && w.covers(s, e.Cluster.labels(s.ID.Namespace))
	})
}

// admits returns the policy that sets the replicas of a workload to its level on
// creation.
func (e *examination) admits(s subject) (way, bool) { return e.changes(s, "replicas", true) }

// inGit reports whether a cluster that is rebuilt from git has a policy and its binding.
func (e *examination) inGit(w way) bool {
	return e.declared(w.name(), w.policy.ManagedFields) && e.declared(w.bound(), w.binding.ManagedFields)
}

// declared reports whether a build contains an object, or one of the declarers manages it.
func (e *examination) declared(name string, by []metav1.ManagedFieldsEntry) bool {
	return slices.ContainsFunc(e.Overlays, func(o Overlay) bool { return slices.Contains(o.Admission, name) }) ||
		slices.ContainsFunc(by, func(m metav1.ManagedFieldsEntry) bool {
			return m.Subresource == "" && slices.ContainsFunc(declarers, func(tool string) bool { return strings.HasPrefix(m.Manager, tool) })
		})
}

// declarers are the starts of the names of field managers that create objects from files:
// Flux, Argo CD, Helm, and the Kubernetes provider of Terraform.
var declarers = []string{fluxManager, argoManager, helmClient, "Terraform"}

// missing returns the finding about a policy that a rebuild does not create.
func (w way) missing() Finding {
	return Finding{PolicyNotInGit, w.name(),
		"No folder that doctor builds (from Flux, Argo CD, --path and build.paths) contains the policy and its binding. A cluster that is rebuilt from git does not have the policy, and starts the replicas in the manifests.",
		"commit the policy and its binding to a folder that Flux or Argo CD applies before the workloads. If you apply the folder with kubectl, add it to build.paths in the configuration"}
}

// Old reports whether an API server of Kubernetes 1.minor does not serve the
// MutatingAdmissionPolicies of gitlatch. It is false for 0, an unknown version.
func Old(minor int) bool { return minor > 0 && minor < since }

// ways reports problems of the policies themselves, independent of workloads.
func (e *examination) ways() {
	for _, w := range e.Cluster.ways() {
		if !e.inGit(w) {
			e.report.Findings = append(e.report.Findings, w.missing())
		}
		for _, f := range []struct {
			found bool
			trap  Trap
			text  string
			fix   string
		}{
			{w.changes("replicas") && !w.onlyCreation(), PolicyOnUpdate, "The policy matches operations other than CREATE, so it changes live workloads.",
				"set operations: [CREATE] in each entry of spec.matchConstraints.resourceRules of " + w.name()},
			{ptr.Deref(w.policy.Spec.FailurePolicy, admission.Fail) != admission.Ignore, FailsClosed, "The policy has failurePolicy: Fail. If the policy cannot read a checkpoint file, the API server refuses to create workloads, even during a rebuild.",
				"set spec.failurePolicy: Ignore in " + w.name()},
			{ptr.Deref(w.binding.Spec.ParamRef.ParameterNotFoundAction, admission.DenyAction) != admission.AllowAction, FailsClosed,
				fmt.Sprintf("The binding %s has parameterNotFoundAction: Deny. The API server refuses to create workloads in a namespace without a checkpoint file.", w.binding.Name),
				"set spec.paramRef.parameterNotFoundAction: Allow in " + w.bound()},
		} {
			if f.found {
				e.find(f.trap, w.name(), f.text, f.fix)
			}
		}
	}
}
