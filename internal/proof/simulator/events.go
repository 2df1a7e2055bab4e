package simulator

import (
	"fmt"
	"slices"
)

// An event is a kind of event in a history: its frequency among the others, and the
// lines of its story; nil if the event is not possible in the history.
type event struct {
	name   string
	weight int
	draw   func(*draw) []string
}

// mortal reports whether a death may be beside the event.
func (e event) mortal() bool {
	return slices.ContainsFunc(mortal, func(m event) bool { return m.name == e.name })
}

// withDeath is the name of a mortal event with a death beside it.
func (e event) withDeath() string { return e.name + " + death" }

// events are all kinds of events.
var events = slices.Concat(lively, mortal)

// lively are the events that draw their own deaths, or none.
var lively = []event{
	// Changes to the live workloads.
	{"scale", 12, func(d *draw) []string { return d.then(d.scale()) }},
	{"surge", 4, func(d *draw) []string { return d.then(d.scales(d.who(), 1000+d.IntN(9000))) }},
	{"time passes", 8, func(d *draw) []string { return []string{fmt.Sprintf("try %d", 6+d.IntN(20))} }},
	{"rollout", 7, rollout},
	{"rollout from end to end", 6, release},
	{"rollout over", 5, func(d *draw) []string { return d.then("rolled %s", d.who()) }},
	{"unready", 5, func(d *draw) []string { return d.then("workload %s ready=%d", d.who(), 1+d.IntN(40)) }},
	{"suspended", 4, func(d *draw) []string { return d.then(d.scales(d.who(), 0)) }},
	{"blind", 4, func(d *draw) []string { return d.then("workload %s blind=%s", d.who(), pick(d, "FailedGetMetric", "")) }},
	{"peak while blind", 4, func(d *draw) []string {
		who, low := d.who(), 1+d.IntN(9)
		lines := []string{d.scales(who, 1000+d.IntN(4000)), "try 4", d.scales(who, low), fmt.Sprintf("try %d", 1+d.IntN(12))}
		lines = append(lines, fmt.Sprintf("workload %s blind=FailedGetMetric", who), d.scales(who, 100+d.IntN(400)), "try")
		return append(lines, fmt.Sprintf("workload %s blind=", who), d.scales(who, low), fmt.Sprintf("try %d", 5+d.IntN(20)))
	}},
	{"stale", 4, func(d *draw) []string { return d.then("workload %s stale", d.who()) }},
	{"gone", 4, func(d *draw) []string { return d.then("gone %s", d.who()) }},
	{"retired", 4, func(d *draw) []string { return []string{"gone " + d.who(), "try 30"} }},
	{"many retired", 4, func(d *draw) []string {
		return []string{"gone " + d.who(), "try", "gone " + d.who(), fmt.Sprintf("try %d", 25+d.IntN(10))}
	}},
	{"namespace gone", 5, func(d *draw) []string {
		lines := []string{fmt.Sprintf("workload stage/web %d", d.pods()), "try 3", "gone stage/web"}
		lines = append(lines, pick(d, "try", d.scale(), fmt.Sprintf("dies at %d", d.effect()), "push waits", "before 5 person commits app.yaml"), fmt.Sprintf("try %d", 1+d.IntN(4)))
		return append(lines, pick(d, fmt.Sprintf("workload stage/web %d", d.pods()), "gone "+d.who(), "push lands", fmt.Sprintf("unread %q", d.part()), d.scale()), fmt.Sprintf("try %d", 1+d.IntN(30)), "unread")
	}},
	{"outage", 4, outage},
	{"acknowledged", 4, func(d *draw) []string { return d.then("adopt") }},
	{"rebuilt", 4, func(d *draw) []string {
		return append([]string{"cluster uid-green", fmt.Sprintf("at +%dm", 5*d.IntN(10))}, append(d.then(d.scale()), pick(d, "cluster uid-blue", "adopt"))...)
	}},
	{"second live cluster", 4, func(d *draw) []string {
		return []string{"cluster uid-clone", d.scale(), "try", "cluster uid-blue", "try", "cluster uid-clone", "try 2", "cluster uid-blue"}
	}},
	{"partial read", 6, func(d *draw) []string {
		return append([]string{fmt.Sprintf("unread %q", d.part())}, append(d.then(d.scale()), "unread")...)
	}},

	// The levels in the cluster.
	{"levels not applied", 4, func(d *draw) []string {
		return append([]string{"levels stop", d.scale(), fmt.Sprintf("try %d", 30+d.IntN(30))}, d.applied()...)
	}},
	{"levels late", 4, func(d *draw) []string {
		return append([]string{"levels stop", d.scale(), fmt.Sprintf("try %d", 2+d.IntN(20))}, d.applied()...)
	}},
	{"object lost", 4, func(d *draw) []string {
		return append([]string{"levels lose " + pick(d, "policy", "watch", d.namespace(), d.who()), fmt.Sprintf("try %d", 30+d.IntN(30))}, d.applied()...)
	}},
	{"levels not readable", 4, func(d *draw) []string {
		lines := []string{"levels forbid " + pick(d, "configmaps", "bindings", "policy", "version", "configmaps bindings policy"), pick(d, "levels stop", "levels lose "+d.namespace(), "try"), d.scale()}
		return append(append(lines, fmt.Sprintf("try %d", 10+d.IntN(40)), "levels forbid"), d.applied()...)
	}},
	{"another site's levels", 4, func(d *draw) []string {
		return []string{"levels site stage", fmt.Sprintf("try %d", 10+d.IntN(20)), "levels site prod", fmt.Sprintf("try %d", 1+d.IntN(20))}
	}},

	// Actions of users.
	{"edit", 6, func(d *draw) []string { return d.then("person sets %s %d", d.who(), 1+d.IntN(300)) }},
	{"bounds", 4, func(d *draw) []string { return d.then("person accepts %s 1 %d", d.who(), 100+d.IntN(20000)) }},
	{"opt-out", 4, func(d *draw) []string { return d.then("person deletes %s", d.who()) }},
	{"file removed", 4, func(d *draw) []string {
		return d.then("person removes %s", d.record())
	}},
	{"file removed, and again", 4, func(d *draw) []string {
		line := "person removes " + d.record()
		return []string{line, fmt.Sprintf("try %d", 10+d.IntN(10)), line, "try 3"}
	}},
	{"text edited", 4, func(d *draw) []string {
		return append(d.then("person unbinds %s", d.namespace()), d.then(d.scale())...)
	}},
	{"site removed", 4, func(d *draw) []string { return append(d.then("person wipes"), "try 14") }},
	{"asked back in", 4, func(d *draw) []string { return d.then("adopt %s", d.who()) }},
	{"revert", 4, func(d *draw) []string { return d.then("person undoes") }},
	{"work elsewhere", 4, func(d *draw) []string { return d.then("person commits app.yaml") }},
	{"busy", 4, func(d *draw) []string { return d.then("person busy %d", 5+d.IntN(40)) }},
	{"hold", 4, func(d *draw) []string { return d.then("hold +%dh", 1+d.IntN(5)) }},
	{"force-push", 4, func(d *draw) []string { return []string{"mark", d.scale(), "try 3", "rewind", "try 3"} }},
	{"lagging replica", 4, func(d *draw) []string { return []string{"mark", d.scale(), "try 3", "rewind", "try", "rewind", "try"} }},
	{"merge", 9, func(d *draw) []string { return d.onHost(pick(d, "person merges", "person squashes", "person rebases")) }},
	{"decline", 9, func(d *draw) []string { return d.onHost("person declines") }},
	{"take-over", 6, func(d *draw) []string { return d.onHost("person pushes theirs.yaml") }},
	{"amended", 6, func(d *draw) []string { return d.onHost("person amends theirs.yaml") }},
	{"proposal made needless", 28, func(d *draw) []string { // the new policy may not need a review
		reviewed := d.writes(d.head("latch") + "policies: [{name: default, match: {}, hold: {up: 2}, review: true}]\n")
		return and(d.onHost("person merges"), reviewed, d.scales(d.who(), 1000+d.IntN(4000)), "try 3", d.policy(), "try 3")
	}},
	{"proposal answered by an edit", 8, func(d *draw) []string {
		who := d.who()
		return and(d.onHost("person merges"), d.scales(who, 1000+d.IntN(4000)), "try 3", fmt.Sprintf("person sets %s %d", who, 1+d.IntN(300)), "try 2")
	}},
	{"copied", 4, func(d *draw) []string { return d.then("person copies %s", d.namespace()) }},
	{"record broken", 4, func(d *draw) []string {
		of := d.namespace()
		return append(append([]string{"person breaks " + of}, d.then(d.scale())...), pick(d, "person repairs "+of, "person undoes"), "person repairs "+of)
	}},
	{"policy broken", 4, func(d *draw) []string {
		return append(append([]string{`person writes gitlatch.yaml "mode: [latch"`}, d.then(d.scale())...), d.policy(), "try")
	}},
	{"another policy", 4, func(d *draw) []string { return d.then(d.policy()) }},
	{"rival", 6, func(d *draw) []string {
		return d.amidst(pick(d, fmt.Sprintf("person sets %s %d", d.who(), 1+d.IntN(300)), "person commits app.yaml", "person deletes "+d.who(), "person undoes"))
	}},

	// Faults.
	{"refused", 4, func(d *draw) []string {
		return append(append([]string{"refuse protected"}, d.then(d.scale())...), "refuse")
	}},
	{"lost push", 4, func(d *draw) []string { return d.pushing("push waits") }},
	{"late push", 4, func(d *draw) []string { return append(d.pushing("push waits"), "push lands", "try") }},
	{"late push in mid-tick", 4, func(d *draw) []string { return append(d.pushing("push waits"), d.amidst("push lands")...) }},
	{"late push, buried", 4, func(d *draw) []string {
		return append(d.pushing("push waits"), pick(d, "try", "dies at 6", "at +5m"), "push lands", fmt.Sprintf("person busy %d", 15+d.IntN(30)), "try")
	}},
	{"death, and another value", 22, func(d *draw) []string {
		who, pushed := d.who(), 5 // the effect after the push
		if d.cloud {
			pushed = 8
		}
		acts, dies := pick(d, "undoes", "sets "+who+" 70", "deletes "+who), fmt.Sprintf("dies at %d", pushed)
		return []string{d.scales(who, 1000+d.IntN(4000)), fmt.Sprintf("before %d person %s", pushed, acts), dies, dies, "try 2"}
	}},
	{"window cut short", 4, func(d *draw) []string {
		return append(append([]string{"walks 8"}, d.falls("dies")...), pick(d, "person undoes", "person sets "+d.who()+" 70", "try"),
			fmt.Sprintf("person busy %d", 9+d.IntN(10)), "try 2", "walks")
	}},
	{"death, buried", 4, func(d *draw) []string {
		return append(d.falls("dies"), fmt.Sprintf("person busy %d", 15+d.IntN(30)), pick(d, "person undoes", "person sets "+d.who()+" 70", "try"), "try")
	}},
	{"refused and late", 4, func(d *draw) []string { return append(d.pushing("push refused"), d.amidst("push lands")...) }},
	{"reply lost", 4, func(d *draw) []string { return d.pushing("reply lost") }},
	{"death", 8, func(d *draw) []string { return d.falls("dies") }},
	{"death amid a save", 4, func(d *draw) []string {
		lines := []string{d.scale(), "try 3", "person commits app.yaml", "try"}
		lines = append(lines, pick(d, "person undoes", fmt.Sprintf("person sets %s %d", d.who(), 1+d.IntN(300)), d.scale()), "dies amid save")
		return append(lines, pick(d, "person retracts", "person retracts", "person undoes", "try"), "try 2")
	}},
	{"deaths in a row", 6, func(d *draw) []string {
		lines := []string{d.scale(), "try"}
		for range 2 + d.IntN(3) {
			lines = append(lines, d.scale(), fmt.Sprintf("dies at %d", d.effect()))
		}
		return append(lines, "try")
	}},
	{"error", 6, func(d *draw) []string { return d.falls("errs") }},
	{"unheard", 6, func(d *draw) []string { return d.falls("unheard") }},
	{"throttled", 4, func(d *draw) []string { return d.then("throttle %d", 1+d.IntN(3)) }},
	{"oversized", 4, func(d *draw) []string { return append(append([]string{"room 100"}, d.then(d.scale())...), "room") }},
	{"all state lost", 4, func(d *draw) []string { return d.then("state lost") }},
	{"state lost but the head", 4, func(d *draw) []string { return d.then("state lost but head") }},
	{"state lost but latches", 4, func(d *draw) []string { return d.then("state lost but latches") }},
	{"clock ahead", 4, func(d *draw) []string {
		ahead := fmt.Sprintf("%dm", 5+5*d.IntN(600))
		return append(append([]string{"at +" + ahead}, d.then(d.scale())...), "at -"+ahead)
	}},
	{"gap", 4, func(d *draw) []string { return d.then("at +%dm", 5*d.IntN(100)) }},
	{"lease expires", 4, func(d *draw) []string {
		n := 1 + d.IntN(7)
		return []string{d.scale(), fmt.Sprintf("before %d at +10m", n), fmt.Sprintf("before %d try", n), "try"}
	}},
	{"another site", 4, func(d *draw) []string {
		return append([]string{"beside " + d.scale(), "beside try"}, d.amidst("beside try")...)
	}},
	{"closing fails", 11, func(d *draw) []string {
		return and(d.onHost(fmt.Sprintf("host stumbles %d", 1+d.IntN(3))), d.scale(), "try 8")
	}},
	{"host loses a branch", 6, func(d *draw) []string { return d.onHost("host loses") }},
	{"refused alert", 4, func(d *draw) []string {
		return []string{"topic refuses " + pick(d, "surge", "unread", "mass-drop"), d.scale(), "try", d.scale(), "try 2", "topic hears"}
	}},
	{"deaf topic", 4, func(d *draw) []string {
		return append(append([]string{"topic deaf"}, d.then(d.scale())...), "topic hears")
	}},
}
