package policy

import (
	"math"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Need is how many pods a rebuild has to start with for a scale: as many as are
// asked for, or with RoundHeadroom as many as carry their load at 100 %.
func Need(p Policy, s workload.Scale) int32 {
	of := scaleOf{policy: p, target: s.Target}
	return int32(math.Ceil(of.pods(float64(s.Desired))))
}
