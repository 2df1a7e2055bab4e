// Package latch holds the state that outlives a tick: per workload a [Latch],
// per site a [Head], and the lease that lets one tick at a time write them.
// The nouns are plain values; [Store] is the port that keeps them, and the
// packages below this one are its adapters.
package latch
