package admission

import "fmt"

// BindingName returns the name of the binding of a namespace. A namespace has no dot and at
// most 63 characters, so the name is unique and valid. It does not contain the site or the
// cluster: the same file is applied to the blue and the green cluster of a site, and a
// cluster that changes its site has one binding for each namespace, not two.
func BindingName(namespace string) string { return Name + "." + namespace }

// Binding returns the binding of the policy to a namespace of workloads, which
// workload.ValidLabel must accept. The text is constant except for the namespace. It is
// one YAML document without a separator.
//
// The API server sets the label kubernetes.io/metadata.name itself, so a user with rights
// on a namespace cannot move it to another binding.
func Binding(namespace string) []byte {
	return fmt.Appendf(nil, bindingText, BindingName(namespace), namespace)
}

const bindingText = `apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: %[1]q
spec:
  policyName: gitlatch-levels
  paramRef:
    namespace: gitlatch-levels
    name: %[2]q
    parameterNotFoundAction: Allow
  matchResources:
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: %[2]q
`
