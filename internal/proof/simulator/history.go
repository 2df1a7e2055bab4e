package simulator

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/proof/law"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// A History is the initial files of a site, and its events, one per line.
type History struct {
	Files map[string]string
	Lines []string
}

// A Played is a history that was played.
type Played struct {
	History
	*law.Witness
	Events map[string]int // the number of draws of each kind of event
	Cloud  bool           // it has the adapters of AWS
}

// Random draws a history of the given number of events from a seed, and plays it until
// it breaks a law. clouds is the share of histories with the adapters of AWS, in percent.
func Random(seed uint64, events, clouds int) Played {
	d := newDraw(seed, clouds)
	p := Played{History: History{Files: d.files}, Events: map[string]int{}, Cloud: d.cloud}
	s := story.New(d.files)
	p.Witness = law.Watch(s)
	killed := false // a tick of the present event died
	do := func(lines ...string) {
		for _, line := range lines {
			if len(p.Violations) > 0 {
				return
			}
			p.Lines = append(p.Lines, line)
			_ = s.Do(line) // an event that is not possible has no effect
			killed = killed || errors.Is(s.Last.Failed, story.ErrKilled)
		}
	}
	do(d.begin()...)
	for i := 0; i < events && len(p.Violations) == 0; i++ {
		e, lines := d.event()
		p.Events[e.name]++
		beside := e.mortal() && d.IntN(3) == 0
		if beside {
			lines = d.withDeath(lines)
		}
		killed = false
		do(lines...)
		if beside && killed {
			p.Events[e.withDeath()]++
		}
		if i%20 == 19 {
			do(d.calm()...)
		}
	}
	do(d.calm()...)
	do(fmt.Sprintf("try %d", quiet))
	return p
}

// quiet is the number of calm ticks at the end of a history: more than the longest hold and
// the longest edit grace period that is drawn, and an hour.
const quiet = 66

// Play plays a history until it breaks a law.
func (h History) Play() *law.Witness {
	s := story.New(h.Files)
	w := law.Watch(s)
	for _, line := range h.Lines {
		if _ = s.Do(line); len(w.Violations) > 0 {
			break
		}
	}
	return w
}

// Breaks reports whether a history breaks a law.
func (h History) Breaks(name string) bool {
	w := h.Play()
	return len(w.Violations) > 0 && w.Violations[0].Law == name
}

// Shrink leaves out the lines that a history does not need to break a law: halves,
// quarters and so on, then single lines, then ticks.
func (h History) Shrink(name string) History {
	for size := len(h.Lines) / 2; size > 0; {
		smaller := false
		for from := 0; from < len(h.Lines); {
			without := h.with(from, size)
			if without.Breaks(name) {
				h, smaller = without, true
				continue
			}
			from += size
		}
		if !smaller || size > 1 {
			size /= 2
		}
	}
	for i, line := range h.Lines {
		times := 0
		if _, err := fmt.Sscanf(line, "try %d", &times); err != nil {
			continue
		}
		for n := 1; n < times; n++ {
			if fewer := h.with(i, 1, fmt.Sprintf("try %d", n)); fewer.Breaks(name) {
				h = fewer
				break
			}
		}
	}
	return h
}

// with returns the history with size lines replaced by others, starting at from.
func (h History) with(from, size int, lines ...string) History {
	return History{h.Files, slices.Concat(h.Lines[:from], lines, h.Lines[min(from+size, len(h.Lines)):])}
}

// Scenario returns a history as a file of testdata/scenarios.
func (h History) Scenario(words string) []byte {
	a := &txtar.Archive{Comment: []byte(words + "\n")}
	for name, text := range h.Files {
		a.Files = append(a.Files, txtar.File{Name: name, Data: []byte(text)})
	}
	a.Files = append(a.Files, txtar.File{Name: "story", Data: []byte(strings.Join(h.Lines, "\n") + "\n")})
	return txtar.Format(a)
}
