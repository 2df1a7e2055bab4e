package simulate

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// A load is the work of a workload at a time, as the number of pods that would be exactly
// at their target.
type load func(at time.Duration) float64

// clock returns the hour of the day at a time of the trace.
func clock(at time.Duration) float64 {
	return math.Mod(start.Add(at).Sub(start.Truncate(24*time.Hour)).Hours(), 24)
}

// daily returns a load that changes over the day: sinusoidal in its logarithm, from peak
// down to peak/swing. The days differ by about 4 %, and the change from one day to the
// next takes from midnight to five in the morning.
func daily(r *rand.Rand, peak, swing, hour float64) load {
	var day [4]float64 // Monday to Thursday
	for i := range day {
		day[i] = math.Exp(0.04 * r.NormFloat64())
	}
	return func(at time.Duration) float64 {
		high := (1 + math.Cos(2*math.Pi*(clock(at)-hour)/24)) / 2
		elapsed := (at + 18*time.Hour).Hours() / 24 // days since Monday's midnight
		i := int(elapsed)
		turned := min(1, (elapsed-float64(i))*24/5) // until five in the morning
		if i == 0 {
			turned = 1
		}
		factor := day[i]*turned + day[max(0, i-1)]*(1-turned)
		return factor * peak * math.Pow(swing, high-1)
	}
}

// saleOf returns a load of 2.6 pods with one sale on the day. It rises to 5 % above peak
// in 45 minutes, stays there for 50 minutes, and then halves every 12 minutes.
func saleOf(peak float64) load {
	const idle, ramp, stay, half = 2.6, 45 * time.Minute, 50 * time.Minute, 12 * time.Minute
	begin := wednesday(18, 30)
	return func(at time.Duration) float64 {
		top := 1.05 * peak
		switch since := at - begin; {
		case since < 0:
			return idle
		case since < ramp:
			return idle * math.Pow(top/idle, float64(since)/float64(ramp))
		case since < ramp+stay:
			return top
		default:
			return max(idle, top*math.Pow(0.5, float64(since-ramp-stay)/float64(half)))
		}
	}
}

// spike returns a load of half an hour a day, up to 20 minutes early or late.
func spike(r *rand.Rand, peak, hour float64) load {
	var begin [4]time.Duration
	for i := range begin {
		minutes := float64(i)*24*60 - 18*60 + hour*60 + 40*(r.Float64()-0.5)
		begin[i] = time.Duration(minutes * float64(time.Minute))
	}
	return func(at time.Duration) float64 {
		for _, b := range begin {
			if (window{b, b + 30*time.Minute}).holds(at) {
				return peak
			}
		}
		return 0.5
	}
}

// working returns a load that is 0 outside some hours of the day.
func working(l load, from, to float64) load {
	return func(at time.Duration) float64 {
		if h := clock(at); h < from || h >= to {
			return 0
		}
		return l(at)
	}
}

// until returns a load that is multiplied until a time.
func until(l load, end time.Duration, times float64) load {
	return func(at time.Duration) float64 {
		if at < end {
			return times * l(at)
		}
		return l(at)
	}
}

// edge returns the factor of the outage for a load behind the edge: almost 0 during the
// outage, and then a rush of callers that try again.
func edge(at time.Duration) float64 {
	switch since := at - outage.to; {
	case at < outage.from:
		return 1
	case since < 0:
		return max(0.02, 1-float64(at-outage.from)/float64(3*time.Minute))
	default:
		back := min(1, 0.02+float64(since)/float64(4*time.Minute))
		return back * (1 + 0.1*math.Exp(-float64(since)/float64(10*time.Minute)))
	}
}

// noise is the noise of a load: a slow part of 4.5 % with a memory of 8 minutes, and a
// quick part of 2 %.
type noise struct {
	r    *rand.Rand
	slow float64
}

func (n *noise) next() float64 {
	const slow, quick, memory = 0.045, 0.02, 8 * time.Minute
	keep := math.Exp(-float64(step) / float64(memory))
	n.slow = keep*n.slow + math.Sqrt(1-keep*keep)*slow*n.r.NormFloat64()
	return max(0.5, 1+n.slow+quick*n.r.NormFloat64())
}

// source returns a separate random source for a name.
func source(seed uint64, name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
