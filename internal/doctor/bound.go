package doctor

import (
	"fmt"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// tooOld is the remedy below Kubernetes 1.36.
const tooOld = "start \"gitlatch restore --wait\" before the GitOps tool, or upgrade the cluster"

// served answers whether the API server serves the admission policy.
func (e *examination) served() Answer {
	version := e.Cluster.Levels.Version
	minor, read := version.Value()
	evidence := Evidence{Object: "API server", Field: "version", Value: fmt.Sprintf("1.%d", minor)}
	switch {
	case !read:
		return Open(NotRead, "the version of Kubernetes is unknown: "+version.Why(), remedy(version.Why()))
	case minor < admission.Minor:
		return Refutes(TooOld, fmt.Sprintf("Kubernetes 1.%d does not serve the admission policy, which requires 1.%d", minor, admission.Minor), tooOld, evidence)
	}
	return Shows(fmt.Sprintf("Kubernetes 1.%d serves the admission policy", minor), evidence)
}

// bound answers whether the admission policy in the cluster is the one in git, raises the kind
// of a workload, and is bound to its namespace.
func (e *examination) bound(s subject) Answer {
	l := e.Cluster.Levels
	served := e.served()
	switch {
	case !served.Yes():
		return served
	case e.Admission == nil:
		return Open(PolicyDiffers, "git has no "+admission.Path, "run \"gitlatch init\"")
	}
	watch := admission.Failed(l.Bindings.Why())
	if all, read := l.Bindings.Value(); read {
		watch = admission.Find(all, admission.WatchBinding)
	}
	const apply = "apply it: kubectl apply --server-side -f "
	policy := "MutatingAdmissionPolicy " + admission.Name
	watching := "MutatingAdmissionPolicyBinding " + admission.WatchBinding
	binding := "MutatingAdmissionPolicyBinding " + admission.BindingName(s.ID.Namespace)
	file := checkpoint.RecordPath(e.Site, s.ID.Namespace)
	for _, one := range []struct {
		object string
		answer admission.Answer
		trap   Trap
		fix    string
	}{
		{policy, admission.Compare(e.Admission, l.Policy), PolicyDiffers, apply + admission.Path},
		{watching, admission.CompareWatchBinding(e.Admission, watch), PolicyDiffers, apply + admission.Path},
		{policy, admission.Covers(s.ID.Kind, s.object, l.Policy), KindNotCovered, "run \"gitlatch init\". Then " + apply + admission.Path},
		{binding, admission.CompareBinding(s.ID.Namespace, l.Binding(s.ID.Namespace)), BindingDiffers, apply + file},
	} {
		switch one.answer.State {
		case admission.Equal:
		case admission.Unknown:
			return Open(NotRead, one.object+" is unknown: "+one.answer.Why, remedy(one.answer.Why))
		default:
			return Refutes(one.trap, one.object+" "+one.answer.String(), one.fix, Evidence{Object: one.object, Field: one.answer.Field})
		}
	}
	return Shows(policy+" and "+binding+" are the ones in git", Evidence{Object: policy, Field: "spec"}, Evidence{Object: binding, Field: "spec"})
}
