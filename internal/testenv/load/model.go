package load

import (
	"time"
)

// Constants are the limits of a pod and the durations of the model.
type Constants struct {
	// Capacity is the CPU that a pod can use at most, in cores: its limit.
	Capacity float64
	// Fails is how long a pod can be overloaded before it fails its readiness, and
	// Recovers how long it is then without work until it is ready again.
	Fails, Recovers time.Duration
	// Window is the time between two samples of the pods' CPU.
	Window time.Duration
}

// rounding is how far sums of fractions of a core may be off.
const rounding = 1e-9

// A Pod is one as the cluster shows it.
type Pod struct {
	Name, Workload string // the workload as namespace/name
	Ready          bool
}

// A Reading is the CPU use of a pod in one sample, averaged over the window before it.
type Reading struct {
	Pod    string
	Cores  float64
	At     time.Time
	Window time.Duration
}

// A State is one workload at an instant. Work is in cores.
type State struct {
	Load   float64 // that there is to do
	Served float64 // that its ready pods do of it
	Pods   int
	Ready  int
}

// Whole reports whether all of the load is served.
func (s State) Whole() bool { return s.Served >= s.Load }

// A Model shows how pods behave under a load that does not depend on their number. The
// ready pods of a workload share its load evenly, up to the capacity of each pod. A
// Model is not safe for concurrent use.
type Model struct {
	Constants
	load map[string]float64
	pods map[string]*pod // by workload and name
	last time.Time       // of the last step
	look time.Time       // of the last CPU sample
}

// pod is the state of one pod in the model.
type pod struct {
	Pod
	started bool          // it has once been ready
	since   time.Time     // since when it is ready; zero is not
	over    time.Duration // for how long it has had more work than it can do
	down    time.Duration // for how long it has failed; 0 is not
	used    float64       // core seconds, ever
	seen    float64       // used, at the last sample
	looked  bool          // there was a sample
	reading *Reading
}

// ready reports whether the pod gets work: a failure counts before the cluster
// shows it, and a recovery only after.
func (p *pod) ready() bool { return p.Ready && p.down == 0 }

// NewModel returns a model of workloads under a load, in cores, by namespace and
// name: "shop/web".
func NewModel(c Constants, load map[string]float64) *Model {
	return &Model{Constants: c, load: load, pods: map[string]*pod{}}
}

// Step lets the pods work until now. It returns the pods whose readiness differs from
// their readiness in the cluster; Ready returns the right value. Each step returns a
// pod again until seen shows the change.
func (m *Model) Step(now time.Time, seen []Pod) []Pod {
	var passed time.Duration
	if !m.last.IsZero() {
		passed = now.Sub(m.last)
	}
	m.last = now
	m.see(seen)
	states := m.States()
	var wrong []Pod
	for _, p := range m.pods {
		p.work(m.Constants, states[p.Workload], passed)
		switch {
		case !p.ready():
			p.since = time.Time{}
		case p.since.IsZero():
			p.since = now
		}
		if wanted := p.down == 0; p.started && p.Ready != wanted {
			wrong = append(wrong, Pod{Name: p.Name, Workload: p.Workload, Ready: wanted})
		}
	}
	if m.look.IsZero() || now.Sub(m.look) >= m.Window {
		m.read(now)
	}
	return wrong
}

// see takes in which pods there are, and forgets those that are gone.
func (m *Model) see(seen []Pod) {
	here := make(map[string]bool, len(seen))
	for _, s := range seen {
		key := s.Workload + "/" + s.Name
		here[key] = true
		p := m.pods[key]
		if p == nil {
			p = &pod{}
			m.pods[key] = p
		}
		p.Pod = s
		p.started = p.started || s.Ready
	}
	for key := range m.pods {
		if !here[key] {
			delete(m.pods, key)
		}
	}
}

// work lets a pod do its share for a while.
func (p *pod) work(c Constants, of State, passed time.Duration) {
	switch {
	case p.down > 0:
		if p.down += passed; p.down > c.Recovers {
			p.down, p.over = 0, 0
		}
		return
	case !p.ready():
		return
	}
	share := of.Load / float64(of.Ready)
	p.used += min(share, c.Capacity) * passed.Seconds()
	if share <= c.Capacity*(1+rounding) {
		p.over = 0
		return
	}
	if p.over += passed; p.over >= c.Fails {
		p.down = 1 // the first instant of it
	}
}

// read samples the CPU of all pods. The first sample of a pod gives no reading yet.
func (m *Model) read(now time.Time) {
	window := now.Sub(m.look)
	for _, p := range m.pods {
		if p.looked {
			p.reading = &Reading{Pod: p.Name, Cores: (p.used - p.seen) / window.Seconds(), At: now, Window: window}
		}
		p.seen, p.looked = p.used, true
	}
	m.look = now
}

// Readings returns the readings of one workload's pods in the last sample.
func (m *Model) Readings(workload string) []Reading {
	var all []Reading
	for _, p := range m.pods {
		if p.Workload == workload && p.reading != nil {
			all = append(all, *p.reading)
		}
	}
	return all
}

// Measured reports whether a workload has a ready pod, and the last sample covers all
// of its ready pods, with a window in which they were ready.
func (m *Model) Measured(workload string) bool {
	ready := 0
	for _, p := range m.pods {
		if p.Workload != workload || !p.ready() {
			continue
		}
		if p.reading == nil || p.reading.At.Add(-p.reading.Window).Before(p.since) {
			return false
		}
		ready++
	}
	return ready > 0
}

// States returns the present state of each workload, including workloads without a pod.
func (m *Model) States() map[string]State {
	states := map[string]State{}
	for name, load := range m.load {
		states[name] = State{Load: load}
	}
	for _, p := range m.pods {
		s, ok := states[p.Workload]
		if !ok {
			continue
		}
		s.Pods++
		if p.ready() {
			s.Ready++
		}
		states[p.Workload] = s
	}
	for name, s := range states {
		s.Served = min(s.Load, float64(s.Ready)*m.Capacity*(1+rounding))
		states[name] = s
	}
	return states
}
