package rollouts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// clock returns the time of a sample.
func (s *story) clock(i int) string {
	return epoch.Add(time.Duration(s.looks[i].minute) * time.Minute).Format("15:04")
}

// text returns a story for a reader, without its outcome: a line for each sample that
// shows a change.
func (s *story) text() string {
	var b strings.Builder
	kind := "a Deployment, whose controller says when it fails"
	if !s.judged {
		kind = "a StatefulSet, whose controller never says that it fails"
	}
	fmt.Fprintf(&b, "%s. It is looked at every %d minutes. Before %s nothing was in flight, and git held nothing of a rollout.\n", upper(kind), storyPeriod, s.clock(0))
	if s.spent > 0 {
		fmt.Fprintf(&b, "The site's budget has no commit before %s, and has some from then on.", s.clock(s.spent))
	} else {
		b.WriteString("The site's budget always has a commit.")
	}
	if s.other >= 0 {
		fmt.Fprintf(&b, " At %s the site commits the scale of another workload, whatever the budget.", s.clock(s.other))
	}
	b.WriteString("\n")
	last, same := "", -1
	fold := func(until int) {
		if same >= 0 && until > same {
			fmt.Fprintf(&b, "  until %s the same\n", s.clock(until))
		}
	}
	for i := range s.looks {
		if line := s.line(i); line != last {
			fold(i - 1)
			fmt.Fprintf(&b, "  %s %s\n", s.clock(i), line)
			last, same = line, i
		}
	}
	return b.String()
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// line describes a sample.
func (s *story) line(i int) string {
	r := s.looks[i].saw
	if !r.InFlight {
		return "the rollout is over"
	}
	target := r.Templates[0]
	text := fmt.Sprintf("%d pods wanted; target %s: %d of %d asked for are available", r.Desired, target.Hash, target.Available, target.Desired)
	for _, t := range r.Templates[1:] {
		text += fmt.Sprintf("; %s: %d", t.Hash, t.Available)
	}
	if r.Traffic != nil {
		text += fmt.Sprintf("; %d %% of the traffic to %s", *r.Traffic, target.Hash)
	}
	if r.Failure != "" {
		text += "; the controller says " + r.Failure
	}
	if r.Halted != "" {
		text += "; " + r.Halted + " by a person"
	}
	return text
}

// asked returns the samples after which the questions ask for the rollout in git: some
// change it, and some do not.
func (s *story) asked() []int {
	var ask []int
	for i := range s.looks {
		if s.looks[i].committed() {
			ask = append(ask, i)
		}
	}
	for len(ask) > 3 {
		ask = slices.Delete(ask, len(ask)/2, len(ask)/2+1)
	}
	for _, part := range []int{3, 2} {
		ask = append(ask, len(s.looks)/part)
	}
	slices.Sort(ask)
	return slices.Compact(ask)
}

func (s *story) questions() string {
	var at []string
	for _, i := range s.asked() {
		at = append(at, s.clock(i))
	}
	return fmt.Sprintf("What does git hold after the looks of %s: nothing, old or new, and which template is that?\nWhich looks make a commit at once, that is, one that asks no budget?\n", strings.Join(at, ", "))
}

// holds describes a rollout entry.
func holds(r checkpoint.Rollout) string {
	switch {
	case r == checkpoint.Rollout{}:
		return "nothing"
	case old(r):
		return "old, " + r.From.Hash
	}
	return "new, " + r.To.Hash
}

// outcome answers the questions, and lists for each sample the commit and its reason.
func (s *story) outcome() string {
	var b strings.Builder
	for _, i := range s.asked() {
		fmt.Fprintf(&b, "  after %s: %s\n", s.clock(i), holds(s.looks[i].git))
	}
	var once []string
	for i, l := range s.looks {
		if l.committed() && l.decision.Urgent {
			once = append(once, s.clock(i))
		}
	}
	fmt.Fprintf(&b, "  at once: %s\n", strings.Join(append(once, "none")[:max(1, len(once))], ", "))
	for i, l := range s.looks {
		if l.committed() {
			fmt.Fprintf(&b, "    %s git holds %s: %s\n", s.clock(i), holds(l.git), l.decision.Text)
		}
	}
	return b.String()
}
