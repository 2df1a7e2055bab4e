package doctor

import (
	"encoding/json"
	"slices"

	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// reads is an expression in gitlatch's policy for Kyverno, which reads a checkpoint file.
// doctor recognizes the policy by this expression.
const reads = "dyn(resource.Get('v1', 'configmaps', request.namespace, '" + recordName + "'))"

// skips are the namespaces that Kyverno's own configuration excludes from policies.
var skips = []string{"kube-system", "kube-public", "kube-node-lease", "kyverno"}

// A mutatingPolicy is a MutatingPolicy of Kyverno. Its spec contains the fields of a
// MutatingAdmissionPolicy.
type mutatingPolicy struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		admission.MutatingAdmissionPolicySpec
		Evaluation struct {
			Mode                      string
			Admission, MutateExisting struct{ Enabled *bool }
		}
		TargetMatchConstraints json.RawMessage
	}
	Status struct {
		ConditionStatus struct{ Conditions []metav1.Condition }
	}
}

// acts reports whether Kyverno applies the policy to each request that it matches, and
// does not also apply the policy to live objects.
func (p mutatingPolicy) acts() bool {
	s := p.Spec
	return meta.IsStatusConditionTrue(p.Status.ConditionStatus.Conditions, "WebhookConfigured") &&
		s.TargetMatchConstraints == nil && len(s.MatchConditions) == 0 && (s.Evaluation.Mode == "" || s.Evaluation.Mode == "Kubernetes") &&
		ptr.Deref(s.Evaluation.Admission.Enabled, true) && !ptr.Deref(s.Evaluation.MutateExisting.Enabled, false)
}

// way returns the policy in the form of an admission policy and its binding. It reports
// false for a policy that does not act, or does not read checkpoint files as gitlatch's
// policy does.
func (p mutatingPolicy) way() (way, bool) {
	isOurs := slices.ContainsFunc(p.Spec.Variables, func(v admission.Variable) bool { return v.Expression == reads })
	w := way{kyverno: true}
	w.policy.ObjectMeta, w.policy.Spec = p.Metadata, p.Spec.MutatingAdmissionPolicySpec
	w.binding.Spec.ParamRef = &admission.ParamRef{ParameterNotFoundAction: ptr.To(admission.AllowAction)}
	return w, isOurs && p.acts()
}
