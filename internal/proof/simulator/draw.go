package simulator

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// draw draws the events of a history.
type draw struct {
	*rand.Rand
	files  map[string]string
	names  []string          // the workloads
	fixed  map[string]string // the fields of each workload that never change
	keda   []string          // the workloads that KEDA scales
	worker string            // the name of the custom kind in the policy; "" without one
	hosts  bool
	cloud  bool // it has the adapters of AWS
}

// newDraw starts a history. clouds is the share of histories with the adapters of AWS, in percent.
func newDraw(seed uint64, clouds int) *draw {
	d := &draw{Rand: rand.New(rand.NewPCG(seed, 14)), fixed: map[string]string{}}
	d.names = append(slices.Clone(names), pickSome(d, others, 8+d.IntN(4))...)
	if slices.Contains(d.names, worker) {
		d.worker = "worker"
	}
	d.drive()
	d.files = map[string]string{"gitlatch.yaml": d.rules()}
	d.hosts = d.IntN(4) > 0
	d.cloud = d.IntN(100) < clouds
	return d
}

// names are the workloads of each site. A site has at least 8 of the others.
var names = []string{"shop/web", "shop/api", "pay/ledger", "pay/jobs"}

var others = []string{
	"shop/cart", "shop/statefulset/sessions", "pay/cards", "pay/statefulset/vault", "stock/etl", "stock/feed",
	"stock/statefulset/index", "team-a/mail", "team-a/rollout/push", "team-a/auth", worker,
}

// worker is a workload of a custom kind.
const worker = "stock/worker/crunch"

// drive draws the autoscalers and the annotations of the workloads: up to five have a
// ScaledObject, and others may have no autoscaler.
func (d *draw) drive() {
	d.keda = pickSome(d, d.names, d.IntN(6))
	for _, who := range d.names {
		switch {
		case slices.Contains(d.keda, who):
			d.fixed[who] = " driver=keda min=" + pick(d, "0", "1")
		case d.IntN(12) == 0:
			d.fixed[who] = " driver= min=0 max=0"
		}
		d.fixed[who] += pick(d, "", "", " target=75", " target=50") + pick(d, "", "", "", " policy=chosen", " policy=unknown")
	}
}

func pick[T any](d *draw, of ...T) T { return of[d.IntN(len(of))] }

// pickSome draws some of a list, in its order.
func pickSome[T any](d *draw, of []T, some int) (picked []T) {
	for i, one := range of {
		if d.IntN(len(of)-i) < some-len(picked) {
			picked = append(picked, one)
		}
	}
	return picked
}

// policy returns a user's edit of the rules.
func (d *draw) policy() string { return d.writes(d.rules()) }

func (d *draw) writes(rules string) string {
	return fmt.Sprintf("person writes gitlatch.yaml %q", rules)
}

func (d *draw) who() string { return pick(d, d.names...) }

// namespace draws a namespace with workloads.
func (d *draw) namespace() string { return story.ID(d.who()).Namespace }

// record draws the path of a checkpoint file.
func (d *draw) record() string { return checkpoint.RecordPath(story.Site, d.namespace()) }

func (d *draw) scale() string { return d.scales(d.who(), d.pods()) }

// scales returns a line with the present pods of a workload.
func (d *draw) scales(who string, pods int) string {
	return fmt.Sprintf("workload %s %d%s", who, pods, d.fixed[who])
}

// pods draws from 1 to 5000; half of the draws are below 70.
func (d *draw) pods() int { return int(math.Exp(d.Float64() * math.Log(5000))) }

// effect draws the number of an effect; effects near the push are more frequent. With the
// adapters of AWS, a tick has several effects for each of the others.
func (d *draw) effect() int {
	if d.cloud {
		return 2 + d.IntN(24)
	}
	return pick(d, 1, 2, 3, 4, 5, 5, 6, 6, 6, 7, 8, 9, 10)
}

// then returns a line and some ticks.
func (d *draw) then(line string, args ...any) []string {
	if len(args) > 0 {
		line = fmt.Sprintf(line, args...)
	}
	return []string{line, fmt.Sprintf("try %d", 1+d.IntN(4))}
}

// amidst plays a line just before an effect of a tick.
func (d *draw) amidst(line string) []string {
	return []string{d.scale(), fmt.Sprintf("before %d %s", 2+d.IntN(5), line), "try", "try"}
}

// falls returns a tick with a fault at one of its effects.
func (d *draw) falls(how string) []string {
	return []string{d.scale(), "try", fmt.Sprintf("%s at %d", how, d.effect())}
}

// pushing returns a tick whose push has a fault.
func (d *draw) pushing(fault string) []string {
	return []string{d.scale(), "try", fault, "try"}
}

// onHost returns a line and some ticks; nil if the host has no pull requests.
func (d *draw) onHost(line string) []string {
	if !d.hosts {
		return nil
	}
	return d.then(line)
}

// onKEDA returns lines about a workload that KEDA scales; nil if KEDA scales no workload.
func (d *draw) onKEDA(lines func(who string) []string) []string {
	if len(d.keda) == 0 {
		return nil
	}
	return lines(pick(d, d.keda...))
}

// and returns more lines after some lines; nil for nil lines, because an event is not
// possible in this history.
func and(lines []string, more ...string) []string {
	if lines == nil {
		return nil
	}
	return append(lines, more...)
}

func (d *draw) part() string {
	return pick(d, "deployments: forbidden", "horizontalpodautoscalers: forbidden", "replicasets: forbidden", "replicasets of shop/web: forbidden",
		"namespace kube-system: forbidden", "scaledobjects: forbidden")
}

func rollout(d *draw) []string {
	desired := 2 + d.IntN(100)
	line := fmt.Sprintf("rolls %s v%d v%d %d/%d", d.who(), d.IntN(3), 3+d.IntN(3), d.IntN(desired+1), desired)
	return d.then(line + pick(d, "", "", "", " failed=ProgressDeadlineExceeded", " halted=paused", " older", " unjudged"))
}

// outage halves most of the workloads at once, or lowers them further, with or without a
// partial sample in between. Then they recover, or do not.
func outage(d *draw) (lines []string) {
	for _, who := range d.names {
		lines = append(lines, d.scales(who, 50+d.IntN(200)))
	}
	lines = append(lines, "try 3")
	for _, who := range d.names[d.IntN(len(d.names)/2):] {
		lines = append(lines, d.scales(who, 1+d.IntN(5)))
	}
	lines = append(lines, fmt.Sprintf("try %d", 1+d.IntN(8)))
	if d.IntN(2) == 0 {
		lines = append(lines, fmt.Sprintf("unread %q", d.part()), fmt.Sprintf("try %d", 1+d.IntN(10)), "unread")
	}
	return append(lines, fmt.Sprintf("try %d", 1+d.IntN(10)))
}

// restored is a restore of the site's cluster or of a rebuilt one, to the levels or to a
// part of them. Its brakes end at their time limit or by a release.
func restored(d *draw) []string {
	lines := []string{pick(d, "try", "cluster uid-green"), fmt.Sprintf("restore %s %s", pick(d, "30m", "2h", "4h"), pick(d, "100%", "100%", "50%", "10%"))}
	lines = append(lines, pick(d, "try", "adopt"), pick(d, d.scale(), d.scale(), "gone "+d.who(), fmt.Sprintf("unread %q", d.part())))
	lines = append(lines, fmt.Sprintf("try %d", 1+d.IntN(40)), "unread", pick(d, "restore release", "restore 1h", d.scale()))
	return append(lines, d.then("adopt")...)
}

// begin returns the start of a site.
func (d *draw) begin() (lines []string) {
	lines = append(lines, d.guards())
	for _, who := range d.names {
		lines = append(lines, d.scales(who, d.pods()))
	}
	if d.cloud {
		lines = append(lines, "cloud")
	}
	if d.IntN(2) == 0 {
		lines = append(lines, "turns")
	}
	if d.hosts {
		lines = append(lines, pick(d, "host proposes", "host proposes", "host reviews"))
	}
	return append(lines, "try 3")
}

// calm ends all faults. A push that waited never lands.
func (d *draw) calm() []string {
	return []string{"refuse", "unread", "room", "walks", "topic hears", "limit", "levels forbid", "levels apply", "try 4"}
}

// event draws a kind of event that is possible in the history, and its lines.
func (d *draw) event() (e event, lines []string) {
	sum := 0
	for _, e := range events {
		sum += e.weight
	}
	for tries := 0; lines == nil && tries < 1000; tries++ { // -only may leave no possible event
		n := d.IntN(sum)
		i := slices.IndexFunc(events, func(e event) bool { n -= e.weight; return n < 0 })
		e = events[i]
		lines = e.draw(d)
	}
	return e, lines
}

// release is a rollout from one template to another, which may fail on the way and may be
// undone.
func release(d *draw) (lines []string) {
	who, desired, from, to := d.who(), 10+d.IntN(90), fmt.Sprintf("v%d", d.IntN(3)), fmt.Sprintf("v%d", 3+d.IntN(3))
	rolls := func(from, to string, share int, how string) {
		lines = append(lines, fmt.Sprintf("rolls %s %s %s %d/%d%s", who, from, to, desired*share/100, desired, how), fmt.Sprintf("try %d", 1+d.IntN(6)))
	}
	for share := 5; share < 100; share += 10 + d.IntN(50) {
		if rolls(from, to, share, pick(d, "", "", "", " halted=paused")); d.IntN(4) > 0 {
			continue
		}
		rolls(from, to, share, " failed=ProgressDeadlineExceeded")
		if d.IntN(2) == 0 {
			rolls(to, from, 100-share, "")
			break
		}
	}
	return append(lines, "rolled "+who, fmt.Sprintf("try %d", 1+d.IntN(4)))
}
