// Package workload holds the nouns of what runs: the identity of a workload,
// a sample of it, and the fleet of samples that one look at a site gives. They
// are plain values; nothing here reads a clock, a cluster or a file.
package workload
