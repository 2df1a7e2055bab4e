// Package owners measures, with real tools, how the levels of a site reach a cluster:
// which workloads start at their levels, and which tool sets the replicas again later.
// testdata has the tables of the results.
package owners
