package backtest

import "github.com/gitlatch/gitlatch/internal/policy"

// A meter measures what was declared of one workload against what it needed,
// from its first level on. Instants are Unix seconds.
type meter struct {
	gap     int64 // between samples, above which the time was not observed
	lasting int64

	begun    bool
	sampled  int64 // the last sample, which need is of
	need     int32
	declared int32
	until    int64 // what was measured

	whole int64  // since when the workload was observed, healthy and not at 0
	low   []mark // needs since then, ascending: those that may yet be the lowest that lasted

	seconds float64 // in which there was a need and a level
	covered float64 // of these
	needed  float64 // pod seconds
	waste   float64 // pod seconds
	worst   Worst
}

type mark struct {
	at   int64
	need int32
}

// sample takes the next sample.
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

// declare takes a level that holds from an instant on.
func (m *meter) declare(at int64, level int32) {
	m.pass(at)
	m.declared = level
}

// pass measures up to an instant with what holds until then.
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
