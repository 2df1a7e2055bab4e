package fleet

import (
	"cmp"
	"container/heap"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A clock is time that passes only while every actor waits for it. Actors are
// goroutines. One of them runs at a time, in the order of their instants, so every run
// is the same.
//
// Deeds are the actors' calls to the repository. They take real time, so they run ahead
// of the clock, several at once, if their order does not matter: an actor decides on a
// deed at least lookahead before it.
type clock struct {
	now  time.Duration
	next events
	made int           // events so far; it orders the events of one instant
	idle chan struct{} // the running actor waits, or has ended
}

// lookahead is the minimum time from an actor's decision to a deed.
const lookahead = requestTakes / 2

type event struct {
	at   time.Duration
	made int
	wake chan struct{}
	deed *deed
}

// A deed reads a branch of the repository, or moves it.
type deed struct {
	branch string
	moves  bool
	do     func()
	done   bool
}

func newClock() *clock { return &clock{idle: make(chan struct{})} }

// start starts an actor at an instant.
func (c *clock) start(at time.Duration, f func()) {
	wake := make(chan struct{})
	c.add(at, wake, nil)
	go func() {
		<-wake
		f()
		c.idle <- struct{}{}
	}()
}

// sleep lets time pass for the actor that calls it.
func (c *clock) sleep(d time.Duration) { c.act(d, nil) }

// act sleeps, and then executes a deed.
func (c *clock) act(after time.Duration, d *deed) {
	wake := make(chan struct{})
	c.add(c.now+after, wake, d)
	c.park(wake)
}

// park waits until another actor wakes the calling one.
func (c *clock) park(wake chan struct{}) {
	c.idle <- struct{}{}
	<-wake
}

func (c *clock) add(at time.Duration, wake chan struct{}, d *deed) {
	c.made++
	heap.Push(&c.next, &event{at, c.made, wake, d})
}

// run lets time pass until no actor waits for it.
func (c *clock) run() {
	for len(c.next) > 0 {
		if d := c.next[0].deed; d != nil && !d.done {
			c.ahead()
		}
		e := heap.Pop(&c.next).(*event)
		c.now = e.at
		e.wake <- struct{}{}
		<-c.idle
	}
}

// ahead runs the next deed, and the deeds that no actor can precede any more.
func (c *clock) ahead() {
	until := c.next[0].at + lookahead
	var due []*event
	for _, e := range c.next {
		if e.deed != nil && !e.deed.done && e.at < until {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, before)
	for len(due) > 0 {
		n := 1
		for n < len(due) && !slices.ContainsFunc(due[:n], func(e *event) bool { return e.deed.orders(due[n].deed) }) {
			n++
		}
		together(due[:n])
		due = due[n:]
	}
}

// orders reports whether the order of two deeds matters.
func (d *deed) orders(other *deed) bool {
	return d.branch == other.branch && (d.moves || other.moves)
}

func together(due []*event) {
	var all sync.WaitGroup
	turns := make(chan struct{}, runtime.NumCPU())
	for _, e := range due {
		all.Go(func() {
			turns <- struct{}{}
			e.deed.do()
			e.deed.done = true
			<-turns
		})
	}
	all.Wait()
}

func before(a, b *event) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.made, b.made))
}

// events are a heap with the next event on top.
type events []*event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return before(e[i], e[j]) < 0 }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(*event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// workers are functions that may run concurrently. The others wait in the order of their
// arrival.
type workers struct {
	*clock
	free    int
	waiting []chan struct{}
}

func (w *workers) begin() {
	if w.free > 0 {
		w.free--
		return
	}
	wake := make(chan struct{})
	w.waiting = append(w.waiting, wake)
	w.park(wake)
}

func (w *workers) end() {
	if len(w.waiting) == 0 {
		w.free++
		return
	}
	w.add(w.now, w.waiting[0], nil)
	w.waiting = w.waiting[1:]
}
