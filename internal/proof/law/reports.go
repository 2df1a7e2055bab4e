package law

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
)

// reports compares each commit of the tick with its message, and the Components that it
// wrote with the checkpoint files. At the tip, a Component may wait for the budget.
func reports(s *Seen) string {
	for _, c := range s.Mine {
		for _, change := range c.Changes {
			if !mentions(c.Message, change) {
				return fmt.Sprintf("%s changes %s from %+v to %+v, and its message does not show this", subject(c), change.ID, change.From, change.To)
			}
		}
		for _, path := range c.Paths {
			namespace, is := strings.CutSuffix(strings.TrimPrefix(path, checkpoint.Directory(s.World.Site)+"/"), "/checkpoint.yaml")
			if is && s.differs(c.ID, namespace) {
				return fmt.Sprintf("%s writes the checkpoint file of %s, and not the same levels in its Component", subject(c), namespace)
			}
		}
	}
	return s.outdated()
}

// mentions reports whether a message has a line for each part of a change.
func mentions(message string, change checkpoint.Change) bool {
	line := func(text string) bool {
		return regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(change.ID.String()) + text).MatchString(message)
	}
	from, to := change.From, change.To
	retired := to.IsZero() && line(` .* -> retired: `)
	level := from.WithRollout(to.Rollout) == to || line(fmt.Sprintf(` .* -> %d: `, to.Replicas))
	rollout := from.Rollout == to.Rollout || line(` rollout .* -> `)
	return retired || level && rollout
}

// patched is a number in a Component, with the name of its workload.
var patched = regexp.MustCompile(`(?m)name: "([^"]+)"}\n  patch: .*[ :](\d+)}+\]?'$`)

// differs reports whether the Component of a namespace has other levels than its
// checkpoint file in a commit.
func (w *Witness) differs(commit, namespace string) bool {
	has, want := map[string]int{}, map[string]int{}
	for _, m := range patched.FindAllStringSubmatch(w.story.Repository.Show(commit)[checkpoint.ComponentPath(w.story.Site, namespace)], -1) {
		has[m[1]+" "+m[2]]++
	}
	for id, e := range w.at(commit) {
		if id.Namespace == namespace && e.Replicas > 0 {
			want[fmt.Sprintf("%s %d", id.Name, e.Replicas)]++
		}
	}
	return !maps.Equal(has, want)
}

// outdated counts the calm ticks in which a Component at the tip differs from its
// checkpoint file, or the file has numbers without quotes, although the budget has a commit,
// and returns a text if there were too many in a row. A Component waits for the edit grace
// period of removed entries.
func (s *Seen) outdated() string {
	calm := s.Calm && !s.World.Propose && !s.Told.Observe && !s.Told.Stop.All && s.Told.Stop.Reason != policy.ReasonSecond
	for _, l := range s.After.Latches {
		calm = calm && !s.Told.At.Before(l.RemovedUntil)
	}
	wrong := ""
	if calm {
		wrong = s.staleAt(s.After.Tip)
	}
	switch {
	case wrong == "":
		s.Witness.stale = 0
	case policy.Affords(s.Told.Set.Guards, s.Before.Head.Budget, s.Told.At):
		s.Witness.stale++
	}
	if s.stale <= 3 {
		return ""
	}
	return fmt.Sprintf("the Component of %s differs from its checkpoint file, or the file lacks quotes, for %d calm ticks with a commit in the budget", wrong, s.stale)
}

// bare is a number without quotes in a checkpoint file.
var bare = regexp.MustCompile(`(?m)^  \S+: \d+$`)

// staleAt returns a namespace whose Component differs from its checkpoint file in a
// commit, or whose checkpoint file has numbers without quotes; "" without such a namespace.
func (w *Witness) staleAt(commit string) string {
	if w.compared != commit {
		w.compared, w.differing = commit, ""
		broken := w.unread(commit)
		for id := range w.at(commit) {
			record := w.story.Repository.Show(commit)[checkpoint.RecordPath(w.story.Site, id.Namespace)]
			if broken[id.Namespace] == nil && (w.differs(commit, id.Namespace) || bare.MatchString(record)) {
				w.differing = id.Namespace
			}
		}
	}
	return w.differing
}
