// Package incluster contains tests only. They run a tick in the cluster that it samples,
// on a real control plane, like infra/cluster does.
package incluster
