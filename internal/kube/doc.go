// Package kube samples a Kubernetes cluster. It sends a few paged LISTs, and converts the
// objects to [workload.Sample] values with pure functions.
//
// The tables in kinds.go have one row per kind: its API path, the decoder of a page, and
// the function that reads one object. The package reduces the objects of each page at
// once to the fields that a sample needs, so that 10,000 workloads fit a small Lambda. It
// does not watch, discover or write objects. infra/rbac grants exactly the rights that it
// uses.
//
// The package lists parts that it could not read, and leaves out their samples. It never
// counts them as zero.
package kube
