// Package controlplane starts a real Kubernetes control plane for tests: etcd,
// the API server, its controllers, the scheduler, and kwok, which plays the
// nodes. Nothing in it is faked but what runs in the pods. All listen on
// loopback, keep their state in the test's temporary folder, and end with the
// test, also when it panics or is killed.
package controlplane
