package tick_test

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	latchmem "github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// TestStories plays the scenarios in testdata/scenarios. Each is a txtar
// archive: what it tells, in words; the files of the repository at the start;
// and the story, a line an event. The words of a story are in the table below.
// An anomaly has three, each in a world of its own: one that raises it, one that
// nearly does, and one in which it is over.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("../../testdata/scenarios/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			start, stories := map[string]string{}, map[string]string{}
			for _, f := range archive.Files {
				if slices.Contains(tellings, f.Name) {
					stories[f.Name] = string(f.Data)
				} else {
					start[f.Name] = string(f.Data)
				}
			}
			for name, lines := range stories {
				t.Run(name, func(t *testing.T) { play(t, start, lines) })
			}
		})
	}
}

// tellings are the names of the files that hold a story.
var tellings = []string{"story", "raises", "nearly", "resolves"}

func play(t *testing.T, start map[string]string, lines string) {
	s := &story{T: t, world: newWorld(start), marked: map[string]string{}}
	for i, line := range strings.Split(lines, "\n") {
		words, err := split(line)
		if err != nil {
			t.Fatalf("story line %d: %v", i+1, err)
		}
		if len(words) == 0 {
			continue
		}
		event, ok := events[words[0]]
		if !ok {
			t.Fatalf("story line %d: nobody knows how to %q", i+1, words[0])
		}
		if err := event(s, words[1:]); err != nil {
			t.Fatalf("story line %d: %s\n%v\nlast report:\n%s", i+1, line, err, s.last)
		}
	}
}

// story is a scenario under way.
type story struct {
	*testing.T
	*world
	last   told
	before map[string]string // files before the last tick
	pushed string            // the last commit that a tick said it made
	marked map[string]string // commits that the story comes back to, by name
}

// told is what the last tick said.
type told struct {
	tick.Report
	err error
}

func (r told) String() string {
	var b strings.Builder
	for _, d := range r.Decisions {
		fmt.Fprintf(&b, "%s %s %s: %s\n", d.ID, d.Verdict, d.Reason, d.Text)
	}
	for _, n := range r.Notices {
		fmt.Fprintf(&b, "notice %s %s: %s\n", n.Kind, n.Subject, n.Text)
	}
	fmt.Fprintf(&b, "problems: %v\nerror: %v\n", r.Err(), r.err)
	return b.String()
}

var events = map[string]func(*story, []string) error{
	// at 14:30 | at +26h: what time it is.
	"at": func(s *story, w []string) error {
		if ahead, ok := strings.CutPrefix(w[0], "+"); ok {
			d, err := time.ParseDuration(ahead)
			s.now = s.now.Add(d)
			return err
		}
		clock, err := time.Parse("15:04", w[0])
		s.now = time.Date(s.now.Year(), s.now.Month(), s.now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
		return err
	},
	// workload shop/web 120 [field=value ...]: what runs from now on. Fields are
	// those of a sample; what is not named stays as it was.
	"workload": (*story).workload,
	// rolls shop/web v1 v2 40/100 [failed="words"] [halted=paused] [asked=50] [unjudged] [older] [alone]
	// [v0 5]: a rollout in flight from one template to another, with so many pods
	// of the target available, and asked for where nothing else is said. rolled shop/web: it is done.
	"rolls": (*story).rolls,
	"rolled": func(s *story, w []string) error {
		sample := s.fleet[id(w[0])]
		sample.Rollout = &workload.Rollout{}
		s.fleet[id(w[0])] = sample
		return nil
	},
	// gone shop/web: deleted from the cluster.
	"gone": func(s *story, w []string) error {
		delete(s.fleet, id(w[0]))
		return nil
	},
	// cluster uid-green: another cluster is sampled from now on.
	"cluster": func(s *story, w []string) error {
		s.cluster = w[0]
		return nil
	},
	// unread deployments: ... | unread: what cannot be read from now on.
	"unread": func(s *story, w []string) error {
		s.unread = w
		return nil
	},
	// kinds worker ... | kinds: the kinds that the Config names from now on.
	"kinds": func(s *story, w []string) error {
		s.kinds = workload.Kinds{}
		for _, name := range w {
			kind := strings.ToUpper(name[:1]) + name[1:]
			s.kinds[workload.Kind(name)] = workload.Object{Group: "example.com", Version: "v1", Kind: kind, Resource: name + "s", Replicas: workload.Replicas, Ready: workload.Ready}
		}
		return nil
	},
	// unmeasured "Prometheus ...: ..." | unmeasured: what measures no demand from now on.
	"unmeasured": func(s *story, w []string) error {
		s.unmeasured = w
		return nil
	},
	// tick [times]: one tick, or several, a period apart; time then stands a
	// period after the last.
	"tick": func(s *story, w []string) error {
		times, err := 1, error(nil)
		if len(w) > 0 {
			times, err = strconv.Atoi(w[0])
		}
		for range times {
			s.run()
			if s.last.err != nil {
				return s.last.err
			}
		}
		return err
	},
	// ticks for 26h: as many as fit.
	"ticks": func(s *story, w []string) error {
		d, err := time.ParseDuration(w[1])
		for until := s.now.Add(d); err == nil && s.now.Before(until); {
			s.run()
			err = s.last.err
		}
		return err
	},
	// drill [exact] [dies before push]: a tick that flushes.
	"drill": func(s *story, w []string) error {
		s.flush = policy.FlushRaise
		if len(w) > 0 && w[0] == "exact" {
			s.flush, w = policy.FlushExact, w[1:]
		}
		defer func() { s.flush = policy.FlushNone }()
		if len(w) > 0 {
			return s.dies(w[1:])
		}
		s.run()
		return s.last.err
	},
	// fails with "words": a tick that ends with an error which holds the words.
	"fails": func(s *story, w []string) error {
		s.run()
		return contains(fmt.Sprint(s.last.err), w[1])
	},
	// dies before acquire|extend|push|settle|release: a tick whose process is killed
	// just before that effect. A tick that pushes twice, after a lost race or to
	// propose, has again-extend|again-push|again-ensure after the first push. A tick
	// that closes a proposal has mark|close in the place of extend|push.
	"dies": (*story).dies,
	// reply lost: the next push lands without the tick hearing of it; reply refused:
	// it lands, and the tick hears that it was refused.
	"reply": func(s *story, w []string) error {
		s.lostReply, s.lands = w[0] == "lost", w[0] == "refused"
		return nil
	},
	// refuse "words" | refuse: what the server says to every push.
	"refuse": func(s *story, w []string) error {
		s.refuse = strings.Join(w, " ")
		return nil
	},
	// disk: the repository is a folder, without a server.
	"disk": func(s *story, _ []string) error {
		s.onDisk = true
		return nil
	},
	// person sets shop/web 150 | deletes shop/web | reverts | commits path |
	// removes path | breaks shop: a commit by a person.
	"person": (*story).person,
	// push waits: the next push gets no answer, and has not landed. push lands: it
	// does.
	"push": func(s *story, w []string) error {
		if w[0] == "lands" {
			return s.land()
		}
		s.hold = true
		return nil
	},
	// rival sets ...: the same, between the next tick's read and its push; rival
	// lands is the push that waited.
	"rival": func(s *story, w []string) error {
		acts := s.person
		if w[0] == "lands" {
			acts = func([]string) error { return s.land() }
		}
		s.rival = func() {
			if err := acts(w); err != nil {
				s.Error(err)
			}
		}
		return nil
	},
	// mark [older]: remembers the commit at the branch. rewind [older]: the branch
	// is moved back to it, as a force-push or a replica that lags behind does;
	// what it was at is remembered in its place.
	"mark": func(s *story, w []string) (err error) {
		s.marked[strings.Join(w, "")], _, err = s.repository.Heads(s.Context())
		return err
	},
	"rewind": func(s *story, w []string) error {
		now, _, err := s.repository.Heads(s.Context())
		s.repository.Rewrite(s.marked[strings.Join(w, "")])
		s.marked[strings.Join(w, "")] = now
		return err
	},
	// host proposes | reviews | loses | fails: one with pull requests, for all
	// crossings or for those that a policy wants reviewed; one that lost proposal and
	// branch; or one that fails in the middle of the next closing of a proposal.
	"host": func(s *story, w []string) error {
		if w[0] == "fails" {
			s.halfway = true
			return nil
		}
		if w[0] == "loses" {
			s.repository.Lose("gitlatch/" + site)
			return nil
		}
		s.host, s.propose = true, w[0] == "proposes"
		return nil
	},
	// in-place apps/values.yaml ...: the files that are edited in place from now on.
	"in-place": func(s *story, w []string) error {
		s.inPlace = w
		return nil
	},
	// topic deaf | hears | refuses surge: whether alerts arrive from now on, or all
	// but those of a kind, which it will never take.
	"topic": func(s *story, w []string) error {
		s.deaf, s.refused = w[0] == "deaf", ""
		if w[0] == "refuses" {
			s.refused = alert.Kind(w[1])
		}
		return nil
	},
	// state lost: all that was remembered is gone. state loses head|latches|shop/web:
	// a part of it is.
	"state": func(s *story, w []string) error {
		head, latches, err := s.store.Load(s.Context(), site)
		s.store = latchmem.New()
		if err != nil || w[0] == "lost" {
			return err
		}
		switch w[1] {
		case "head":
			head = latch.Head{}
		case "latches":
			latches = nil
		default:
			latches = slices.DeleteFunc(latches, func(l latch.Latch) bool { return l.ID == id(w[1]) })
		}
		for i := range latches {
			latches[i].Rev = 0 // of another store
		}
		lease, err := s.store.Acquire(s.Context(), site, "accident", s.now, s.now.Add(period))
		if err == nil {
			_, err = s.store.Save(s.Context(), lease, head, latches, nil)
		}
		return errors.Join(err, s.store.Release(s.Context(), lease))
	},
	// adopt: a person adopts the cluster, and acknowledges what waits for it.
	// adopt shop/web: asks a workload back in.
	"adopt": func(s *story, w []string) error {
		a := tick.Amendment{Cluster: s.cluster, Acknowledge: true}
		if len(w) > 0 {
			a = tick.Amendment{Latch: true, Workloads: []workload.ID{id(w[0])}}
		}
		return tick.Amend(s.Context(), s.store, site, "person", s.now, period, a)
	},
	// hold +3h [shop/web]: a person holds the site, or a workload.
	"hold": func(s *story, w []string) error {
		d, err := time.ParseDuration(strings.TrimPrefix(w[0], "+"))
		a := tick.Amendment{HoldUntil: s.now.Add(d)}
		if len(w) > 1 {
			a.Workloads = []workload.ID{id(w[1])}
		}
		return errors.Join(err, tick.Amend(s.Context(), s.store, site, "person", s.now, period, a))
	},
	"expect": (*story).expect,
}

func (s *story) run() {
	s.before = s.repository.Files()
	report, err := s.world.tick()
	s.last = told{report, err}
	if report.Commit != nil {
		s.pushed = report.Commit.ID
	}
	s.now = s.now.Add(period)
}

func (s *story) dies(w []string) error {
	before := strings.NewReplacer("mark", "extend", "close", "push").Replace(w[1])
	n := slices.Index([]string{"acquire", "extend", "push", "settle", "release"}, before)
	if again, is := strings.CutPrefix(w[1], "again-"); is {
		n = 3 + slices.Index([]string{"extend", "push", "ensure"}, again)
	}
	if n < 0 {
		return errors.New("no such effect")
	}
	s.killBefore = n + 1
	s.run()
	s.killBefore = 0
	if !errors.Is(s.last.err, errKilled) {
		return fmt.Errorf("it lived: %w", cmp.Or(s.last.err, errors.New("without an error")))
	}
	return nil
}

func (s *story) workload(w []string) error {
	who := id(w[0])
	sample, ok := s.fleet[who]
	if !ok {
		sample = workload.Sample{ID: who}
	}
	scale, rollout := workload.Scale{Driver: workload.DrivenByHPA, Min: 1, Max: 20000}, workload.Rollout{}
	if sample.Scale != nil {
		scale = *sample.Scale
	}
	if sample.Rollout != nil {
		rollout = *sample.Rollout
	}
	sample.Scale, sample.Rollout, sample.Unknown = &scale, &rollout, ""
	number := func(text string) int32 {
		n, err := strconv.Atoi(text)
		if err != nil {
			s.Fatal(err)
		}
		return int32(n)
	}
	for _, word := range w[1:] {
		field, value, _ := strings.Cut(word, "=")
		switch field {
		case "ready":
			scale.Ready = number(value)
		case "min":
			scale.Min = number(value)
		case "max":
			scale.Max = number(value)
		case "driver":
			scale.Driver = workload.Driver(value)
		case "target":
			scale.Target = float64(number(value)) / 100
		case "blind":
			scale.Blind = value
		case "load": // 140%: the highest of its metrics, of its target; unknown
			scale.Load = share(s.T, value)
		case "demand": // 3000: asked of it in a unit of time; unknown
			scale.Demand = figure(s.T, value)
		case "hand": // kubectl: who wrote the count just now; nobody
			scale.Hand, scale.Handed = value, s.now
			if value == "nobody" {
				scale.Hand, scale.Handed = "", time.Time{}
			}
		case "rollout":
			rollout.InFlight = value == "on"
		case "stale":
			sample.Scale, sample.Rollout, sample.Unknown = nil, nil, "generation 7 is not observed yet"
		case "terminating":
			sample.Terminating = true
		case "optout":
			sample.OptOut = value == "on"
		default:
			scale.Desired, scale.Ready = number(word), number(word)
		}
	}
	s.fleet[who] = sample
	return nil
}

func (s *story) rolls(w []string) error {
	who := id(w[0])
	sample, ok := s.fleet[who]
	if !ok {
		sample = workload.Sample{ID: who}
	}
	var available, desired int32
	if _, err := fmt.Sscanf(w[3], "%d/%d", &available, &desired); err != nil {
		return err
	}
	template := func(hash string, pods int32) workload.Template {
		return workload.Template{Hash: hash, Images: map[string]string{"app": "web:" + hash}, Desired: pods, Available: pods, ImagesOnly: hash != w[2]}
	}
	r := workload.Rollout{InFlight: true, Desired: desired, Templates: []workload.Template{
		template(w[2], available), template(w[1], desired-available),
	}}
	for i := 4; i < len(w); i++ {
		field, value, _ := strings.Cut(w[i], "=")
		switch field {
		case "failed":
			r.Failure = value
		case "halted":
			r.Halted = value
		case "asked": // so many pods of the target, whatever is available
			n, err := strconv.Atoi(value)
			if err != nil {
				return err
			}
			r.Templates[0].Desired = int32(n)
		case "alone": // no pods of the template before are left
			r.Templates[1] = template(w[1], 0)
		case "unjudged": // no condition says that it does not progress
			r.Unjudged = true
		case "older":
			r.Templates[0].Since, r.Templates[1].Since = s.now.Add(-2*time.Hour), s.now.Add(-time.Hour)
		default:
			n, err := strconv.Atoi(w[i+1])
			if err != nil {
				return err
			}
			r.Templates = append(r.Templates, template(field, int32(n)))
			i++
		}
	}
	sample.Rollout = &r
	s.fleet[who] = sample
	return nil
}

func (s *story) person(w []string) error {
	edit := func(what string, change func(map[workload.ID]checkpoint.Entry, workload.ID)) {
		s.world.person(what, func(entries map[workload.ID]checkpoint.Entry) { change(entries, id(w[1])) }, id(w[1]).Namespace)
	}
	switch w[0] {
	case "sets":
		n, err := strconv.Atoi(w[2])
		edit("scale by hand", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Replicas = int32(n)
			entries[who] = e
		})
		return err
	case "milestone": // shop/web 90 to: of the rollout that is declared
		n, err := strconv.Atoi(w[2])
		edit("milestone by hand", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Rollout.Milestone, e.Rollout.Returns = int32(n), checkpoint.Side(w[3])
			entries[who] = e
		})
		return err
	case "accepts": // shop/web 3 500: bounds
		low, _ := strconv.Atoi(w[2])
		high, err := strconv.Atoi(w[3])
		edit("accept bounds", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) {
			e := entries[who]
			e.Min, e.Max = int32(low), int32(high)
			entries[who] = e
		})
		return err
	case "deletes":
		edit("opt out", func(entries map[workload.ID]checkpoint.Entry, who workload.ID) { delete(entries, who) })
	case "reverts": // the files of the last tick's commit
		files := map[string][]byte{}
		for path := range s.repository.Files() {
			files[path] = nil
		}
		for path, text := range s.before {
			files[path] = []byte(text)
		}
		s.repository.Edit("Revert", s.now, files)
	case "commits":
		s.repository.Edit("work on the application", s.now, map[string][]byte{w[1]: []byte(s.now.String())})
	case "removes":
		s.repository.Edit("remove", s.now, map[string][]byte{w[1]: nil})
	case "replaces": // path "old" "new", ...: what is there once, in a file or several, as one commit
		files := map[string][]byte{}
		for w := w[1:]; len(w) > 2; w = w[3:] {
			text, ok := files[w[0]]
			if !ok {
				text = []byte(s.repository.Files()[w[0]])
			}
			if strings.Count(string(text), w[1]) != 1 {
				return fmt.Errorf("%s holds %q other than once:\n%s", w[0], w[1], text)
			}
			files[w[0]] = []byte(strings.Replace(string(text), w[1], w[2], 1))
		}
		s.repository.Edit("by hand", s.now, files)
	case "writes": // path "text"
		s.repository.Edit("write", s.now, map[string][]byte{w[1]: []byte(w[2] + "\n")})
	case "merges", "squashes":
		p, err := s.repository.Find(s.Context(), "gitlatch/"+site)
		if err != nil || p == nil || p.State != repo.ProposalOpen {
			return errors.New("there is no open proposal")
		}
		s.repository.Merge(p.ID, w[0] == "squashes", s.now)
	case "declines":
		p, err := s.repository.Find(s.Context(), "gitlatch/"+site)
		if err != nil || p == nil {
			return errors.New("there is no proposal")
		}
		s.repository.Decline(p.ID)
	case "copies": // shop: the last commit that gitlatch made, its message and what it made of a namespace
		log, _, err := s.repository.History(s.Context(), s.pushed, "", 1)
		if err != nil {
			return err
		}
		paths := []string{checkpoint.RecordPath(site, w[1]), checkpoint.ComponentPath(site, w[1])}
		objects, err := s.repository.Read(s.Context(), s.pushed, nil, paths...)
		files := map[string][]byte{}
		for _, path := range paths {
			files[path] = objects[path].Files[path]
		}
		s.repository.Edit(log[0].Message, s.now, files)
		return err
	case "amends": // the commit of the proposal: path
		s.repository.Amend("gitlatch/"+site, map[string][]byte{w[1]: []byte("theirs")})
	case "pushes": // to the proposal's branch: path
		s.repository.Push("gitlatch/"+site, "taken over", s.now, map[string][]byte{w[1]: []byte("theirs")})
	case "busy": // 30: commits elsewhere
		n, err := strconv.Atoi(w[1])
		for i := range n {
			s.repository.Edit(fmt.Sprintf("work %d", i), s.now, map[string][]byte{"app.yaml": []byte(strconv.Itoa(i))})
		}
		return err
	default:
		return fmt.Errorf("a person cannot %q", w[0])
	}
	return nil
}

func (s *story) expect(w []string) error {
	equal := func(got any, want string) error {
		if fmt.Sprint(got) != want {
			return fmt.Errorf("got %v, want %s", got, want)
		}
		return nil
	}
	switch w[0] {
	case "git": // shop/web 200 | shop/web nothing
		if e, ok := s.entries(s)[id(w[1])]; ok {
			return equal(levelOf(e), w[2])
		}
		return equal("nothing", w[2])
	case "rollout": // shop/web 25 progressing v1 v2 from | shop/web nothing: what git and the latch declare of it
		r := s.entries(s)[id(w[1])].Rollout
		if latched := s.latches(s)[id(w[1])].Declared.Rollout; latched != r {
			return fmt.Errorf("git declares %+v, and the latch %+v", r, latched)
		}
		if r == (checkpoint.Rollout{}) {
			return equal("nothing", strings.Join(w[2:], " "))
		}
		return equal(fmt.Sprintf("%d %s %s %s %s", r.Milestone, r.Phase, r.From.Hash, r.To.Hash, r.Returns), strings.Join(w[2:], " "))
	case "milestone": // shop/web pending budget: the decision on its rollout | shop/web none
		for _, d := range s.last.Decisions {
			if d.ID == id(w[1]) && d.Reading == policy.ReadingRollout {
				return equal(strings.TrimSpace(fmt.Sprintf("%s %s", d.Verdict, d.Reason)), strings.Join(w[2:], " "))
			}
		}
		return equal("none", strings.Join(w[2:], " "))
	case "message-of-commit":
		return contains(s.repository.Log()[0], w[1])
	case "latch":
		if n := s.latches(s)[id(w[1])].Declared.Replicas; n != 0 {
			return equal(n, w[2])
		}
		return equal("nothing", w[2])
	case "bounds": // shop/web 3 500
		e := s.entries(s)[id(w[1])]
		return equal(fmt.Sprintf("%d %d", e.Min, e.Max), w[2]+" "+w[3])
	case "commits": // by gitlatch
		n := 0
		for _, message := range s.repository.Log() {
			if strings.HasPrefix(message, "latch("+site+"): ") {
				n++
			}
		}
		return equal(n, w[1])
	case "subject":
		subject, _, _ := strings.Cut(s.repository.Log()[0], "\n")
		return equal(subject, w[1])
	case "decision": // shop/web freeze rollout
		for _, d := range s.last.Decisions {
			if d.ID == id(w[1]) {
				return equal(strings.TrimSpace(fmt.Sprintf("%s %s", d.Verdict, d.Reason)), strings.Join(w[2:], " "))
			}
		}
		return errors.New("no decision")
	case "says": // shop/web "words"
		for _, d := range s.last.Decisions {
			if d.ID == id(w[1]) {
				return contains(d.Text, w[2])
			}
		}
		return errors.New("no decision")
	case "capped":
		for _, d := range s.last.Decisions {
			if d.ID == id(w[1]) {
				return equal(d.Capped, "true")
			}
		}
		return errors.New("no decision")
	case "mismatch": // shop/web 3 500 | shop/web none
		for _, d := range s.last.Decisions {
			if d.ID == id(w[1]) {
				if d.Mismatch == nil {
					return equal("none", strings.Join(w[2:], " "))
				}
				return equal(fmt.Sprintf("%d %d", d.Mismatch.Min, d.Mismatch.Max), strings.Join(w[2:], " "))
			}
		}
		return errors.New("no decision")
	case "notice": // adopted shop/web | rewritten
		for _, n := range s.last.Notices {
			if string(n.Kind) == w[1] && (len(w) < 3 || n.Subject == w[2] || n.Subject == id(w[2]).String()) {
				return nil
			}
		}
		return errors.New("no such notice")
	case "notices": // landed adopted: all that there are
		var kinds []string
		for _, n := range s.last.Notices {
			kinds = append(kinds, string(n.Kind))
		}
		return equal(strings.Join(kinds, " "), strings.Join(w[1:], " "))
	case "no": // notices | problem | site
		switch w[1] {
		case "notices":
			return equal(len(s.last.Notices), "0")
		case "problem":
			return equal(s.last.Err(), "<nil>")
		case "site":
			_, ok := s.repository.Files()[checkpoint.SitePath(site)]
			return equal(ok, "false")
		}
	case "stop":
		return equal(s.last.Stop.Reason, w[1])
	case "problem":
		return contains(fmt.Sprint(s.last.Err()), w[1])
	case "requests": // to the repository, in the last tick
		return equal(s.requests, w[1])
	case "proposal": // open 3 | merged | closed | none: how many it would change, when it is open
		p, err := s.repository.Find(s.Context(), "gitlatch/"+site)
		switch {
		case err != nil:
			return err
		case p == nil:
			return equal("none", strings.Join(w[1:], " "))
		case p.State != repo.ProposalOpen:
			return equal(p.State, strings.Join(w[1:], " "))
		}
		return equal(fmt.Sprintf("open %d", len(s.head(s).Proposal.Changes)), strings.Join(w[1:], " "))
	case "mends": // shop pay | none: the namespaces whose Component the proposal writes anew
		names := "none"
		if ours := s.head(s).Proposal; ours != nil && len(ours.Mends) > 0 {
			var all []string
			for _, m := range ours.Mends {
				all = append(all, m.Namespace)
			}
			names = strings.Join(all, " ")
		}
		return equal(names, strings.Join(w[1:], " "))
	case "asks": // in the proposal's title, its body or its commit: "words"
		ours := s.head(s).Proposal
		if ours == nil {
			return errors.New("there is no proposal")
		}
		title, body, _ := s.repository.Words(ours.ID)
		log, _, err := s.repository.History(s.Context(), ours.Head, "", 1)
		said := map[string]string{"title": title, "body": body, "commit": log[0].Message}
		return errors.Join(err, contains(said[w[1]], w[2]))
	case "rests": // all that git holds was read and agreed
		return equal(s.head(s).Agreed.Partly, "false")
	case "proposed-file": // path "words": what the proposal's branch holds
		return contains(s.repository.FilesAt("gitlatch/" + site)[w[1]], w[2])
	case "proposed": // shop/web 200: what the proposal's branch declares
		files := map[string][]byte{}
		for path, text := range s.repository.FilesAt("gitlatch/" + site) {
			files[path] = []byte(text)
		}
		tree, err := checkpoint.ParseTree(site, files)
		if err != nil {
			return err
		}
		if e, ok := tree.Entries()[id(w[1])]; ok {
			return equal(e.Replicas, w[2])
		}
		return equal("nothing", w[2])
	case "file": // path "words"
		return contains(s.repository.Files()[w[1]], w[2])
	case "in-place": // path shop/web agrees | "words" | nothing: what is said of what it marks; - is the file itself
		for _, m := range s.last.InPlace {
			if m.File == w[1] && (w[2] == "-" && m.ID == workload.ID{} || w[2] != "-" && m.ID == id(w[2])) {
				return contains(cmp.Or(m.Text, "agrees"), w[3])
			}
		}
		return contains("nothing", w[3])
	case "alerts": // those that arrived since last asked: surge raised, mass-drop resolved
		var got []string
		for _, a := range s.sent {
			got = append(got, string(a.Kind)+" "+string(a.State))
		}
		s.sent = nil
		return equal(strings.Join(got, ", "), strings.Join(w[1:], " "))
	case "open": // ceiling shop/web | none: what people know of, or of a kind without a workload that all of it is one
		var got []string
		for _, o := range s.head(s).Open {
			subject := strings.Replace(o.Subject, "/deployment/", "/", 1)
			got = append(got, strings.TrimSpace(string(o.Kind)+" "+subject))
		}
		return equal(cmp.Or(strings.Join(got, ", "), "none"), strings.Join(w[1:], " "))
	case "message": // among the messages that arrived since, one that holds the words
		var got []string
		for _, a := range s.sent {
			got = append(got, a.Message())
		}
		return contains(strings.Join(got, "\n"), w[1])
	case "held":
		return contains(s.last.Held, "lease is held")
	}
	return fmt.Errorf("nobody knows how to expect %q", w[0])
}

// share reads 140% as 1.4, and unknown as 0.
func share(t *testing.T, text string) float64 {
	if text == "unknown" {
		return 0
	}
	return *figure(t, strings.TrimSuffix(text, "%")) / 100
}

// figure reads a number; unknown is nil.
func figure(t *testing.T, text string) *float64 {
	if text == "unknown" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return &n
}

// levelOf is the level of an entry; one that declares only a rollout has none.
func levelOf(e checkpoint.Entry) string {
	if e.Replicas == 0 {
		return "none"
	}
	return fmt.Sprint(e.Replicas)
}

func contains(text, words string) error {
	if !strings.Contains(text, words) {
		return fmt.Errorf("%q does not say %q", text, words)
	}
	return nil
}

// id reads namespace/name as a Deployment, or namespace/kind/name.
func id(text string) workload.ID {
	if strings.Count(text, "/") == 1 {
		text = strings.Replace(text, "/", "/deployment/", 1)
	}
	who, err := workload.ParseID(text)
	if err != nil {
		panic(err)
	}
	return who
}

// split parts a line into words; "..." is one word, and # begins a comment.
func split(line string) (words []string, err error) {
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimSpace(line) {
		word, rest, _ := strings.Cut(line, " ")
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, err
			}
			if word, err = strconv.Unquote(quoted); err != nil {
				return nil, err
			}
			rest = line[len(quoted):]
		}
		words, line = append(words, word), rest
	}
	return words, nil
}

// Each anomaly has a story that raises it, one that nearly does, and one in
// which it is over.
func TestEachAnomalyHasItsStories(t *testing.T) {
	t.Parallel()
	for _, kind := range alert.Kinds() {
		if !kind.Anomaly() && kind != alert.MassDrop && kind != alert.Stale {
			continue
		}
		archive, err := txtar.ParseFile("../../testdata/scenarios/anomaly-" + string(kind) + ".txtar")
		if err != nil {
			t.Error(err)
			continue
		}
		for name, words := range map[string]string{
			"raises": string(kind) + " raised", "nearly": "expect open none\nexpect alerts\n", "resolves": string(kind),
		} {
			if !slices.ContainsFunc(archive.Files, func(f txtar.File) bool { return f.Name == name && strings.Contains(string(f.Data), words) }) {
				t.Errorf("%s: no story %s that says %q", kind, name, words)
			}
		}
	}
}
