// Package doctor says of each workload of a site what keeps its checkpoint
// inert on the live cluster, what a rebuild would start it at, and what stands
// in the way of either. Examine judges values: what runs, what git declares and
// builds, and the objects by which git is applied. ReadCluster and ReadOverlays
// read the last two, by a Lister and a repository.
package doctor
