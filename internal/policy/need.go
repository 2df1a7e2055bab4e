package policy

import (
	"math"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// Need returns the number of pods that a rebuild must start with for a scale: the desired
// pods. With RoundHeadroom it is the number of pods that serve the load at 100 %
// utilisation.
func Need(p Policy, s workload.Scale) int32 {
	r := rounding{policy: p, target: s.Target}
	return int32(math.Ceil(r.pods(float64(s.Desired))))
}
