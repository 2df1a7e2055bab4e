package repo

import "slices"

// A Window is what a tip has beyond a base.
type Window struct {
	// Commits are those that the tip descends from and the base does not, each
	// before its parents.
	Commits []LogEntry
	// Descends is true where the tip is the base, or descends from it.
	Descends bool
	// Cut is true where that cannot be told: the window is too large, or the
	// repository lacks a part of it. The rest is zero then.
	Cut bool
}

// Walk finds a window for an adapter that looks commits up one by one, so many
// at most.
//
// It walks from both ends in turn, so that a window costs about its own size.
// Where the base leads into the window by a far longer way than by the one that
// closes it, the commits of that way are taken for new.
func Walk(base, tip string, most int, look Look) (Window, error) {
	w := walk{look: look, left: most, found: map[string]LogEntry{}, old: map[string]bool{base: true}, behind: []string{base}}
	if tip != base {
		w.ahead = []string{tip}
	}
	for beyond := 0; w.open(base, beyond); {
		if w.left <= 0 {
			return Window{Cut: true}, nil
		}
		if len(w.ahead) == 0 {
			beyond++
		}
		if err := w.newer(); err != nil {
			return Window{}, err
		}
		if w.open(base, beyond) {
			if err := w.older(); err != nil {
				return Window{}, err
			}
		}
	}
	descends := w.reaches(base) || tip == base
	if w.lacks && !descends {
		return Window{Cut: true}, nil
	}
	return Window{Commits: w.ordered(tip), Descends: descends}, nil
}

// slop is how many commits of the past are looked at beyond the one that closes
// a window, for another way into it.
const slop = 16

// A walk is a window that is being found.
type walk struct {
	look  Look
	left  int  // commits that may still be looked up
	lacks bool // one was not there

	found         map[string]LogEntry // of the tip's side
	old           map[string]bool     // the base, and what it descends from
	ahead, behind []string            // to be looked up next, on each side
}

// newer looks up one commit of the tip's side.
func (w *walk) newer() error {
	if len(w.ahead) == 0 {
		return nil
	}
	id := w.ahead[0]
	w.ahead = w.ahead[1:]
	c, ok, err := w.look(id)
	w.left--
	if err != nil || !ok {
		w.lacks = w.lacks || !ok
		return err
	}
	w.found[id] = c
	for _, parent := range c.Parents {
		if _, known := w.found[parent]; !known && !w.old[parent] && !slices.Contains(w.ahead, parent) {
			w.ahead = append(w.ahead, parent)
		}
	}
	return nil
}

// older looks up one commit of the base's side. What the tip's side took for new
// and is not is taken from it.
func (w *walk) older() error {
	if len(w.behind) == 0 {
		return nil
	}
	id := w.behind[0]
	w.behind = w.behind[1:]
	c, ok, err := w.look(id)
	w.left--
	if err != nil || !ok {
		return err
	}
	for next := c.Parents; len(next) > 0; next = next[1:] {
		parent := next[0]
		if w.old[parent] {
			continue
		}
		w.old[parent] = true
		if c, taken := w.found[parent]; taken {
			delete(w.found, parent)
			next = append(slices.Clone(next), c.Parents...)
			continue
		}
		w.ahead = slices.DeleteFunc(w.ahead, func(id string) bool { return id == parent })
		w.behind = append(w.behind, parent)
	}
	return nil
}

// open reports whether there is more to look up: of the window, or of what leads
// to the base where that may show some of the window to be old. A root among the
// commits of the window is one that the base has hardly not.
func (w *walk) open(base string, beyond int) bool {
	if len(w.ahead) > 0 || len(w.behind) == 0 {
		return len(w.ahead) > 0
	}
	for _, c := range w.found {
		if len(c.Parents) == 0 {
			return true
		}
		for _, parent := range c.Parents {
			if _, inside := w.found[parent]; !inside && parent != base && beyond < slop {
				return true
			}
		}
	}
	return false
}

// reaches reports whether the window stands on the base.
func (w *walk) reaches(base string) bool {
	for _, c := range w.found {
		if slices.Contains(c.Parents, base) {
			return true
		}
	}
	return false
}

// ordered is the window with each commit before its parents.
func (w *walk) ordered(tip string) (commits []LogEntry) {
	children := map[string]int{}
	for _, c := range w.found {
		for _, parent := range c.Parents {
			children[parent]++
		}
	}
	for ready := []string{tip}; len(ready) > 0; {
		id := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		c, inside := w.found[id]
		if !inside {
			continue
		}
		commits = append(commits, c)
		for _, parent := range slices.Backward(c.Parents) {
			children[parent]--
			if children[parent] == 0 {
				ready = append(ready, parent)
			}
		}
	}
	return commits
}
