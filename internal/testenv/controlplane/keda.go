package controlplane

import "testing"

// KEDA puts KEDA's ScaledObjects there, as far as a reader or writer of them sees:
// what they hold is free, and nothing acts on it.
func (cp *ControlPlane) KEDA(t testing.TB) {
	t.Helper()
	cp.Apply(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: scaledobjects.keda.sh}
spec:
  group: keda.sh
  scope: Namespaced
  names: {plural: scaledobjects, singular: scaledobject, kind: ScaledObject, listKind: ScaledObjectList}
  versions:
    - name: v1alpha1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`)
	cp.Kubectl(t, "", "wait", "--for=condition=Established", "crd/scaledobjects.keda.sh", "--timeout=60s")
}
