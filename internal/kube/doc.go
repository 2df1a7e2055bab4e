// Package kube samples a Kubernetes cluster: a handful of paged LISTs, and the
// pure functions that make [workload.Sample] values of the objects they bring.
//
// The tables in kinds.go hold one row a kind: where it is listed, how a page of
// it is decoded, and the function that reads one object. Objects are reduced to
// what a sample needs page by page, so that a fleet of 10,000 workloads fits a
// small Lambda. Nothing is watched, discovered or written; infra/rbac holds
// exactly the rights that are used.
//
// What could not be read is named and left out, never taken for zero.
package kube
