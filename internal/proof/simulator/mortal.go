package simulator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/proof/story"
)

// mortal are the events that may have a death beside them: a tick that dies before, between
// or after their lines.
var mortal = []event{
	// Policies.
	{"policy removed", 5, func(d *draw) []string {
		return append(append([]string{"person removes gitlatch.yaml"}, d.then(d.scale())...), pick(d, "state lost", "state lost but head", d.scale()), "try 3", d.policy(), "try")
	}},
	{"mode", 5, func(d *draw) []string {
		lines := append([]string{d.writes(d.rulesIn("observe"))}, d.then(d.scale())...)
		return append(lines, d.policy(), "try 3")
	}},
	{"kind renamed", 6, func(d *draw) []string {
		if d.worker == "" {
			return nil
		}
		was := d.worker
		d.worker = pick(d, "worker", "job", "batch")
		return append([]string{d.policy(), pick(d, "try", d.scale())}, append(d.moves("stock/"+was+"/crunch", "stock/"+d.worker+"/crunch"), "try 4")...)
	}},
	{"kind removed", 6, func(d *draw) []string {
		was := d.worker
		if was == "" {
			return nil
		}
		d.worker = ""
		lines := append([]string{d.policy()}, d.then(d.scale())...)
		d.worker = was
		return append(lines, d.policy(), "try 2")
	}},
	{"annotation", 6, func(d *draw) []string {
		return d.then("workload %s policy=%s", d.who(), pick(d, "chosen", "money", ""))
	}},

	// Files.
	{"file removed and restored", 6, func(d *draw) []string {
		at := d.record()
		return append(d.then("person removes "+at), pick(d, "person restores "+at, "person retracts"), "try 2")
	}},
	{"values without quotes", 5, func(d *draw) []string {
		lines := append(d.then("person unquotes %s", d.namespace()), pick(d, d.scale(), "person breaks "+d.namespace()), "try 2")
		return append(lines, "person repairs "+d.namespace())
	}},
	{"namespace renamed", 6, renamed},
	{"force-push amid a tick", 6, func(d *draw) []string {
		return []string{"mark", d.scale(), "try 3", d.scale(), fmt.Sprintf("before %d rewind", 1+d.IntN(6)), "try", "try 4"}
	}},
	{"rollout edited", 6, func(d *draw) []string {
		who := d.who()
		lines := []string{fmt.Sprintf("rolls %s v1 v2 %d/20", who, 4+d.IntN(10)), "try 5", fmt.Sprintf("person milestone %s %d %s", who, 1+d.IntN(99), pick(d, "from", "to"))}
		return append(lines, d.then(fmt.Sprintf("rolls %s v1 v2 %d/20", who, 10+d.IntN(10)))...)
	}},

	// Live workloads.
	{"live bounds", 6, func(d *draw) []string {
		return d.then("workload %s min=%d max=%d", d.who(), 1+d.IntN(20), 30+d.IntN(3000))
	}},
	{"bounds edited amid a tick", 5, func(d *draw) []string {
		who := d.who()
		lines := []string{d.scales(who, 1+d.IntN(50)), fmt.Sprintf("try %d", 3+d.IntN(3)), d.scales(who, 1000+d.IntN(4000))}
		for range d.IntN(3) {
			lines = append(lines, "try")
		}
		return append(lines, fmt.Sprintf("before %d person accepts %s 2 %d", 3+d.IntN(3), who, 9000+d.IntN(999)), "try", "try 2")
	}},
	{"minimum above maximum", 5, func(d *draw) []string {
		who := d.who()
		return append(d.then("workload %s min=%d max=%d", who, 50+d.IntN(50), 1+d.IntN(40)), fmt.Sprintf("workload %s min=1 max=20000", who), "try 2")
	}},
	{"opt-out by annotation", 5, func(d *draw) []string {
		who := d.who()
		return append(d.then("workload %s optout=on", who), d.then(fmt.Sprintf("workload %s optout=off", who))...)
	}},
	{"ScaledObject at rest", 6, func(d *draw) []string {
		return d.onKEDA(func(who string) []string { return append(d.then(d.scales(who, 0)), d.then(d.scales(who, d.pods()))...) })
	}},
	{"ScaledObject paused", 6, func(d *draw) []string {
		return d.onKEDA(func(who string) []string {
			pods := d.pods()
			lines := []string{fmt.Sprintf("workload %s %d \"blind=ScaledObject is paused%s\"", who, pods, pick(d, "", fmt.Sprintf(" at '%d' replicas", pods)))}
			return append(append(lines, d.then(d.scale())...), d.then(fmt.Sprintf("workload %s blind=", who))...)
		})
	}},
	{"restore", 6, restored},
	{"drill", 6, func(d *draw) []string {
		drill := pick(d, "drill", "drill", "drill", "drill", "drill dies before push", "drill dies before save")
		return append([]string{d.scale(), d.scale()}, d.then(drill)...)
	}},

	// Time and hosts.
	{"pause of a workload", 5, func(d *draw) []string {
		who := d.who()
		lines := append([]string{fmt.Sprintf("hold +%dm %s", 30+d.IntN(300), who)}, d.then(d.scales(who, d.pods()))...)
		return append(lines, pick(d, "try", fmt.Sprintf("hold +0h %s", who)))
	}},
	{"clock behind", 5, func(d *draw) []string {
		behind := fmt.Sprintf("%dm", 5+5*d.IntN(100))
		return append(append([]string{"at -" + behind}, d.then(d.scale())...), "at +"+behind, "try")
	}},
	{"ticks seconds apart", 5, func(d *draw) []string {
		return []string{d.scale(), "try", "at -295s", "try", fmt.Sprintf("at -%ds", 200+d.IntN(100)), "try", "try"}
	}},
	{"turn given twice", 5, func(d *draw) []string { return []string{d.scale(), "twice"} }},
	{"half-way save", 5, func(d *draw) []string { return []string{d.scale(), "try", d.scale(), "dies amid save", "try 2"} }},
	{"host limits files", 6, func(d *draw) []string {
		return []string{fmt.Sprintf("limit %d", 2+d.IntN(7)), d.scale(), d.scale(), d.scale(), fmt.Sprintf("try %d", 2+d.IntN(5)), "limit", "try"}
	}},
}

// applied ends a difference between git and the cluster.
func (d *draw) applied() []string {
	return []string{"levels apply", fmt.Sprintf("try %d", 1+d.IntN(20))}
}

// deadly draws the number of an effect that most ticks have.
func (d *draw) deadly() int {
	if d.cloud {
		return 2 + d.IntN(12)
	}
	return 2 + d.IntN(6)
}

// withDeath returns the lines of an event with a tick that dies beside them.
func (d *draw) withDeath(lines []string) []string {
	dies := []string{pick(d, "dies amid save", fmt.Sprintf("dies at %d", d.deadly()))}
	if d.IntN(2) == 0 {
		dies = append([]string{d.scale(), "try"}, dies...)
	}
	return slices.Insert(slices.Clone(lines), d.IntN(len(lines)+1), dies...)
}

// moves gives a workload another name in the cluster.
func (d *draw) moves(from, to string) []string {
	if from == to {
		return nil
	}
	d.fixed[to] = d.fixed[from]
	for _, list := range [][]string{d.names, d.keda} {
		if i := slices.Index(list, from); i >= 0 {
			list[i] = to
		}
	}
	return []string{"gone " + from, d.scales(to, d.pods())}
}

// renamed renames a namespace in git and in the cluster, in either order, and back.
func renamed(d *draw) (lines []string) {
	from := d.namespace()
	to := from + "-new"
	for range 2 {
		var moved []string
		for _, who := range slices.Clone(d.names) {
			if story.ID(who).Namespace == from {
				moved = append(moved, d.moves(who, strings.Replace(who, from+"/", to+"/", 1))...)
			}
		}
		files := []string{fmt.Sprintf("person renames %s %s", from, to), pick(d, "try", d.scale())}
		lines = append(lines, pick(d, slices.Concat(files, moved), slices.Concat(moved, files))...)
		lines = append(lines, fmt.Sprintf("try %d", 1+d.IntN(10)))
		from, to = to, from
	}
	return lines
}
