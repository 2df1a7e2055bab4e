package story

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var events = map[string]func(*Story, []string) error{
	// at 14:30 | at +26h | at -2h: sets the clock.
	"at": func(s *Story, w []string) error {
		if strings.ContainsAny(w[0], "+-") {
			d, err := time.ParseDuration(w[0])
			s.Now = s.Now.Add(d)
			return err
		}
		clock, err := time.Parse("15:04", w[0])
		s.Now = time.Date(s.Now.Year(), s.Now.Month(), s.Now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
		return err
	},
	// workload shop/web 120 [field=value ...]: the live state from now on. The fields are
	// the fields of a sample; a field that is not named keeps its value.
	"workload": (*Story).workload,
	// rolls shop/web v1 v2 40/100 [failed="words"] [halted=paused] [asked=50]
	// [unjudged] [older] [alone] [v0 5]: a rollout in flight from one template to
	// another, with 40 pods of the target available. asked sets the target's desired
	// pods (default: the available ones). rolled shop/web: the rollout is complete.
	"rolls": (*Story).rolls,
	"rolled": func(s *Story, w []string) error {
		sample, ok := s.Fleet[ID(w[0])]
		if !ok {
			return errors.New("no such workload runs")
		}
		sample.Rollout = &workload.Rollout{}
		s.Fleet[ID(w[0])] = sample
		return nil
	},
	// restore 4h [50%]: a restore raises the workloads to this part of their levels, and
	// brakes their autoscalers for a time. restore release: no autoscaler is braked.
	"restore": (*Story).restore,
	// gone shop/web: deleted from the cluster.
	"gone": func(s *Story, w []string) error {
		delete(s.Fleet, ID(w[0]))
		return nil
	},
	// cluster uid-green: another cluster is sampled from now on.
	"cluster": func(s *Story, w []string) error {
		s.Cluster = w[0]
		return nil
	},
	// unread deployments: ... | unread: the parts that cannot be listed from now on.
	"unread": func(s *Story, w []string) error {
		s.Unread = parts(w)
		return nil
	},
	// unmeasured "Prometheus ...: ..." | unmeasured: the sources that fail from now on.
	"unmeasured": func(s *Story, w []string) error {
		s.Unmeasured = parts(w)
		return nil
	},
	// levels stop | apply | set shop/web 50 | lose shop/web | lose policy | forbid [configmaps]
	// | version 35 | site stage: the objects of gitlatch in the cluster from now on.
	"levels": (*Story).levels,
	// tick [times]: one tick, or several, one period apart. The clock is then one period
	// after the last tick.
	"tick": func(s *Story, w []string) error {
		times, err := 1, error(nil)
		if len(w) > 0 {
			times, err = strconv.Atoi(w[0])
		}
		for range times {
			s.run()
			if s.Last.Failed != nil {
				return s.Last.Failed
			}
		}
		return err
	},
	// try [times]: ticks that may end with an error.
	"try": func(s *Story, w []string) error {
		times, err := 1, error(nil)
		if len(w) > 0 {
			times, err = strconv.Atoi(w[0])
		}
		for range times {
			s.run()
		}
		return err
	},
	// turns: each tick from now on gets the turn in which it is due.
	"turns": func(s *Story, _ []string) error {
		s.turns = true
		return nil
	},
	// twice: delivers one turn twice; each tick may end with an error.
	"twice": func(s *Story, _ []string) error {
		turn := s.Now
		s.turn = turn
		s.run()
		s.Now = turn.Add(time.Second)
		s.run()
		s.turn, s.Now = time.Time{}, turn.Add(Period)
		return nil
	},
	// ticks for 26h: the number of ticks that fit.
	"ticks": func(s *Story, w []string) error {
		d, err := time.ParseDuration(w[1])
		for until := s.Now.Add(d); err == nil && s.Now.Before(until); {
			s.run()
			err = s.Last.Failed
		}
		return err
	},
	// drill [dies before push]: a tick that flushes.
	"drill": func(s *Story, w []string) error {
		s.Flush = true
		defer func() { s.Flush = false }()
		if len(w) > 0 {
			return s.dies(w[1:])
		}
		s.run()
		return s.Last.Failed
	},
	// fails with "words": a tick that ends with an error that contains the words.
	"fails": func(s *Story, w []string) error {
		s.run()
		return contains(fmt.Sprint(s.Last.Failed), w[1])
	},
	// dies before acquire|load|extend|push|save|release: a tick whose process is killed
	// just before that effect. If a tick pushes twice, after a lost race or to propose,
	// its effects after the first push are again-extend|again-push|again-ensure. If a
	// tick closes a proposal, it has mark|close instead of extend|push. dies at 3: just
	// before its third effect, if it has three. dies amid save: after it saved its
	// latches, and before it saved its head.
	"dies": (*Story).dies,
	// errs at 3 | unheard at 3: a tick whose third effect fails, or takes place and
	// returns an error.
	"errs": func(s *Story, w []string) (err error) {
		s.FailAt, err = strconv.Atoi(w[1])
		s.run()
		s.FailAt = 0
		return err
	},
	"unheard": func(s *Story, w []string) (err error) {
		s.UnheardAt, err = strconv.Atoi(w[1])
		s.run()
		s.UnheardAt = 0
		return err
	},
	// throttle 2: the next two saves fail. room 4000 | room: the maximum size of the head
	// in bytes.
	"throttle": func(s *Story, w []string) (err error) {
		s.Throttled, err = strconv.Atoi(w[0])
		return err
	},
	"room": func(s *Story, w []string) (err error) {
		if s.Room = 0; len(w) > 0 {
			s.Room, err = strconv.Atoi(w[0])
		}
		return err
	},
	// reply lost: the next push lands, and the tick gets no reply. reply refused: it
	// lands, and the tick gets a refusal.
	"reply": func(s *Story, w []string) error {
		s.LostReply, s.Lands = w[0] == "lost", w[0] == "refused"
		return nil
	},
	// refuse "words" | refuse: the server's answer to every push.
	"refuse": func(s *Story, w []string) error {
		s.Refuse = strings.Join(w, " ")
		return nil
	},
	// limit 3 | limit: the maximum number of files in a commit that the host accepts.
	"limit": func(s *Story, w []string) (err error) {
		if s.Limit = 0; len(w) > 0 {
			s.Limit, err = strconv.Atoi(w[0])
		}
		return err
	},
	// cloud: the repository is CodeCommit, and the state is in DynamoDB.
	"cloud": func(s *Story, _ []string) error {
		s.inCloud()
		return nil
	},
	// disk: the repository is a folder, without a server.
	"disk": func(s *Story, _ []string) error {
		s.OnDisk = true
		return nil
	},
	// person sets shop/web 150 ["message"] | deletes shop/web | reverts | commits path
	// | removes path | restores path | breaks shop | repairs shop | unquotes shop | retracts: a
	// commit by a user.
	"person": (*Story).person,
	// push waits: the next push gets no answer, and has not landed. push refused: the
	// same, and the tick gets a refusal. push lands: the push lands.
	"push": func(s *Story, w []string) error {
		switch s.Refused = ""; w[0] {
		case "lands":
			return s.land()
		case "refused":
			s.Refused = "502 Bad Gateway"
		}
		s.Hold = true
		return nil
	},
	// rival sets ...: the same, between the next tick's read and its push. rival lands:
	// the push that waited lands.
	"rival": func(s *Story, w []string) error {
		acts := s.person
		if w[0] == "lands" {
			acts = func([]string) error { return s.land() }
		}
		s.Rival = func() { s.failed = errors.Join(s.failed, acts(w)) }
		return nil
	},
	// mark [older]: remembers the commit at the branch. rewind [older]: moves the
	// branch back to it, like a force-push or a replica that lags behind, and remembers
	// the commit that the branch was at instead.
	"mark": func(s *Story, w []string) (err error) {
		s.marked[strings.Join(w, "")], _, err = s.Repository.Heads(context.Background())
		return err
	},
	"rewind": func(s *Story, w []string) error {
		now, _, err := s.Repository.Heads(context.Background())
		if s.marked[strings.Join(w, "")] == "" {
			return errors.New("no commit was marked")
		}
		s.Repository.Rewrite(s.marked[strings.Join(w, "")])
		s.marked[strings.Join(w, "")] = now
		return err
	},
	// host proposes | reviews | loses: a host with pull requests, for all level changes
	// or for those that a policy wants reviewed; or a host that lost proposal and
	// branch. host stumbles 2: the next closing of a proposal fails after two of its
	// steps (the comment, the closing, the removal of its branch).
	"host": func(s *Story, w []string) error {
		if w[0] == "stumbles" {
			n, err := strconv.Atoi(w[1])
			s.Repository.StumbleAfter(n)
			return err
		}
		if w[0] == "loses" {
			s.Repository.Lose(s.branch())
			return nil
		}
		s.Host, s.Propose = true, w[0] == "proposes"
		return nil
	},
	// walks 20 | walks: the number of commits that the host reads to find a window.
	"walks": func(s *Story, w []string) (err error) {
		if s.Walks = 0; len(w) > 0 {
			s.Walks, err = strconv.Atoi(w[0])
		}
		return err
	},
	// policy-file rules/prod.yaml: the path of the policy in the configuration from now on.
	"policy-file": func(s *Story, w []string) error {
		s.PolicyFile = w[0]
		return nil
	},
	// guards yield=1h retire=2h share=34% least=9: the guards of each policy from now on.
	"guards": (*Story).guards,
	// topic deaf | hears | refuses surge: from now on no alert arrives, every alert
	// arrives, or the topic permanently refuses alerts of one kind.
	"topic": func(s *Story, w []string) error {
		s.Deaf, s.Unwanted = w[0] == "deaf", ""
		if w[0] == "refuses" {
			s.Unwanted = alert.Kind(w[1])
		}
		return nil
	},
	// state lost [but head | but latches]: the state is lost. state loses shop/web:
	// only its latch is lost.
	"state": func(s *Story, w []string) error {
		head, all, err := latch.Load(context.Background(), s.Store, s.Site)
		s.Store = s.newStore()
		switch last := w[len(w)-1]; {
		case len(w) == 1 || err != nil:
			return err
		case w[0] == "loses":
			delete(all, ID(last))
		case last == "head":
			all = nil
		case last == "latches":
			head = latch.Head{}
		}
		var put []latch.Latch
		for _, l := range all {
			l.Rev = 0
			put = append(put, l)
		}
		lease, err := s.Store.Acquire(context.Background(), s.Site, "backup", s.Now, s.Now.Add(Period))
		if err == nil {
			err = s.Store.Save(context.Background(), lease, head, put, nil)
		}
		return errors.Join(err, s.Store.Release(context.Background(), lease))
	},
	// adopt: a user accepts the cluster, and acknowledges an open mass drop. adopt
	// shop/web: latches a workload again.
	"adopt": func(s *Story, w []string) error {
		a := tick.Amendment{Cluster: s.Cluster, Acknowledge: true}
		if len(w) > 0 {
			a = tick.Amendment{Latch: true, Workloads: []workload.ID{ID(w[0])}}
		}
		return s.amend(a)
	},
	// hold +3h [shop/web]: a user pauses the site, or a workload.
	"hold": func(s *Story, w []string) error {
		d, err := time.ParseDuration(strings.TrimPrefix(w[0], "+"))
		a := tick.Amendment{PauseUntil: s.Now.Add(d)}
		if len(w) > 1 {
			a.Workloads = []workload.ID{ID(w[1])}
		}
		return errors.Join(err, s.amend(a))
	},
	"expect": (*Story).expect,
}

func (s *Story) guards(w []string) error {
	for _, one := range w {
		name, value, _ := strings.Cut(one, "=")
		var err error
		switch name {
		case "yield":
			s.Guards.Yield, err = time.ParseDuration(value)
		case "retire":
			s.Guards.RetireAfter, err = time.ParseDuration(value)
		case "share":
			s.Guards.RetireShare, err = strconv.ParseFloat(strings.TrimSuffix(value, "%"), 64)
			s.Guards.RetireShare /= 100
		case "least":
			s.Guards.DropLeast, err = strconv.Atoi(value)
		default:
			err = fmt.Errorf("no guard is called %q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Story) amend(a tick.Amendment) error {
	s.kept = nil
	return tick.Amend(context.Background(), s.Store, s.Site, "person", s.Now, Period, a)
}

// diesAmid is a tick that dies after it saved its latches and before it saved its head.
func (s *Story) diesAmid() error {
	s.Half = true
	s.run()
	lived := s.Half
	s.Half, s.KillBefore = false, 0
	if lived {
		return errors.New("it saved no latch")
	}
	return nil
}

func (s *Story) dies(w []string) (err error) {
	if w[0] == "amid" {
		return s.diesAmid()
	}
	if w[0] == "at" {
		s.KillBefore, err = strconv.Atoi(w[1])
		s.run()
		s.KillBefore = 0
		return err
	}
	effect := strings.NewReplacer("mark", "extend", "close", "push").Replace(w[1])
	n := slices.Index([]string{"acquire", "load", "extend", "push", "save", "release"}, effect)
	if again, is := strings.CutPrefix(w[1], "again-"); is {
		n = 4 + slices.Index([]string{"extend", "push", "ensure"}, again)
	}
	if n < 0 {
		return errors.New("no such effect")
	}
	s.KillBefore = n + 1
	s.run()
	s.KillBefore = 0
	if !errors.Is(s.Last.Failed, ErrKilled) {
		return fmt.Errorf("it lived: %w", cmp.Or(s.Last.Failed, errors.New("without an error")))
	}
	return nil
}
