package backtest

import "github.com/gitlatch/gitlatch/internal/policy"

// A meter compares the levels of one workload with its desired replicas, from the first
// level on. Times are Unix seconds.
type meter struct {
	gap     int64 // maximum time between samples; a longer time is not observed
	lasting int64

	begun    bool
	sampled  int64 // time of the last sample, the source of need
	need     int32
	declared int32
	until    int64 // end of the measured time

	whole int64  // start of the time in which the workload is observed, healthy and not at 0
	low   []mark // desired replicas since then, ascending: candidates for the minimum that lasted

	seconds float64 // time with a level, and with desired replicas above 0
	covered float64 // part of seconds
	needed  float64 // pod seconds
	waste   float64 // pod seconds
	worst   Worst
}

type mark struct {
	at   int64
	need int32
}

// sample adds the next sample.
func (m *meter) sample(at int64, f fields) {
	if m.begun && at-m.sampled > m.gap {
		m.until, m.low = at, m.low[:0]
	}
	m.pass(at)
	m.begun = true
	m.sampled = at
	m.need = f[desired]
	if f[desired] <= 0 || policy.Unready(f.scale()) {
		m.low = m.low[:0]
		return
	}
	if len(m.low) == 0 {
		m.whole = at
	}
	for n := len(m.low); n > 0 && m.low[n-1].need >= m.need; n-- {
		m.low = m.low[:n-1]
	}
	m.low = append(m.low, mark{at, m.need})
	for m.low[0].at < at-m.lasting {
		m.low = m.low[1:]
	}
}

// declare sets the level from a time on.
func (m *meter) declare(at int64, level int32) {
	m.pass(at)
	m.declared = level
}

// pass measures up to a time with the present values.
func (m *meter) pass(to int64) {
	elapsed := float64(to - m.until)
	m.until = to
	if !m.begun || m.declared == 0 || elapsed <= 0 {
		return
	}
	need, declared := float64(m.need), float64(m.declared)
	m.waste += max(0, declared-need) * elapsed
	if m.need > 0 {
		m.seconds += elapsed
		m.covered += min(1, declared/need) * elapsed
		m.needed += need * elapsed
	}
	if len(m.low) > 0 && m.whole <= m.sampled-m.lasting {
		low := m.low[0].need
		if share := declared / float64(low); m.worst.Need == 0 || share < m.worst.Share {
			m.worst = Worst{Share: min(1, share), At: instant(m.sampled), Need: low, Declared: m.declared}
		}
	}
}
