package law

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Law is a promise. Broken describes how a tick broke it, or returns "".
type Law struct {
	Name   string
	Broken func(*Seen) string
}

// Laws are the promises of gitlatch under all conditions.
var Laws = []Law{
	{"no commit of a person is lost", lost},
	{"no checkpoint is committed twice", twice},
	{"after a calm tick, git and latches agree", disagree},
	{"a calm tick comes to its end", fails},
	{"while a restore's brake is valid, git does not lower the workload", brakes},
	{"nothing is lowered while it is frozen, nor below what it needed for its hold", lowers},
	{"a commit that only lowers waits for twice the hold", alone},
	{"what runs is not retired, nor much at once", retires},
	{"a record of a rollout does not say the wrong template for longer than its rule", misleads},
	{"a commit is paid for once", overpays},
	{"gitlatch yields to people alone", yields},
	{"an urgent raise waits for its hold and two ticks", late},
	{"a mass drop ends by recovery, or a person's word", ends},
	{"an alert is sent as soon as the topic takes it", mute},
	{"whoever lost the lease writes nothing", unfenced},
	{"a commit changes the site's own files alone", strays},
	{"nothing is declared to be 0", zero},
	{"one commit does not opt many workloads out, unless it is the second", atOnce},
	{"git has too little for a workload for 6 hours only if a user can see why", silent},
	{"a level follows a constant need in time", stuck},
	{"a user's rollout entry stays for the edit grace period, and a minimum and maximum unless the policy latches them", users},
	{"a commit's message has every change, and an API server accepts the files that it writes", reports},
	{"an alert tells that the levels are not applied, in time and only then", applied},
	{"a site observes only if its last policy does, or nothing knows that policy", observes},
}

func lost(s *Seen) string {
	if s.Moved {
		return fmt.Sprintf("the branch is at %s, which does not descend from %s", s.After.Tip, s.Before.Tip)
	}
	for _, change := range s.changes() {
		for id, l := range s.Before.Latches {
			former := sameObject(id, change.ID) && !s.names(id.Kind)
			if change.From.IsZero() && l.OptedOut && (id == change.ID || former) {
				return fmt.Sprintf("a person opted %s out, and %s is declared at %d", id, change.ID, change.To.Replicas)
			}
		}
	}
	if s.open > 0 {
		return "" // the enclosing tick states how much it could read
	}
	lost := s.Witness.lost
	s.Witness.lost = nil
	return strings.Join(lost, "; ")
}

var trailer = regexp.MustCompile(`(?m)^Gitlatch-Intent: (\S+)$`)

func twice(s *Seen) string {
	for _, c := range s.New {
		if c.By != ours {
			continue
		}
		if len(c.Paths) == 0 {
			return fmt.Sprintf("%s changes nothing", subject(c))
		}
		intent := trailer.FindStringSubmatch(c.Message)
		if intent == nil {
			return fmt.Sprintf("%s names no intent", subject(c))
		}
		if before := s.intents[intent[1]]; before != "" && before != c.ID && s.below(c.ID, before) {
			return fmt.Sprintf("%s is made again as %s", before, c.ID)
		}
		s.intents[intent[1]] = c.ID
	}
	return ""
}

// below reports whether a commit descends from another one. The site may repeat a
// commit that a user took off the branch.
func (s *Seen) below(id, other string) bool {
	window, err := s.World.Repository.Between(context.Background(), other, id)
	return err == nil && window.Descends
}

func subject(c Commit) string {
	line, _, _ := strings.Cut(c.Message, "\n")
	return line
}

func disagree(s *Seen) string {
	if !s.Calm || s.Told.Stop.Reason == policy.ReasonSecond {
		return ""
	}
	git := s.After.Entries
	var wrong []string
	for id := range union(git, s.After.Latches) {
		if declared := s.After.Latches[id].Declared; git[id] != declared && !s.broken(id) {
			wrong = append(wrong, fmt.Sprintf("of %s git says %+v and the latch %+v", id, git[id], declared))
		}
	}
	return strings.Join(slices.Sorted(slices.Values(wrong)), "; ")
}

// broken reports whether the checkpoint file of a workload cannot be read, or could not
// when the tick read it.
func (s *Seen) broken(id workload.ID) bool {
	if s.unread(s.After.Tip)[id.Namespace] != nil || s.unread(s.Before.Tip)[id.Namespace] != nil {
		return true
	}
	for _, d := range s.Told.Decisions {
		if d.ID == id && d.Reason == policy.ReasonBroken {
			return true
		}
	}
	return false
}

func fails(s *Seen) string {
	accepted := len(s.Before.Head.Agreed.PolicySource) > 0 // without an accepted policy, a broken one is an error
	if s.Told.Failed != nil && !s.World.Disturbed && accepted {
		return s.Told.Failed.Error()
	}
	return ""
}

func yields(s *Seen) string {
	for id, l := range s.After.Latches {
		was := s.Before.Latches[id]
		yields := l.GraceUntil.After(was.GraceUntil) && l.GraceUntil.After(s.Told.At)
		if (yields || l.OptedOut && !was.OptedOut) && !s.touched[id] && !s.all {
			return fmt.Sprintf("%s is left alone until %s (opted out: %v), and no person touched it", id, l.GraceUntil.Format(time.TimeOnly), l.OptedOut)
		}
	}
	return ""
}

func late(s *Seen) string {
	for id, of := range s.lives {
		sample := s.World.Fleet[id]
		p, level := s.rule(sample), s.After.Entries[id].Replicas
		if ticks := of.overdue(holdUp(p, sample)+2, policy.Urgent*float64(level)); ticks > 0 {
			return fmt.Sprintf("%s needs %d, git declares %d, and %d healthy ticks did not raise it",
				id, sample.Scale.Desired, level, ticks)
		}
	}
	return ""
}

func ends(s *Seen) string {
	guards := s.Told.Set.Guards
	if decided := guards.DropLeast > 0; s.dropped == nil || s.After.Head.Drop != nil || !decided {
		return ""
	}
	still, total := 0, 0
	for id, had := range s.dropped {
		sample, runs := s.World.Fleet[id]
		sample.ID = id
		if !judges(s.rule(sample), sample) || had.most < 2 || runs && sample.Scale == nil {
			continue
		}
		total++
		low := !runs || sample.Scale.Desired*4 <= had.least // an absent workload has not recovered
		if had.least >= 2 && low && !s.After.Latches[id].OptedOut {
			still++
		}
	}
	acknowledged := s.acknowledged
	s.Witness.dropped = nil
	s.anew(s.Told.At)
	if acknowledged || still < guards.DropLeast || float64(still) < guards.DropShare*float64(total) {
		return ""
	}
	return fmt.Sprintf("%d of %d workloads have less than a quarter of what they had, or are gone, and the drop is over", still, total)
}

func observes(s *Seen) string {
	if s.Calm && s.Told.Observe && s.latches {
		return "the last policy of the branch has mode latch, and the tick observes"
	}
	return ""
}

func mute(s *Seen) string {
	if s.settled() {
		for _, a := range s.Told.Alerts {
			s.unsent[a.ID] = a.Headline()
		}
	}
	maps.DeleteFunc(s.unsent, func(id, _ string) bool { return s.World.Arrived[id] > 0 })
	if !s.Calm || s.World.Deaf || len(s.unsent) == 0 {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Values(s.unsent)), "; ")
}

func unfenced(s *Seen) string {
	if s.World.Unfenced {
		return "a save took although another had taken the lease"
	}
	return ""
}

func strays(s *Seen) string {
	own := checkpoint.Directory(s.World.Site) + "/"
	for _, c := range s.New {
		for _, path := range c.Paths {
			if c.By == ours && !strings.HasPrefix(path, own) {
				return fmt.Sprintf("%s changes %s", subject(c), path)
			}
		}
	}
	return ""
}

var declaresZero = regexp.MustCompile(`(?m)value: 0$|^  [a-z]+\.[^_\s]+: "0"$`)

func zero(s *Seen) string {
	for _, c := range s.New {
		for _, path := range c.Paths {
			if c.By == ours && declaresZero.MatchString(s.World.Repository.Show(c.ID)[path]) {
				return fmt.Sprintf("%s declares 0 in %s", subject(c), path)
			}
		}
	}
	return ""
}
