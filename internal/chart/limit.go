package chart

import (
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// watch ends this process if it exceeds its limit of memory at a tick. A limit of the
// system ends it also if one allocation exceeds the limit, but not every system has one.
func watch(ticks <-chan time.Time) {
	debug.SetMemoryLimit(mostData * 3 / 4) // collect garbage before the limit
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for range ticks {
		metrics.Read(used)
		if used[0].Value.Uint64()-used[1].Value.Uint64() > mostData {
			os.Exit(exitMemory)
		}
	}
}
