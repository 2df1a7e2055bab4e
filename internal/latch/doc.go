// Package latch defines the state that outlives a tick: a [Latch] per workload, a [Head]
// per site, and the lease that lets one tick at a time write them. These types are plain
// values. [Store] is the port that stores them, and the packages below this one are its
// adapters.
package latch
