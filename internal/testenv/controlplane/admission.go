package controlplane

import (
	"os"
	"path/filepath"
	"testing"
)

// A node ends only pods that are being deleted. A kubelet ends a pod by its UID. kwok
// 0.8.0 ends it by its name, and sometimes twice. The second time affects the pod that
// a StatefulSet created again with the same name, which then counts as lost.
const endsDeleted = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: nodes.static.k8s.io}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [DELETE], resources: [pods]}
  matchConditions:
  - {name: by-a-node, expression: request.userInfo.username == "kwok"}
  validations:
  - {expression: has(oldObject.metadata.deletionTimestamp), message: it is not being deleted}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: nodes.static.k8s.io}
spec: {policyName: nodes.static.k8s.io, validationActions: [Deny]}
`

// static is the first minor version of Kubernetes that reads admission policies from files.
// In earlier versions, Start applies endsDeleted before it starts the nodes.
const static = 37

// admission returns the flags of an API server that applies endsDeleted to the nodes
// from its first answer on. It reads the policy from a file, so the cluster does not
// contain it. Before version static, admission returns nil.
func (cp *ControlPlane) admission(t testing.TB) []string {
	t.Helper()
	if Minor(t) < static {
		return nil
	}
	dir := filepath.Join(cp.dir, "admission")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatalf("write the admission policies: %v", err)
	}
	config := filepath.Join(cp.dir, "admission.yaml")
	for name, text := range map[string]string{
		filepath.Join(dir, "nodes.yaml"): endsDeleted,
		config: `apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionPolicy
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: ValidatingAdmissionPolicyConfiguration
    staticManifestsDir: ` + dir + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatalf("write the admission policies: %v", err)
		}
	}
	return []string{"--admission-control-config-file=" + config}
}
