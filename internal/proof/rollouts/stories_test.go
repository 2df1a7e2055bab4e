package rollouts

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

var (
	chosen   = flag.String("stories", "", "print twenty stories, chosen by the digits of this id of a commit, without what becomes of them")
	outcomes = flag.Bool("outcomes", false, "print what becomes of the stories in their place")
)

// aspects are the sentences of the rule, each with the sample at which it decides.
// There is one story for each.
var aspects = []struct {
	name string
	at   func(s *story, i int) bool
}{
	{"begins old after its time", func(s *story, i int) bool {
		return s.looks[i].begins() && !s.looks[i].failed && old(s.looks[i].git)
	}},
	{"begins even if its target changed", func(s *story, i int) bool {
		return s.looks[i].begins() && !s.looks[i].failed && s.target(i) != s.target(0)
	}},
	{"begins while it is halted", func(s *story, i int) bool { return s.looks[i].begins() && s.looks[i].saw.Halted != "" }},
	{"begins new, and rides", func(s *story, i int) bool { return s.looks[i].begins() && !old(s.looks[i].git) }},
	{"begins as it fails", func(s *story, i int) bool {
		return s.looks[i].begins() && s.looks[i].failed && s.looks[i].saw.Failure != ""
	}},
	{"fails without a verdict", func(s *story, i int) bool {
		l := s.looks[i]
		return !s.judged && l.failed && l.committed() && l.saw.Failure == ""
	}},
	{"is slow without a verdict, and halted", func(s *story, i int) bool {
		return !s.judged && i > 2 && !s.looks[i].failed && s.looks[i].saw.Halted != "" && s.looks[i-2].saw.Halted != ""
	}},
	{"turns new", func(s *story, i int) bool { return s.turns(i) && !old(s.looks[i].git) && !s.wasFailed(i) }},
	{"turns old", func(s *story, i int) bool { return s.turns(i) && old(s.looks[i].git) }},
	{"loses over half of its pods", func(s *story, i int) bool {
		l := s.looks[i]
		return l.failed && l.saw.Failure == "" && strings.Contains(l.decision.Text, "it had")
	}},
	{"turns new again after a failure", func(s *story, i int) bool { return s.turns(i) && !old(s.looks[i].git) && s.wasFailed(i) }},
	{"returns to the old template", func(s *story, i int) bool {
		return s.looks[i].committed() && s.looks[i].git.Phase == checkpoint.PhaseReturning
	}},
	{"is replaced, and the old template stays", func(s *story, i int) bool {
		return s.looks[i].replaced() && s.looks[i].git.From == s.looks[i].before.From
	}},
	{"is replaced, with another old template", func(s *story, i int) bool {
		return s.looks[i].replaced() && s.looks[i].git.From != s.looks[i].before.From
	}},
	{"goes to an earlier template, unrecorded", func(s *story, i int) bool {
		return s.looks[i].saw.InFlight && i > 3 && s.target(i) < s.looks[i].saw.Templates[1].Hash && s.looks[i].git == checkpoint.Rollout{}
	}},
	{"goes to an earlier template, and fails", func(s *story, i int) bool {
		return s.looks[i].begins() && s.looks[i].failed && s.target(i) < s.looks[i].saw.Templates[1].Hash
	}},
	{"passes a milestone", func(s *story, i int) bool {
		l := s.looks[i]
		return l.committed() && !l.begins() && !l.ends() && !l.replaced() && l.git.Returns == l.before.Returns && l.git.Milestone > l.before.Milestone
	}},
	{"is scaled in", func(s *story, i int) bool {
		return i > 0 && s.looks[i].saw.InFlight && s.looks[i].saw.Desired < s.looks[i-1].saw.Desired && s.looks[i].git != checkpoint.Rollout{}
	}},
	{"is split by a router", func(s *story, i int) bool { return s.router && s.turns(i) }},
	{"waits for the budget", func(s *story, i int) bool {
		l := s.looks[i]
		return i < s.spent && l.decision.Crosses() && !l.decision.Rides && !l.committed()
	}},
}

func old(r checkpoint.Rollout) bool { return r.Returns == checkpoint.SideFrom }

func (s *story) target(i int) string {
	if !s.looks[i].saw.InFlight {
		return ""
	}
	return s.looks[i].saw.Templates[0].Hash
}

// turns reports whether a rollout entry changed its side without starting, ending or
// being replaced.
func (s *story) turns(i int) bool {
	l := s.looks[i]
	return l.committed() && !l.begins() && !l.ends() && !l.replaced() && old(l.git) != old(l.before)
}

func (s *story) wasFailed(i int) bool {
	return slices.ContainsFunc(s.looks[:i], func(l look) bool { return l.failed && l.saw.InFlight && l.saw.Templates[0].Hash == s.target(i) })
}

// tell chooses twenty stories by an id: for each aspect the first story of a readable
// length.
func tell(t *testing.T, id string) (told []story) {
	h := fnv.New64a()
	h.Write([]byte(id))
	left := slices.Clone(aspects)
	for n := uint64(0); len(left) > 0; n++ {
		if n == 20000 {
			t.Fatalf("no story in which a rollout %s", left[0].name)
		}
		all := flights(newLife(rand.New(rand.NewPCG(h.Sum64(), n))))
		if len(all) == 0 {
			continue
		}
		s := all[n%uint64(len(all))]
		if lines := strings.Count(s.text(), "\n"); lines < 9 || lines > 30 {
			continue
		}
		for i, a := range left {
			if slices.ContainsFunc(indexes(s), func(at int) bool { return a.at(&s, at) }) {
				told, left = append(told, s), slices.Delete(left, i, i+1)
				break
			}
		}
	}
	return told
}

func indexes(s story) (all []int) {
	for i := range s.looks {
		all = append(all, i)
	}
	return all
}

// Each commit has twenty stories, one for each aspect. A story does not contain its
// outcome.
func TestStoriesOfRollouts(t *testing.T) {
	id := *chosen
	if id == "" {
		id = "3479611"
	}
	told := tell(t, id)
	for n, s := range told {
		switch {
		case *outcomes:
			fmt.Printf("Story %d\n%s\n", n+1, s.outcome())
		case *chosen != "":
			fmt.Printf("Story %d\n%s%s\n", n+1, s.text(), s.questions())
		}
	}
	if len(told) != 20 {
		t.Errorf("%d stories", len(told))
	}
}
