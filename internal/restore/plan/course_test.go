package plan_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var start = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// A play is a cluster in which a number of pods become ready each second.
type play struct {
	live   map[workload.ID]plan.Workload
	course *plan.Course
	now    time.Time
	asked  []int32 // pods, in each second
	said   []string
	worst  int32 // unready pods at any time
	refuse error // why the raises of a/refused fail; nil if they do not
}

func newPlay(declared map[string]int32, priority map[string]int32, pace plan.Pace) *play {
	record := map[workload.ID]checkpoint.Entry{}
	p := &play{live: map[workload.ID]plan.Workload{}, now: start}
	for short, level := range declared {
		id := deployment(short)
		record[id] = checkpoint.Entry{Replicas: level}
		p.live[id] = plan.Workload{ID: id, Replicas: 1, Ready: 1, Priority: priority[short]}
	}
	p.course = plan.NewCourse(plan.Make(record, p.live, plan.Options{}), pace, p.now)
	return p
}

// second advances the play by one second; ready returns how many pods of a workload
// become ready in it.
func (p *play) second(ready func(workload.ID) int32) bool {
	var asked int32
	s := p.course.Next(p.live, p.now)
	p.said = append(p.said, s.Say...)
	for _, a := range s.Ask {
		if a.ID == deployment("a/refused") && p.refuse != nil {
			p.course.Failed(a.ID)
			p.course.Refuse(a.ID, p.refuse)
			continue
		}
		p.course.Accept(a.ID)
		w := p.live[a.ID]
		asked += a.To - w.Replicas
		w.Replicas = a.To
		p.live[a.ID] = w
	}
	p.asked = append(p.asked, asked)
	var unready int32
	for id, w := range p.live {
		unready += w.Replicas - w.Ready
		w.Ready = min(w.Replicas, w.Ready+ready(id))
		p.live[id] = w
	}
	p.worst = max(p.worst, unready)
	p.now = p.now.Add(time.Second)
	return s.Done
}

func (p *play) until(t *testing.T, limit int, ready func(workload.ID) int32) {
	t.Helper()
	for range limit {
		if p.second(ready) {
			return
		}
	}
	t.Fatalf("not over after %d s: %+v, said %q", limit, p.live, p.said)
}

func evenly(n int32) func(workload.ID) int32 { return func(workload.ID) int32 { return n } }

func TestThePaceIsKept(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/a": 401, "a/b": 401}, nil, plan.Pace{PerMinute: 120, Unready: 10_000, Patience: time.Hour})
	p.until(t, 1000, evenly(1000))
	if asked := len(p.asked); asked < 380 || asked > 410 {
		t.Errorf("800 pods at 120 a minute took %d s", asked)
	}
	p.within(t, 120)
	burst := int32(0)
	for _, n := range p.asked[:10] {
		burst += n
	}
	if burst > 40 {
		t.Errorf("%d of a minute's 120 pods are asked for within ten seconds", burst)
	}
}

// within checks that the plan starts at most that number of pods in any minute.
func (p *play) within(t *testing.T, most int32) {
	t.Helper()
	sum := int32(0)
	for i, n := range p.asked {
		if sum += n; i >= 60 {
			sum -= p.asked[i-60]
		}
		if sum > most {
			t.Fatalf("%d pods, and not %d, are asked for in the minute to second %d", sum, most, i)
		}
	}
}

// After a wait for a wave, the plan does not catch up on the pods that it did not
// start.
func TestThePaceIsKeptAfterAWait(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/first": 100, "a/second": 400}, map[string]int32{"a/first": 10}, plan.Pace{PerMinute: 120, Unready: 10_000, Patience: time.Hour})
	p.until(t, 1000, evenly(1))
	p.within(t, 120)
}

func TestASmallPaceIsKept(t *testing.T) {
	t.Parallel()
	for pace, want := range map[int32]int{1: 180, 2: 90, 7: 26} {
		p := newPlay(map[string]int32{"a/a": 5}, nil, plan.Pace{PerMinute: pace, Unready: 10, Patience: time.Hour})
		p.until(t, 1000, evenly(10))
		p.within(t, pace)
		if asked := len(p.asked); asked < want || asked > want+10 {
			t.Errorf("4 pods at %d a minute took %d s, want %d", pace, asked, want)
		}
	}
}

func TestUnreadyPodsAreBounded(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/a": 500, "a/b": 500}, nil, plan.Pace{PerMinute: 60_000, Unready: 50, Patience: time.Hour})
	p.until(t, 1000, evenly(5))
	if p.worst > 50 {
		t.Errorf("%d pods were not ready at once", p.worst)
	}
}

func TestAWaveWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/first": 100, "a/second": 100}, map[string]int32{"a/first": 10}, plan.Pace{PerMinute: 60_000, Unready: 1000, Patience: time.Minute})
	first, second := deployment("a/first"), deployment("a/second")
	for p.live[first].Ready < 100 {
		if p.live[second].Replicas > 1 {
			t.Fatalf("the second wave began with the first at %d", p.live[first].Ready)
		}
		p.second(evenly(7))
	}
	p.until(t, 100, evenly(7))
	if got := strings.Join(p.said, "; "); got != "wave 1 of 2, priority 10: 1 to raise; wave 2 of 2, priority 0: 1 to raise" {
		t.Error(got)
	}
}

// A workload whose pods never become ready must not block the rest of its wave, even
// though its pods fill the limit of unready pods. It must not block the next wave
// either.
func TestPatienceEnds(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/broken": 100, "a/web": 100, "b/last": 100}, map[string]int32{"a/broken": 10, "a/web": 10},
		plan.Pace{PerMinute: 60_000, Unready: 50, Patience: time.Minute})
	p.until(t, 1000, func(id workload.ID) int32 {
		if id.Name == "broken" {
			return 0
		}
		return 10
	})
	for short, want := range map[string]int32{"a/web": 100, "b/last": 100} {
		if got := p.live[deployment(short)].Ready; got != want {
			t.Errorf("%s has %d ready, want %d", short, got, want)
		}
	}
	if got := p.live[deployment("a/broken")].Replicas; got != 100 {
		t.Errorf("broken was asked for %d", got)
	}
	if said := strings.Join(p.said, "\n"); !strings.Contains(said, "made no progress for 1m0s, and the restore continues without a/broken has 1 of 100 ready") {
		t.Error(said)
	}
}

func TestWhatSomebodyLowersIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/web": 100}, nil, plan.Pace{PerMinute: 60_000, Unready: 1000, Patience: time.Hour})
	id := deployment("a/web")
	for range 20 {
		if p.second(evenly(0)) {
			break
		}
		p.live[id] = plan.Workload{ID: id, Replicas: 1, Ready: 1} // a tool lowers it again
	}
	asked := 0
	for _, n := range p.asked {
		if n > 0 {
			asked++
		}
	}
	if said := strings.Join(p.said, "\n"); asked != 4 || !strings.Contains(said, "Check whether a GitOps tool applies its replicas") {
		t.Errorf("asked %d times, said\n%s", asked, said)
	}
}

// The plan applies its rules until its end: it does not scale or await a workload that
// the rules exclude by now.
func TestTheRulesOfThePlanHoldToItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by   func(*plan.Workload)
		at   int32 // pods desired in the end; -1 if unchanged
		said string
	}{
		"suspended":     {func(w *plan.Workload) { w.Replicas, w.Ready = 0, 0 }, 0, "a/deployment/web: is suspended (0 replicas)"},
		"opted out":     {func(w *plan.Workload) { w.OptOut = true }, -1, "a/deployment/web: is opted out by its annotation"},
		"capped":        {func(w *plan.Workload) { w.Scalers = []plan.Scaler{{Max: 30}} }, 30, ""},
		"capped higher": {func(w *plan.Workload) { w.Scalers = []plan.Scaler{{Max: 300}} }, 100, ""},
		"paused":        {func(w *plan.Workload) { w.Scalers = []plan.Scaler{{Fixed: "paused"}} }, -1, "is paused"},
		"being deleted": {func(w *plan.Workload) { w.Terminating = true }, -1, "a/deployment/web: is being deleted"},
	} {
		p := newPlay(map[string]int32{"a/web": 100, "a/api": 100}, nil, plan.Pace{PerMinute: 240, Unready: 1000, Patience: time.Hour})
		id := deployment("a/web")
		for p.live[id].Replicas < 3 {
			p.second(evenly(1))
		}
		w := p.live[id]
		want := w.Replicas
		if c.at >= 0 {
			want = c.at
		}
		c.by(&w)
		p.live[id] = w
		p.until(t, 200, evenly(10))
		if got := p.live[id].Replicas; got != want || p.live[deployment("a/api")].Ready != 100 {
			t.Errorf("%s: it is at %d, want %d; %+v", name, got, want, p.live)
		}
		if said := strings.Join(p.said, "\n"); c.said != "" && strings.Count(said, c.said) != 1 {
			t.Errorf("%s: said\n%s", name, said)
		}
	}
}

// The removed pods of a workload that a user suspends do not hide the progress of the
// rest.
func TestWhatIsSuspendedHidesNoProgress(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/web": 100, "a/api": 50}, nil, plan.Pace{PerMinute: 60_000, Unready: 1000, Patience: 10 * time.Second})
	web := deployment("a/web")
	for p.live[web].Ready < 100 {
		p.second(func(id workload.ID) int32 { return map[string]int32{"web": 100}[id.Name] })
	}
	p.second(evenly(0)) // the course sees the ready pods
	p.live[web] = plan.Workload{ID: web}
	p.until(t, 200, evenly(1))
	if said := strings.Join(p.said, "\n"); strings.Contains(said, "made no progress") {
		t.Error(said)
	}
}

func TestWhatIsGoneIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	p := newPlay(map[string]int32{"a/web": 100}, nil, plan.Pace{PerMinute: 60_000, Unready: 1000, Patience: time.Hour})
	p.second(evenly(1))
	delete(p.live, deployment("a/web"))
	p.until(t, 2, evenly(1))
}

// For any behaviour of the cluster: the plan scales no workload above its level or
// below its live replicas, and it starts no more pods in a minute than the pace allows.
// A course ends, and a plan made after it has no step.
func TestLawsOfACourse(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		declared, priority := map[string]int32{}, map[string]int32{}
		for i := range 1 + random.IntN(6) {
			short := fmt.Sprintf("n/w%d", i)
			declared[short], priority[short] = 1+random.Int32N(300), random.Int32N(3)
		}
		pace := plan.Pace{PerMinute: 1 + random.Int32N(5000), Unready: 1 + random.Int32N(200), Patience: time.Duration(1+random.IntN(100)) * time.Second}
		p := newPlay(declared, priority, pace)
		over := false
		for range 200_000 {
			before := map[workload.ID]int32{}
			for id, w := range p.live {
				if random.IntN(50) == 0 { // an autoscaler scales up
					w.Replicas = min(w.Replicas+random.Int32N(5), declared[id.Short()]+10)
					p.live[id] = w
				}
				before[id] = w.Replicas
			}
			over = p.second(func(workload.ID) int32 { return random.Int32N(20) })
			for id, w := range p.live {
				if level := declared[id.Short()]; w.Replicas < before[id] || w.Replicas > before[id] && w.Replicas > level {
					t.Fatalf("seed %d: %s went from %d to %d, its level is %d", seed, id, before[id], w.Replicas, level)
				}
			}
			if over {
				break
			}
		}
		if !over {
			t.Fatalf("seed %d: it never ends: %+v, pace %+v", seed, p.live, pace)
		}
		p.within(t, pace.PerMinute)
		for short, level := range declared {
			if got := p.live[deployment(short)].Replicas; got < level {
				t.Errorf("seed %d: %s is at %d, its level is %d", seed, short, got, level)
			}
		}
	}
}

// A raise that is refused each second takes no pods of the pace from the waves, and a wave
// without progress still ends. Once the raise is accepted, its workload gets its pods at the
// pace.
func TestARefusedRaiseDoesNotHoldUpTheWaves(t *testing.T) {
	t.Parallel()
	declared := map[string]int32{"a/refused": 1000, "a/stuck": 2, "a/second": 201}
	priority := map[string]int32{"a/refused": 10, "a/stuck": 5}
	p := newPlay(declared, priority, plan.Pace{PerMinute: 120, Unready: 10_000, Patience: time.Minute})
	p.refuse = errors.New("denied")
	refused, stuck, second := deployment("a/refused"), deployment("a/stuck"), deployment("a/second")
	ready := func(id workload.ID) int32 {
		if id == stuck {
			return 0
		}
		return 1000
	}
	for p.live[second].Replicas == 1 && len(p.asked) < 100 {
		p.second(ready)
	}
	if begun := len(p.asked); begun != 63 || p.asked[begun-1] != 20 {
		t.Errorf("the last wave begins with %d pods after %d s", p.asked[begun-1], begun)
	}
	p.until(t, 110, ready)
	if got := p.course.Refused(); p.live[second].Ready != 201 || p.live[refused].Replicas != 1 || len(got) != 1 || got[refused] != p.refuse {
		t.Fatalf("refused %v, %+v", got, p.live)
	}
	p.refuse = nil
	waves := plan.Make(map[workload.ID]checkpoint.Entry{refused: {Replicas: 1000}}, p.live, plan.Options{})
	for p.live[refused].Ready < 1000 && len(p.asked) < 1000 {
		p.second(ready)
		p.course.Add(waves)
	}
	p.within(t, 120)
	if p.live[refused].Ready != 1000 || len(p.course.Refused()) > 0 {
		t.Errorf("after %d s: %+v", len(p.asked), p.live)
	}
}

// Workloads that appear later join the waves that are still ahead. If their wave has
// passed, they join the present one.
func TestALaterPlanJoinsTheWavesAhead(t *testing.T) {
	t.Parallel()
	priority := map[string]int32{"a/first": 1000, "a/second": 10}
	p := newPlay(map[string]int32{"a/first": 9, "a/second": 9}, priority, plan.Pace{})
	ranks := map[string]int32{"a/first": 1000, "a/second": 10, "b/passed": 1000, "b/present": 10, "b/last": -5, "b/next": 5, "b/dropped": 10}
	record := map[workload.ID]checkpoint.Entry{deployment("c/late"): {Replicas: 9}}
	for short := range ranks {
		record[deployment(short)] = checkpoint.Entry{Replicas: 9}
	}
	p.course = plan.NewCourse(plan.Make(record, p.live, plan.Options{}), plan.Pace{PerMinute: 6000, Unready: 1000, Patience: time.Hour}, p.now)
	for len(p.said) < 2 { // until the second wave
		p.second(evenly(9))
	}
	for short, rank := range ranks {
		p.live[deployment(short)] = plan.Workload{ID: deployment(short), Replicas: 1, Priority: rank}
	}
	p.course.Drop(deployment("b/dropped"))
	for range 2 { // twice is once
		got := show(plan.Plan{Waves: p.course.Add(plan.Make(record, p.live, plan.Options{}))})
		const want = "[priority 1000] a/first 1->9 [priority 10] a/first 1->9 a/second 1->9 b/passed 1->9 b/present 1->9 [priority 5] b/next 1->9 [priority -5] b/last 1->9"
		if got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	p.until(t, 1000, evenly(9))
	for id, w := range p.live {
		if want := id.Name != "dropped"; (w.Ready == 9) != want {
			t.Errorf("%s has %d", id, w.Ready)
		}
	}
	p.live[deployment("c/late")] = plan.Workload{ID: deployment("c/late"), Replicas: 1}
	if waves := p.course.Add(plan.Make(record, p.live, plan.Options{})); len(waves) != 5 {
		t.Errorf("after the end: %+v", waves)
	}
}
