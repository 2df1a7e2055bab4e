package repo

import "slices"

// A Window is the set of commits that a tip has and a base does not.
type Window struct {
	// Commits are the commits that the tip descends from and the base does not. Each
	// commit comes before its parents.
	Commits []LogEntry
	// Descends is true if the tip is the base, or descends from it.
	Descends bool
	// Cut is true if the window cannot be determined: it is too large, or the repository
	// does not have all of its commits. The other fields are then zero.
	Cut bool
}

// Walk returns the window for an adapter that looks up commits one by one. It looks up at
// most the given number of commits.
//
// It walks from both ends in turn, so the number of lookups is about the size of the
// window. If another path from the base into the window is more than slop commits longer
// than the path that closes the window, Walk returns the commits of that path as new.
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

// slop is the number of commits behind the base that Walk looks up after it has closed
// the window. It does this to find other paths from the base into the window.
const slop = 16

// A walk is the state of Walk.
type walk struct {
	look  Look
	left  int  // maximum number of further lookups
	lacks bool // a commit of the tip's side was not found

	found         map[string]LogEntry // commits of the tip's side, by id
	old           map[string]bool     // the base and its ancestors
	ahead, behind []string            // commits to look up next, on each side
}

// newer looks up one commit on the tip's side.
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

// older looks up one commit on the base's side. It removes the ancestors of the base from
// the tip's side.
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

// open reports whether there are more commits to look up: on the tip's side, or on the
// base's side if they may show that a commit of the window is old. A root commit in the
// window is probably old, because the base usually has the same root.
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

// reaches reports whether a commit of the window has the base as a parent.
func (w *walk) reaches(base string) bool {
	for _, c := range w.found {
		if slices.Contains(c.Parents, base) {
			return true
		}
	}
	return false
}

// ordered returns the window with each commit before its parents.
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
