package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// days is the length in days: a quiet week, after a Sunday in which gitlatch learns the
// workloads.
const days = 1 + 7

// A Life is one workload in a quiet week.
type Life struct {
	traces.Workload
	Looks []Look
}

// A Look is the state of a workload at a tick.
type Look struct {
	traces.State
	Load   float64 // load of the autoscaler's metrics, relative to their target; 0 without an autoscaler
	Demand float64 // requests a second; 0 if they are not measured
}

// The workloads of a quiet week, by story.
var quiet = []struct {
	story string
	n     int
	tier  func(*rand.Rand) plan
}{
	{Web, 96, weekTier(20, 0.85)}, // peak in the evening, a little less at weekends
	{"work", 36, weekTier(14, 0.3)},
	{"stateful", 12, weekStateful},
	{Tiny, 20, weekTiny},
	{Queue, 12, weekQueue},
	{Sleeper, 6, weekSleeper},
	{Batch, 8, weekBatch},
	{"hourly", 4, weekHourly},
	{Fixed, 6, func(r *rand.Rand) plan { return fixedTier(Fixed, int32(1+r.IntN(12)))(workload.ID{}, r) }},
}

// Known is the start of the week, after the day in which gitlatch learns the workloads.
const Known = 24 * time.Hour

// Week simulates 200 workloads that cause no alert, with one sample in each period. It
// starts with a Sunday. The week is from Known to the end of the next Sunday. Loads
// change over the day and are lower at weekends. Most teams deploy on working days. There
// are unannounced peaks, and nodes are lost with their pods. Pods take some time to
// become ready. The same seed creates the same week.
func Week(seed uint64, period time.Duration) []Life {
	var all []Life
	for _, q := range quiet {
		for i := range q.n {
			id := workload.ID{Namespace: q.story, Kind: workload.Deployment, Name: fmt.Sprintf("%s-%d", q.story, i)}
			if q.story == "stateful" {
				id.Kind = workload.StatefulSet
			}
			p := q.tier(source(seed, id.String()+" week"))
			p.ID, p.Story = id, q.story
			all = append(all, Life{Workload: p.Workload, Looks: p.week(seed, period, i%2 == 0 && q.story == Web)})
		}
	}
	slices.SortFunc(all, func(a, b Life) int { return workload.Compare(a.ID, b.ID) })
	return all
}

// week returns the samples of one workload.
func (p plan) week(seed uint64, period time.Duration, measured bool) (looks []Look) {
	seen, requests := &noise{r: source(seed, p.ID.String()+" noise")}, source(seed, p.ID.String()+" demand")
	events := blips(source(seed, p.ID.String()+" blips"))
	scaler := &autoscaler{Workload: p.Workload}
	desired := max(p.Min, int32(math.Ceil(p.load(0))))
	running := &pods{lag: p.lag, ready: desired}
	for at := time.Duration(0); at < days*24*time.Hour; at += step {
		load := seen.next() * p.load(at) * events.factor(at)
		running.pass(at)
		ready := running.ready - int32(events.lost(at)*float64(running.ready))
		if p.Driver != workload.DrivenByNothing {
			desired = scaler.sync(desired, ready, load)
		}
		running.scale(at, desired)
		if at%period != 0 {
			continue
		}
		l := Look{State: p.state(at, desired, min(ready, running.ready))}
		if p.Driver != workload.DrivenByNothing && desired > 0 {
			l.Load = max(0.01, load/float64(desired))
			if p.Target > 0 && ready > 0 {
				l.Load = max(0.01, min(load/float64(ready), saturated))
			}
		}
		if measured {
			l.Demand = 40 * p.load(at) * events.factor(at) * (1 + 0.05*requests.NormFloat64())
		}
		looks = append(looks, l)
	}
	return looks
}

// A blip is a time in which the load is multiplied, or a share of the pods is lost.
type blip struct {
	window
	times, lost float64
}

type blipped []blip

// blips draws two short peaks and two lost nodes.
func blips(r *rand.Rand) (all blipped) {
	for range 2 {
		from := time.Duration(r.Float64() * days * 24 * float64(time.Hour))
		all = append(all, blip{window{from, from + seconds(r, 300, 1500)}, 1.3 + 0.7*r.Float64(), 0})
		from = time.Duration(r.Float64() * days * 24 * float64(time.Hour))
		all = append(all, blip{window{from, from + seconds(r, 240, 900)}, 1, 0.05 + 0.3*r.Float64()})
	}
	return all
}

func (b blipped) factor(at time.Duration) float64 {
	factor := 1.0
	for _, one := range b {
		if one.holds(at) {
			factor *= one.times
		}
	}
	return factor
}

func (b blipped) lost(at time.Duration) (share float64) {
	for _, one := range b {
		if one.holds(at) {
			share = max(share, one.lost)
		}
	}
	return share
}

func hourOf(at time.Duration) float64 { return math.Mod(at.Hours(), 24) }

func weekend(at time.Duration) bool {
	day := int(at.Hours()/24) % 7
	return day == 0 || day == 6
}

// weekly returns a load that changes over the day, from peak down to peak/swing. The days
// differ by about 4 %, and the load is lower at weekends.
func weekly(r *rand.Rand, peak, swing, hour, ends float64) load {
	var day [days + 1]float64
	for i := range day {
		day[i] = math.Exp(0.04 * r.NormFloat64())
		if weekend(time.Duration(i) * 24 * time.Hour) {
			day[i] *= ends
		}
	}
	return func(at time.Duration) float64 {
		high := (1 + math.Cos(2*math.Pi*(hourOf(at)-hour)/24)) / 2
		i := int(at.Hours() / 24)
		turned := min(1, (at.Hours()/24-float64(i))*24/5) // until five in the morning
		return (day[i]*turned + day[max(0, i-1)]*(1-turned)) * peak * math.Pow(swing, high-1)
	}
}

func weekTier(hour, ends float64) func(*rand.Rand) plan {
	return func(r *rand.Rand) plan {
		peak := logUniform(r, 8, 900)
		p := plan{load: weekly(r, peak, logUniform(r, 2, 10), hour+3*(r.Float64()-0.5), ends), lag: seconds(r, 40, 180)}
		p.Driver, p.Target = workload.DrivenByHPA, 0.5+0.05*float64(r.IntN(6))
		p.Min, p.Max = int32(max(2, peak/40)), tidy(2.2*peak)
		p.roll = weekDeploys(r)
		return p
	}
}

// weekDeploys draws at most one rollout for each working day.
func weekDeploys(r *rand.Rand) (all []rollout) {
	for day := 1; day <= 5; day++ {
		if r.Float64() < 0.7 {
			at := (time.Duration(day)*24*time.Hour + 9*time.Hour + time.Duration(r.Float64()*8*float64(time.Hour))).Truncate(step)
			all = append(all, rollout{window: window{at, at + seconds(r, 240, 2400).Truncate(step)}})
		}
	}
	return all
}

func weekStateful(r *rand.Rand) plan {
	peak := logUniform(r, 9, 60)
	p := plan{load: weekly(r, peak, logUniform(r, 1.5, 4), 19, 0.8), lag: seconds(r, 90, 300), roll: weekDeploys(r)}
	p.Driver, p.Target, p.Min, p.Max = workload.DrivenByHPA, 0.6, 3, tidy(2.2*peak)
	return p
}

func weekTiny(r *rand.Rand) plan {
	p := plan{load: weekly(r, 0.6+3*r.Float64(), 1+r.Float64(), 15, 0.7), lag: seconds(r, 20, 60), roll: weekDeploys(r)}
	p.Driver, p.Target, p.Min, p.Max = workload.DrivenByHPA, 0.7, int32(1+r.IntN(2)), 10
	return p
}

func weekQueue(r *rand.Rand) plan {
	peak := logUniform(r, 10, 80)
	p := plan{load: weekly(r, peak, logUniform(r, 4, 10), 16, 0.6), lag: seconds(r, 30, 60)}
	p.Driver, p.Min, p.Max = workload.DrivenByKEDA, 1, tidy(2.5*peak)
	return p
}

// weekSleeper has no pods at night and at weekends.
func weekSleeper(r *rand.Rand) plan {
	busy, from, to := weekly(r, logUniform(r, 6, 40), 3, 14, 1), 7+r.Float64(), 18+2*r.Float64()
	p := plan{lag: seconds(r, 30, 60), load: func(at time.Duration) float64 {
		if h := hourOf(at); weekend(at) || h < from || h >= to {
			return 0
		}
		return busy(at)
	}}
	p.Driver, p.Min, p.Max = workload.DrivenByKEDA, 0, 100
	return p
}

// weekBatch has a load for a while each day, up to 20 minutes early or late.
func weekBatch(r *rand.Rand) plan {
	peak, hour, long := logUniform(r, 30, 120), 24*r.Float64(), seconds(r, 1200, 5400)
	var begin [days]time.Duration
	for i := range begin {
		begin[i] = time.Duration((float64(i)*24 + hour + 40.0/60*(r.Float64()-0.5)) * float64(time.Hour))
	}
	p := plan{lag: seconds(r, 30, 60), load: func(at time.Duration) float64 {
		for _, b := range begin {
			if (window{b, b + long}).holds(at) {
				return peak
			}
		}
		return 0.5
	}}
	p.Driver, p.Target, p.Min, p.Max = workload.DrivenByHPA, 0.8, 1, 200
	return p
}

// weekHourly has a load for some minutes of each hour.
func weekHourly(r *rand.Rand) plan {
	peak, long := logUniform(r, 12, 40), time.Duration(8+r.IntN(10))*time.Minute
	p := plan{lag: seconds(r, 20, 40), load: func(at time.Duration) float64 {
		if at%time.Hour < long {
			return peak
		}
		return 0.6
	}}
	p.Driver, p.Min, p.Max = workload.DrivenByKEDA, 1, 100
	return p
}
