// Package drill describes the result of a drill: the coverage of a rebuild from git
// today, the replicas of each workload at its start, and the estimated time until the
// missing pods are ready. It does no I/O. A document depends only on the report of the
// tick, on the findings of doctor at the scored commit, and on the previous drill.
package drill
