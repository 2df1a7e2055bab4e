// Package workload defines the identity of a workload, a sample of it, and the fleet of
// samples that gitlatch takes of a site at one instant. They are plain values. The
// package reads no clock, cluster or file.
package workload
