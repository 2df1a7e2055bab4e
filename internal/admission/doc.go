// Package admission generates the admission policy of gitlatch, its bindings and its RBAC
// objects, and compares them with the objects of a cluster. It is pure: values in,
// manifests and answers out.
//
// The policy raises a workload to its level when any tool creates it, and never later. One
// file contains the policy for all sites, [Path]. Each checkpoint file contains the
// [Binding] of its namespace, and the levels as a ConfigMap with the name of the namespace
// in [Namespace].
//
// The policy requires Kubernetes 1.36. No answer about a cluster means "fine" by default:
// the zero value of an [Answer] is [Unknown].
package admission
