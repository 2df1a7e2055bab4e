// Package incluster holds tests alone: a tick in the cluster that it samples, as
// infra/cluster runs it, on a real control plane.
package incluster
