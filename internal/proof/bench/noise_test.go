package bench

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/proof/story"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// noises compares the number of commits with a mirror's, which commits each change of
// each value in the checkpoint file.
func noises(t *testing.T, b book) {
	for _, n := range []int{300, 1000} {
		changes, commits := noisy(t, scaled(n), 2)
		b.beside(fmt.Sprint("noise_", n), float64(changes)/float64(max(1, commits)), fmt.Sprintf("%d commits", commits), fmt.Sprintf("%d changes", changes))
	}
}

// noisy runs workloads for some days, after one day in which their levels settle. Their
// load follows the hours, and each sample differs.
func noisy(t testing.TB, n, days int) (changes, commits int) {
	t.Helper()
	w := world{story.NewWorld(map[string]string{"gitlatch.yaml": latching})}
	random := rand.New(rand.NewPCG(1, 1))
	all := samples(n)
	peaks := make([]float64, n)
	for i := range peaks {
		peaks[i] = 5 * math.Pow(40, random.Float64()) // 5 to 200 pods
	}
	const looks = int(24 * time.Hour / story.Period)
	before := make([]int32, n)
	for look := range (days + 1) * looks {
		hour := 2 * math.Pi * float64(look) / float64(looks)
		for i, s := range all {
			load := peaks[i] * (0.75 - 0.25*math.Cos(hour+0.02*float64(i%10))) * (1 + 0.05*random.NormFloat64())
			pods := max(1, int32(math.Ceil(load)))
			s.Scale = &workload.Scale{Desired: pods, Ready: pods, Driver: workload.DrivenByHPA, Min: 1, Max: 1000}
			s.Rollout = &workload.Rollout{Desired: pods}
			w.Fleet[s.ID] = s
			if look >= looks && pods != before[i] {
				changes++
			}
			before[i] = pods
		}
		report, err := w.Tick()
		must(t, errors.Join(err, report.Err()))
		if look >= looks && report.Commit != nil {
			commits++
		}
		w.Now = w.Now.Add(story.Period)
	}
	return changes, commits
}
