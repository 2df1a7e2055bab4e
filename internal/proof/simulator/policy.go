package simulator

import (
	"fmt"
	"strings"
)

// rules returns the policy of a site that latches: a budget, up to three policies
// that select workloads by namespace, kind or annotation, and a policy for all others.
func (d *draw) rules() string { return d.rulesIn("latch") }

func (d *draw) rulesIn(mode string) string {
	var b strings.Builder
	b.WriteString(d.head(mode))
	b.WriteString(pick(d, "", "", "preset: closest\n"))
	rest := fmt.Sprintf("{name: default, match: {}, %s}", d.fields(false))
	var policies []string
	if d.IntN(2) == 0 {
		policies = append(policies, fmt.Sprintf("{name: money, match: {namespaces: [%s]}, %s}", pick(d, "pay", "\"pa*\""), d.fields(true)))
	}
	if d.IntN(3) == 0 {
		policies = append(policies, fmt.Sprintf("{name: sets, match: {kinds: [statefulset]}, %s}", d.fields(true)))
	}
	if d.IntN(2) == 0 { // selects only by annotation
		policies = append(policies, fmt.Sprintf("{name: chosen, match: {names: [nobody]%s}, %s}", pick(d, "", ", namespaces: [shop, stock]"), d.fields(true)))
	}
	fmt.Fprintf(&b, "policies: [%s]\n", strings.Join(append(policies, rest), ", "))
	b.WriteString(pick(d, "", "", "commitsPerDay: 96\n", "commitsPerDay: 12\n"))
	return b.String()
}

// guards returns the guards of a site, which policies do not set. A history is too short for
// the guards of the product.
func (d *draw) guards() string {
	return fmt.Sprintf("guards yield=%s retire=%s share=%s", pick(d, "1h", "1h", "2h", "30m"), pick(d, "2h", "2h", "3h"), pick(d, "10%", "20%", "34%"))
}

// head returns the start of a policy: the mode and the custom kinds.
func (d *draw) head(mode string) string {
	head := "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: " + mode + "\n"
	if d.worker != "" {
		head += fmt.Sprintf("kinds: [{apiVersion: example.com/v1, kind: Worker, resource: workers, name: %s}]\n", d.worker)
	}
	return head
}

// fields returns the fields of a policy. Only a policy that selects workloads may report
// or ignore.
func (d *draw) fields(selects bool) string {
	all := []string{fmt.Sprintf("hold: {up: %s, down: %s}", pick(d, "1", "2", "2", "3"), pick(d, "30m", "2h", "10m", "1h"))}
	add := func(times int, of ...string) {
		if d.IntN(times) == 0 {
			all = append(all, pick(d, of...))
		}
	}
	add(3, "series: 1-2-5", "series: tens", "series: decades", "series: [2, 3, 8, 20, 60, 200, 900]")
	add(3, "round: up", "round: nearest", "round: headroom")
	add(4, "margin: 0%", "margin: 5%")
	add(4, "review: true")
	add(2, "bounds: latch", "bounds: latch", "bounds: ignore", "bounds: report")
	add(4, "undriven: true")
	rollouts := []string{"rollout: {after: 5m, cut: 70}", "rollout: {progressDeadline: 20m}", "rollout: {cut: 30}"}
	if selects {
		add(8, "scale: report", "scale: ignore")
		rollouts = append(rollouts, "rollout: {mode: ignore}", "rollout: {mode: report}")
	}
	add(4, rollouts...)
	return strings.Join(all, ", ")
}
