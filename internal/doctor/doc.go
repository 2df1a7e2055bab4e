// Package doctor reports, for each workload of a site, which rule protects its live
// replicas, with how many replicas a rebuild starts it, and which problems affect either.
//
// ReadCluster reads the cluster through a Lister, and ReadOverlays builds folders of the
// repository. Examine takes their results and the other parts of a Case, and does no I/O.
package doctor
