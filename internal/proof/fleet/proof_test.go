package fleet

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A commit is a commit of the repository, as git log prints it.
type commit struct {
	id, author, subject string
	at                  time.Time
	site, intent        string // from its trailers
	files               []string
	levels              []rewrite
}

// A rewrite is a change to the level of a workload; 0 means no entry.
type rewrite struct {
	site     string
	id       workload.ID
	from, to int32
}

const commitFormat = "%x01%H%x00%an%x00%s%x00%at%x00%(trailers:key=Gitlatch-Site,valueonly,separator=%x2C)%x00%(trailers:key=Gitlatch-Intent,valueonly,separator=%x2C)"

// commits returns the commits of all branches except the first of each, parents before
// children.
func (r *run) commits() (all []commit) {
	log := r.origin.Git(r.t, "log", "--branches", "--reverse", "--topo-order", "--min-parents=1", "--unified=0", "--patch", "--no-renames", "--format="+commitFormat)
	for _, text := range strings.Split(log, "\x01")[1:] {
		head, patch, _ := strings.Cut(text, "\n")
		f := strings.Split(head, "\x00")
		seconds, err := strconv.ParseInt(f[3], 10, 64)
		if err != nil {
			r.t.Fatal(err)
		}
		c := commit{id: f[0], author: f[1], subject: f[2], at: time.Unix(seconds, 0).UTC(), site: f[4], intent: f[5]}
		c.read(patch)
		all = append(all, c)
	}
	return all
}

var (
	changed = regexp.MustCompile(`^diff --git a/(\S+) b/`)
	stated  = regexp.MustCompile(`^([-+])  deployment\.([a-z]+): "([0-9]+)"$`)
)

// read returns the changed files and levels of a patch.
func (c *commit) read(patch string) {
	levels := map[workload.ID]*rewrite{}
	var site, namespace string
	for line := range strings.Lines(patch) {
		line = strings.TrimSuffix(line, "\n")
		if m := changed.FindStringSubmatch(line); m != nil {
			c.files = append(c.files, m[1])
			namespace = strings.TrimSuffix(path.Base(m[1]), ".levels.yaml")
			site = path.Base(path.Dir(m[1]))
		}
		m := stated.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		w := id(namespace, m[2])
		if levels[w] == nil {
			levels[w] = &rewrite{site: site, id: w}
		}
		n, _ := strconv.ParseInt(m[3], 10, 32)
		if m[1] == "-" {
			levels[w].from = int32(n)
		} else {
			levels[w].to = int32(n)
		}
	}
	for _, w := range slices.SortedFunc(maps.Keys(levels), workload.Compare) {
		c.levels = append(c.levels, *levels[w])
	}
}

// proof compares git with the events of the run. It returns the number of ticks that
// each level change took to land, counted from the second tick that saw the rise (1),
// which is the first that could decide it.
func (r *run) proof() (ticks []int) {
	commits := r.commits()
	by := map[string]commit{}
	ours := map[string][]rewrite{} // by site and workload, in order
	landed := map[string][]int{}   // the numbers of their periods
	intents := map[string]string{}
	for _, c := range commits {
		by[c.id] = c
		if c.author != repo.DefaultAuthor.Name {
			continue
		}
		if c.site == "" || c.intent == "" || strings.Contains(c.intent, ",") {
			r.t.Errorf("commit %s has the trailers %q and %q", c.id, c.site, c.intent)
		}
		if before := intents[c.intent]; before != "" {
			r.t.Errorf("intent %s landed twice, by %s and %s", c.intent, before, c.id)
		}
		intents[c.intent] = c.id
		for _, file := range c.files {
			if !strings.HasPrefix(file, checkpoint.Directory(c.site)+"/") {
				r.t.Errorf("commit %s of %s changes %s", c.id, c.site, file)
			}
		}
		for _, l := range c.levels {
			key := l.site + "/" + l.id.String()
			ours[key] = append(ours[key], l)
			landed[key] = append(landed[key], int(c.at.Sub(begin)/period))
		}
	}
	for _, l := range r.looks {
		if l.commit != "" && by[l.commit].site != l.site {
			r.t.Errorf("%s says that it made %s, which git does not have as its own", l.site, l.commit)
		}
	}
	for _, s := range r.sites {
		r.agrees(s)
		_, latches := s.state()
		for _, w := range workloads {
			key := s.name + "/" + w.String()
			took, err := s.landed(w, ours[key], landed[key])
			if err != nil && !s.waits(w, latches) {
				r.t.Errorf("%s: %v", key, err)
			}
			if slices.ContainsFunc(took, func(n int) bool { return n < 1 }) {
				r.t.Errorf("%s: took %v ticks: one landed before two had seen it", key, took)
			}
			ticks = append(ticks, took...)
		}
	}
	r.othersStand(commits)
	r.origin.Check(r.t)
	return ticks
}

// landed returns how many ticks each rise of a workload took to land, from its commits
// and their periods. A rise that waited may land together with the next one.
func (s *site) landed(w workload.ID, commits []rewrite, periods []int) (ticks []int, err error) {
	from := level(s.needs[w])
	rises := s.rises[w]
	for i, c := range commits {
		due := rises
		for len(rises) > 0 && level(s.need(w, rises[0])) <= c.to {
			ticks = append(ticks, periods[i]-int(rises[0]/period))
			rises = rises[1:]
		}
		if n := len(due) - len(rises); n == 0 || c.from != from || level(s.need(w, due[n-1])) != c.to {
			return ticks, fmt.Errorf("committed were %v, and it rose at %v", commits, s.rises[w])
		}
		from = c.to
	}
	if len(rises) > 0 {
		return ticks, fmt.Errorf("what rose at %v never landed", rises)
	}
	return ticks, nil
}

// agrees compares the latches of a site with the agreed tree. If a tick died or lost a
// race, the next tick saves the pushed commit.
func (r *run) agrees(s *site) {
	head, latches := s.state()
	for _, w := range workloads {
		record := r.show(head.Agreed.Tip, checkpoint.RecordPath(s.name, w.Namespace))
		declared := latches[w].Declared.Replicas
		if !strings.Contains(record, fmt.Sprintf("  deployment.%s: \"%d\"\n", w.Name, declared)) {
			r.t.Errorf("%s: %s is latched at %d, and git has\n%s", s.name, w, declared, record)
		}
	}
	if r.edited[s.name] && latches[byHand].Declared.Replicas != handsLevel {
		r.t.Errorf("%s: a person wrote %d, and the latch is at %d", s.name, handsLevel, latches[byHand].Declared.Replicas)
	}
}

// othersStand checks that every commit of a user is on its branch, unchanged.
func (r *run) othersStand(commits []commit) {
	people := 0
	for _, c := range commits {
		if c.subject == byHandSubject {
			people++
		}
	}
	if want := len(r.written) + len(r.edited); people != want {
		r.t.Errorf("%d commits of people are on branches, of %d", people, want)
	}
	for at, text := range r.written {
		branch, file, _ := strings.Cut(at, ":")
		if got := r.show(branch, file); got != text {
			r.t.Errorf("%s is %q, and a person wrote %q", at, got, text)
		}
	}
}

// edit is a user's edit of a checkpoint file.
func edit(record string) string {
	return regexp.MustCompile(`(deployment\.zone): "[0-9]+"`).ReplaceAllString(record, fmt.Sprintf(`$1: "%d"`, handsLevel))
}

const (
	byHandSubject = "by hand"
	handsLevel    = 77
)

// show returns the text of a path in a branch or in the agreed tree. The first call
// reads all paths at once.
func (r *run) show(at, file string) string {
	if r.held == nil {
		r.held = map[string]string{}
		var ask strings.Builder
		var asked []string
		for _, s := range r.sites {
			for _, namespace := range []string{"pay", "shop"} {
				head, _ := s.state()
				asked = append(asked, head.Agreed.Tip+":"+checkpoint.RecordPath(s.name, namespace))
			}
		}
		for _, at := range append(asked, slices.Sorted(maps.Keys(r.written))...) {
			fmt.Fprintln(&ask, at)
		}
		// each file starts with a line with its size, and ends with a line break
		out := r.origin.GitInput(r.t, ask.String(), "cat-file", "--batch") + "\n"
		for asked := range strings.Lines(ask.String()) {
			head, rest, _ := strings.Cut(out, "\n")
			f := strings.Fields(head)
			if len(f) != 3 {
				r.t.Fatalf("git has of %s %q", asked, head)
			}
			size, err := strconv.Atoi(f[2])
			if err != nil {
				r.t.Fatal(err)
			}
			r.held[strings.TrimSuffix(asked, "\n")] = rest[:size]
			out = rest[size+1:]
		}
	}
	return r.held[at+":"+file]
}
