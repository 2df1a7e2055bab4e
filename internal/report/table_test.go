package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// decided returns a report with these decisions.
func decided(decisions ...policy.Decision) tick.Report {
	r := tick.Report{Site: "prod", Fleet: workload.Fleet{At: noon}}
	for i, d := range decisions {
		if d.ID == (workload.ID{}) {
			d.ID = workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%d", i)}
		}
		r.Decisions = append(r.Decisions, d)
		r.Samples = append(r.Samples, workload.Sample{ID: d.ID, Scale: &workload.Scale{Desired: d.Count}})
	}
	return r
}

func table(t *testing.T, r tick.Report, columns int) string {
	t.Helper()
	var out bytes.Buffer
	if err := New(r).Table(&out, term.Style{Width: columns}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// The table has the workloads with something to report. It counts the others, the most
// common reason first.
func TestTheTableShowsWhatIsNotQuiet(t *testing.T) {
	t.Parallel()
	quiet := policy.Decision{Verdict: policy.Quiet, Text: "within"}
	moved := policy.Decision{Verdict: policy.Quiet, Text: "within", Mismatch: &policy.Bounds{Min: 2}}
	frozen := policy.Decision{Verdict: policy.Frozen, Reason: policy.ReasonRollout, Text: "a rollout"}
	skip := func(r policy.Reason) policy.Decision { return policy.Decision{Verdict: policy.Skip, Reason: r} }
	const end = "no commit: no level change is due\n"
	for _, c := range []struct {
		name      string
		decisions []policy.Decision
		want      string
	}{
		{"nothing at all", nil, end},
		{"quiet alone", []policy.Decision{quiet, quiet}, "Not listed: 2 unchanged workloads. To list all workloads, use -o json.\n" + end},
		{"all there is", []policy.Decision{frozen}, "WORKLOAD    REPLICAS  IN GIT  DECISION  WHY\nshop/web-0  0         -       freeze    a rollout\n" + end},
		{"quiet with other bounds", []policy.Decision{moved}, "WORKLOAD    REPLICAS  IN GIT  DECISION  WHY\nshop/web-0  0         -       quiet     within. The cluster allows 2 or more replicas, but the minimum or maximum in git is different\n" + end},
		{"not latched", []policy.Decision{skip(policy.ReasonNoScale), skip(policy.ReasonUndriven), quiet, skip(policy.ReasonUndriven), skip(policy.ReasonIgnored)},
			"Not listed: 1 unchanged workload, 4 skipped workloads (2 without an autoscaler, 1 ignored by a policy, 1 of a kind without replicas). To list all workloads, use -o json.\n" + end},
	} {
		if got := table(t, decided(c.decisions...), 0); got != c.want {
			t.Errorf("%s:\n%s\nwant:\n%s", c.name, got, c.want)
		}
	}
}

// On a terminal the reasons wrap onto indented lines without losing text. Elsewhere a
// workload is one line.
func TestTheTableFitsATerminal(t *testing.T) {
	t.Parallel()
	r := decided(
		policy.Decision{
			Verdict: policy.Cross, From: checkpoint.Entry{Replicas: 50}, To: checkpoint.Entry{Replicas: 100}, Count: 51,
			Text: "2 samples in a row rounded to level 100 or higher (last sample: 51 pods)", Mismatch: &policy.Bounds{Min: 2, Max: 900},
		},
		policy.Decision{Verdict: policy.Frozen, Count: 4, Text: "the autoscaler cannot compute a replica count (ScalingActive is False: FailedGetResourceMetric)"},
	)
	want := `WORKLOAD    REPLICAS  IN GIT  DECISION      WHY
shop/web-0  51        50      raise to 100  2 samples in a row rounded to level
                                            100 or higher (last sample: 51
                                            pods). The cluster allows 2 to 900
                                            replicas, but the minimum or maximum
                                            in git is different
shop/web-1  4         -       freeze        the autoscaler cannot compute a
                                            replica count (ScalingActive is
                                            False: FailedGetResourceMetric)
no commit: 1 level change could not be committed
`
	if got := table(t, r, 80); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	plain := table(t, r, 0)
	if n := strings.Count(plain, "\n"); n != 4 {
		t.Errorf("%d lines where it is no terminal:\n%s", n, plain)
	}
	for columns := range 200 {
		if got := table(t, r, columns); !slices.Equal(strings.Fields(got), strings.Fields(plain)) {
			t.Errorf("in %d columns it says other words:\n%s", columns, got)
		}
	}
}

// The details of a condition are indented below it, on a terminal of any width.
func TestAConditionKeepsItsIndent(t *testing.T) {
	t.Parallel()
	r := tick.Report{Site: "prod", Fleet: workload.Fleet{At: noon}, Notes: notes.Notes{Conditions: []alert.Condition{{
		Kind: alert.Surge, Subject: "shop/deployment/web", Text: "its need rose from 100 to 900 pods within five minutes", Fix: "see whether that is meant",
	}}}}
	for line := range strings.Lines(table(t, r, 40)) {
		if !strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "warning: ") && !strings.HasPrefix(line, "no commit") {
			t.Errorf("%q begins where its condition does", line)
		}
	}
}

// Where nothing was committed, the last line counts the changes that are blocked, by
// reason. A fix follows a stop, and changes without a rule.
func TestTheTableEndsWithTheReasonForNoCommit(t *testing.T) {
	t.Parallel()
	to := checkpoint.Entry{Replicas: 50}
	blocked := func(why policy.Reason) policy.Decision {
		return policy.Decision{Verdict: policy.Pending, Reason: why, To: to}
	}
	milestone := policy.Decision{Verdict: policy.Pending, Reason: policy.ReasonRides, Reading: policy.ReadingRollout}
	review := policy.Decision{Verdict: policy.Review, Reason: policy.ReasonSurge, To: to}
	cross := policy.Decision{Verdict: policy.Cross, To: to}
	proposed := latch.LatchesOf(map[workload.ID]latch.Latch{{Namespace: "shop", Kind: workload.Deployment, Name: "web-0"}: {Proposal: &latch.Offer{Entry: to, Asked: true}}})
	of := func(r tick.Report, change func(*tick.Report)) tick.Report {
		change(&r)
		return r
	}
	stopped := func(why policy.Reason) tick.Report {
		return of(decided(), func(r *tick.Report) { r.Stop = policy.Stop{Reason: why, Fix: "gitlatch adopt"} })
	}
	for _, c := range []struct {
		name string
		r    tick.Report
		want string
	}{
		{"one", decided(blocked(policy.ReasonReport)), "1 level change is blocked (the policy only reports)"},
		{"several, for one reason", decided(blocked(policy.ReasonBudget), blocked(policy.ReasonBudget)), "2 level changes are blocked (the budget of commits is used up)"},
		{"for several reasons, the commonest first", decided(blocked(policy.ReasonMany), blocked(policy.ReasonReport), blocked(policy.ReasonBudget), blocked(policy.ReasonBudget)),
			"4 level changes are blocked (the budget of commits is used up 2, the policy only reports 1, too many workloads are absent 1)"},
		{"on its way", decided(policy.Decision{Verdict: policy.Pending, Text: "sample 1 of 2"}), "no level change is due"},
		{"a milestone", decided(milestone, policy.Decision{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web-0"}}), "1 rollout change waits for the next commit"},
		{"a review without a proposal", decided(review), "1 level change is blocked (review)"},
		{"a review in a proposal", of(decided(review), func(r *tick.Report) { r.Latches = proposed }), "1 level change waits in the open proposal"},
		{"a retirement in a proposal", of(decided(policy.Decision{Verdict: policy.Cross, From: to}, cross), func(r *tick.Report) { r.Latches = proposed }),
			"1 level change could not be committed; 1 level change waits in the open proposal"},
		{"a push that was refused", decided(cross, cross), "2 level changes could not be committed"},
		{"two parts unread", of(decided(blocked(policy.ReasonReport)), func(r *tick.Report) {
			r.Stop = policy.Stop{Reason: policy.ReasonPartial}
			r.Unread = []workload.Unread{{Part: "deployments", Why: "forbidden: 403"}, {Part: "daemonsets"}}
		}), "deployments, daemonsets could not be listed; 1 level change is blocked (the policy only reports)"},
		{"another cluster", stopped(policy.ReasonOther), "gitlatch lowers no level until you adopt this cluster"},
		{"a second cluster", stopped(policy.ReasonSecond), "two live clusters share the site"},
	} {
		got := table(t, c.r, 0)
		if fix := "\n  Fix: " + c.r.Stop.Fix + "\n"; c.r.Stop.Fix != "" && !strings.Contains(got, fix) {
			t.Errorf("%s: no fix of the stop in\n%s", c.name, got)
		}
		lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
		if last := lines[len(lines)-1]; last != "no commit: "+c.want {
			t.Errorf("%s: %q, want %q", c.name, last, "no commit: "+c.want)
		}
	}
}
