// Package load puts the workloads of a real control plane under a realistic load. The
// load does not depend on the number of pods, and the ready pods share it. No pod shows
// more CPU than it can use, and a pod that was overloaded for a while fails instead of
// running hot. Autoscalers read the use through metrics.k8s.io, a window late, as in a
// real cluster.
package load
