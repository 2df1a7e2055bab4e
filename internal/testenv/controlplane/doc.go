// Package controlplane starts a real Kubernetes control plane for tests: etcd, the API
// server, its controllers, the scheduler, and kwok, which simulates the nodes. Only the
// containers in the pods are fake. Every program listens on loopback, keeps its state
// in the test's temporary folder, and ends with the test, even if the test panics or is
// killed.
package controlplane
