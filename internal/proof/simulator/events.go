package simulator

import (
	"fmt"
	"math"
)

// An event is a kind of thing that happens: how often beside the others, and the
// lines that tell it.
type event struct {
	name   string
	weight int
	draw   func(*draw) []string
}

// events are all kinds.
var events = []event{
	// What runs.
	{"scale", 40, func(d *draw) []string { return d.then(d.scale()) }},
	{"surge", 4, func(d *draw) []string { return d.then("workload %s %d", d.who(), 1000+d.IntN(9000)) }},
	{"time passes", 10, func(d *draw) []string { return []string{fmt.Sprintf("try %d", 6+d.IntN(20))} }},
	{"rollout", 10, rollout},
	{"rollout over", 8, func(d *draw) []string { return d.then("rolled %s", d.who()) }},
	{"unready", 5, func(d *draw) []string { return d.then("workload %s ready=%d", d.who(), 1+d.IntN(40)) }},
	{"blind", 3, func(d *draw) []string { return d.then("workload %s blind=%s", d.who(), pick(d, "FailedGetMetric", "")) }},
	{"stale", 3, func(d *draw) []string { return d.then("workload %s stale", d.who()) }},
	{"gone", 2, func(d *draw) []string { return d.then("gone %s", d.who()) }},
	{"retired", 1, func(d *draw) []string { return []string{"gone " + d.who(), "try 30"} }},
	{"outage", 3, outage},
	{"acknowledged", 1, func(d *draw) []string { return d.then("adopt") }},
	{"rebuilt", 2, func(d *draw) []string {
		return append([]string{"cluster uid-green", fmt.Sprintf("at +%dm", 5*d.IntN(10))}, append(d.then(d.scale()), pick(d, "cluster uid-blue", "adopt"))...)
	}},
	{"second live cluster", 2, func(d *draw) []string {
		return []string{"cluster uid-clone", d.scale(), "try", "cluster uid-blue", "try", "cluster uid-clone", "try 2", "cluster uid-blue"}
	}},
	{"partial read", 6, func(d *draw) []string {
		return append([]string{fmt.Sprintf("unread %q", d.part())}, append(d.then(d.scale()), "unread")...)
	}},

	// What people do.
	{"edit", 6, func(d *draw) []string { return d.then("person sets %s %d", d.who(), 1+d.IntN(300)) }},
	{"bounds", 1, func(d *draw) []string { return d.then("person accepts %s 1 %d", d.who(), 100+d.IntN(20000)) }},
	{"opt-out", 2, func(d *draw) []string { return d.then("person deletes %s", d.who()) }},
	{"asked back in", 2, func(d *draw) []string { return d.then("adopt %s", d.who()) }},
	{"revert", 3, func(d *draw) []string { return d.then("person undoes") }},
	{"work elsewhere", 4, func(d *draw) []string { return d.then("person commits app.yaml") }},
	{"busy", 1, func(d *draw) []string { return d.then("person busy %d", 5+d.IntN(40)) }},
	{"hold", 1, func(d *draw) []string { return d.then("hold +%dh", 1+d.IntN(5)) }},
	{"force-push", 2, func(d *draw) []string { return []string{"mark", d.scale(), "try 3", "rewind", "try 3"} }},
	{"lagging replica", 2, func(d *draw) []string { return []string{"mark", d.scale(), "try 3", "rewind", "try", "rewind", "try"} }},
	{"merge", 6, func(d *draw) []string { return d.onHost(pick(d, "person merges", "person squashes")) }},
	{"decline", 3, func(d *draw) []string { return d.onHost("person declines") }},
	{"take-over", 1, func(d *draw) []string { return d.onHost("person pushes theirs.yaml") }},
	{"rival", 6, func(d *draw) []string {
		return d.amidst(pick(d, fmt.Sprintf("person sets %s %d", d.who(), 1+d.IntN(300)), "person commits app.yaml", "person deletes "+d.who(), "person undoes"))
	}},

	// What fails.
	{"refused", 3, func(d *draw) []string {
		return append(append([]string{"refuse protected"}, d.then(d.scale())...), "refuse")
	}},
	{"lost push", 4, func(d *draw) []string { return d.pushing("push waits") }},
	{"late push", 4, func(d *draw) []string { return append(d.pushing("push waits"), "push lands", "try") }},
	{"late push in mid-tick", 4, func(d *draw) []string { return append(d.pushing("push waits"), d.amidst("push lands")...) }},
	{"late push, buried", 2, func(d *draw) []string {
		return append(d.pushing("push waits"), pick(d, "try", "dies at 5", "at +5m"), "push lands", fmt.Sprintf("person busy %d", 15+d.IntN(30)), "try")
	}},
	{"death, buried", 2, func(d *draw) []string {
		return append(d.falls("dies"), fmt.Sprintf("person busy %d", 15+d.IntN(30)), pick(d, "person undoes", "person sets "+d.who()+" 70", "try"), "try")
	}},
	{"refused and late", 4, func(d *draw) []string { return append(d.pushing("push refused"), d.amidst("push lands")...) }},
	{"reply lost", 4, func(d *draw) []string { return d.pushing("reply lost") }},
	{"death", 8, func(d *draw) []string { return d.falls("dies") }},
	{"deaths in a row", 6, func(d *draw) []string {
		lines := []string{d.scale(), "try"}
		for range 2 + d.IntN(3) {
			lines = append(lines, d.scale(), fmt.Sprintf("dies at %d", d.effect()))
		}
		return append(lines, "try")
	}},
	{"error", 6, func(d *draw) []string { return d.falls("errs") }},
	{"unheard", 6, func(d *draw) []string { return d.falls("unheard") }},
	{"throttled", 3, func(d *draw) []string { return d.then("throttle %d", 1+d.IntN(3)) }},
	{"oversized", 1, func(d *draw) []string { return append(append([]string{"room 100"}, d.then(d.scale())...), "room") }},
	{"all state lost", 1, func(d *draw) []string { return d.then("state lost") }},
	{"state lost but the head", 1, func(d *draw) []string { return d.then("state lost but head") }},
	{"state lost but latches", 1, func(d *draw) []string { return d.then("state lost but latches") }},
	{"clock ahead", 2, func(d *draw) []string {
		ahead := fmt.Sprintf("%dm", 5+5*d.IntN(600))
		return append(append([]string{"at +" + ahead}, d.then(d.scale())...), "at -"+ahead)
	}},
	{"gap", 2, func(d *draw) []string { return d.then("at +%dm", 5*d.IntN(100)) }},
	{"lease expires", 4, func(d *draw) []string {
		n := 1 + d.IntN(6)
		return []string{d.scale(), fmt.Sprintf("before %d at +10m", n), fmt.Sprintf("before %d try", n), "try"}
	}},
	{"turn given twice", 3, func(d *draw) []string { return []string{d.scale(), "twice"} }},
	{"another site", 4, func(d *draw) []string {
		return append([]string{"beside " + d.scale(), "beside try"}, d.amidst("beside try")...)
	}},
	{"closing fails", 4, func(d *draw) []string {
		return append(d.onHost(fmt.Sprintf("host stumbles %d", 1+d.IntN(3))), d.scale(), "try 8")
	}},
	{"host loses a branch", 1, func(d *draw) []string { return d.onHost("host loses") }},
	{"refused alert", 2, func(d *draw) []string {
		return []string{"topic refuses " + pick(d, "surge", "unread", "mass-drop"), d.scale(), "try", d.scale(), "try 2", "topic hears"}
	}},
	{"deaf topic", 2, func(d *draw) []string {
		return append(append([]string{"topic deaf"}, d.then(d.scale())...), "topic hears")
	}},
}

// names are the workloads.
var names = []string{"shop/web", "shop/api", "pay/ledger", "pay/jobs"}

func (d *draw) who() string { return pick(d, names...) }

func (d *draw) scale() string {
	return fmt.Sprintf("workload %s %d", d.who(), d.pods())
}

// pods are from 1 to 5000, as many below 70 as above.
func (d *draw) pods() int { return int(math.Exp(d.Float64() * math.Log(5000))) }

// effect is the number of one, oftener of those about the push.
func (d *draw) effect() int { return pick(d, 1, 2, 3, 4, 4, 5, 5, 5, 6, 7, 8, 9) }

// then is a line and some ticks.
func (d *draw) then(line string, args ...any) []string {
	if len(args) > 0 {
		line = fmt.Sprintf(line, args...)
	}
	return []string{line, fmt.Sprintf("try %d", 1+d.IntN(4))}
}

// amidst lets a line happen just before an effect of a tick.
func (d *draw) amidst(line string) []string {
	return []string{d.scale(), fmt.Sprintf("before %d %s", 2+d.IntN(4), line), "try", "try"}
}

// falls is a tick that a fault befalls at one of its effects.
func (d *draw) falls(how string) []string {
	return []string{d.scale(), "try", fmt.Sprintf("%s at %d", how, d.effect())}
}

// pushing is a tick whose push meets a fault.
func (d *draw) pushing(fault string) []string {
	return []string{d.scale(), "try", fault, "try"}
}

func (d *draw) onHost(line string) []string {
	if !d.hosts {
		return d.then(d.scale())
	}
	return d.then(line)
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

// outage halves most of the fleet at once, or worse, with a partial read in its
// midst or not; then it recovers, or does not.
func outage(d *draw) (lines []string) {
	for _, who := range names {
		lines = append(lines, fmt.Sprintf("workload %s %d", who, 50+d.IntN(200)))
	}
	lines = append(lines, "try 3")
	for _, who := range names[d.IntN(2):] {
		lines = append(lines, fmt.Sprintf("workload %s %d", who, 1+d.IntN(5)))
	}
	lines = append(lines, fmt.Sprintf("try %d", 1+d.IntN(8)))
	if d.IntN(2) == 0 {
		lines = append(lines, fmt.Sprintf("unread %q", d.part()), fmt.Sprintf("try %d", 1+d.IntN(10)), "unread")
	}
	return append(lines, fmt.Sprintf("try %d", 1+d.IntN(10)))
}

// begin is how a site begins.
func (d *draw) begin() (lines []string) {
	for _, who := range names {
		lines = append(lines, fmt.Sprintf("workload %s %d", who, d.pods()))
	}
	if d.IntN(2) == 0 {
		lines = append(lines, "turns")
	}
	if d.hosts {
		lines = append(lines, pick(d, "host proposes", "host proposes", "host reviews"))
	}
	return append(lines, "try 3")
}

// calm ends all that fails, and what waited never lands.
func (d *draw) calm() []string { return []string{"refuse", "unread", "room", "topic hears", "try 4"} }

// event draws a kind of event.
func (d *draw) event() event {
	sum := 0
	for _, e := range events {
		sum += e.weight
	}
	n := d.IntN(sum)
	for _, e := range events {
		if n -= e.weight; n < 0 {
			return e
		}
	}
	return events[0]
}
