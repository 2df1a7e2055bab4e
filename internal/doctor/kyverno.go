package doctor

import (
	"encoding/json"
	"slices"

	admission "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// reads is the expression with which gitlatch's policy for Kyverno reads a checkpoint
// file. doctor recognizes the policy by it.
const reads = "dyn(resource.Get('v1', 'configmaps', request.namespace, '" + recordName + "'))"

// skips are the namespaces that Kyverno's own configuration excludes from policies.
var skips = []string{"kube-system", "kube-public", "kube-node-lease", "kyverno"}

// A mutatingPolicy is a MutatingPolicy of Kyverno. Its spec contains the fields of a
// MutatingAdmissionPolicy.
type mutatingPolicy struct {
	Metadata metav1.ObjectMeta
	Spec     struct {
		admission.MutatingAdmissionPolicySpec
		Evaluation             json.RawMessage
		TargetMatchConstraints json.RawMessage
	}
	Status struct{ ConditionStatus struct{ Ready bool } }
}

// way returns the policy in the form of an admission policy and its binding. It reports
// false for a policy that Kyverno has not accepted, for one that does not read checkpoint
// files, and for one with fields that gitlatch does not render.
func (p mutatingPolicy) way() (way, bool) {
	s := p.Spec
	isOurs := p.Status.ConditionStatus.Ready && s.Evaluation == nil && s.TargetMatchConstraints == nil && len(s.MatchConditions) == 0 &&
		slices.ContainsFunc(s.Variables, func(v admission.Variable) bool { return v.Expression == reads })
	w := way{kyverno: true}
	w.policy.Name, w.policy.Spec = p.Metadata.Name, s.MutatingAdmissionPolicySpec
	w.binding.Spec.ParamRef = &admission.ParamRef{ParameterNotFoundAction: ptr.To(admission.AllowAction)}
	return w, isOurs
}
