// Package load puts the workloads of a real control plane under a load that is
// honest: it is there whether pods are or not, it is shared by those that are
// ready, none of them shows more CPU than it can use, and one that has had too
// much to do for a while is not hot but down. Autoscalers see it through
// metrics.k8s.io, a window late, as they do in a real cluster.
package load
