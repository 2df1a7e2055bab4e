package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/gitlatch/gitlatch/internal/term"
)

// healthy reports whether no site has a problem.
func (s status) healthy() bool {
	return !slices.ContainsFunc(s.Sites, func(one siteStatus) bool { return len(one.troubles()) > 0 })
}

// troubles returns the problems of a site, as phrases.
func (s siteStatus) troubles() []string {
	var all []string
	if s.LastTick.IsZero() {
		all = append(all, "no tick has saved a state yet")
	}
	if s.Late {
		all = append(all, "no tick ran since "+instantOf(s.LastTick))
	}
	if !s.Unpublished.IsZero() {
		all = append(all, "a level change has been waiting since "+instantOf(s.Unpublished))
	}
	if len(s.Alerts) > 0 {
		all = append(all, term.Count(len(s.Alerts), "alert")+" open")
	}
	if len(s.Levels.Unknown) > 0 {
		all = append(all, "the levels in the cluster are unknown")
	}
	switch {
	case s.Recovery == nil:
	case s.Recovery.Unknown != "":
		all = append(all, "the recovery is unknown")
	default:
		all = append(all, "a recovery is in progress")
	}
	return all
}

// Table prints a page for a single site, or one line for each site of a fleet.
func (s status) Table(out io.Writer, style term.Style) error {
	p := term.NewPage(style)
	if s.Fleet == "" {
		for _, one := range s.Sites {
			topics := one.topics()
			topics.Add("gitlatch", "%s", s.Build)
			p.Topics(topics)
			one.verdict(p)
		}
		return p.Print(out)
	}
	rows := [][]string{{"SITE", "MODE", "LAST TICK", "WORKLOADS", "COMMITS LEFT", "PROBLEMS"}}
	for _, one := range s.Sites {
		rows = append(rows, []string{one.Site, one.mode(), one.ago(one.LastTick), fmt.Sprint(one.Workloads), fmt.Sprint(one.CommitsLeft), strings.Join(one.troubles(), "; ")})
	}
	p.Rows(rows)
	p.Verdict(s.healthy(), fmt.Sprintf("fleet %s: %s; gitlatch %s", s.Fleet, term.Count(len(s.Sites), "site"), s.Build))
	return p.Print(out)
}

// verdict prints the problems of a single site, each on its own line.
func (s siteStatus) verdict(p *term.Page) {
	troubles := s.troubles()
	if len(troubles) == 0 {
		p.Verdict(true, "healthy")
	}
	for _, text := range troubles {
		p.Verdict(false, text)
	}
}

// topics returns the lines about a single site.
func (s siteStatus) topics() (all term.Topics) {
	if s.LastTick.IsZero() {
		all = term.Topics{{"site", s.Site}, {"last tick", "none yet"}}
		return append(all, s.recovery()...)
	}
	all.Add("site", "%s, mode %s", s.Site, s.mode())
	name := s.named
	if s.Recovery != nil && s.Recovery.Unknown == "" {
		name = "" // the configuration names the new cluster, and the state has the UID of the lost cluster
	}
	all.Add("cluster", "%s", strings.TrimSpace(name+" "+s.Cluster))
	all.Add("last tick", "%s", s.ago(s.LastTick))
	verb := "latched"
	if s.Mode == "observe" {
		verb = "observed"
	}
	all.Add("workloads", "%d %s, %d of them frozen, %d opted out", s.Workloads-s.OptedOut, verb, s.Frozen, s.OptedOut)
	all.Add("budget", "%s left now, and %d more per day", term.Count(s.CommitsLeft, "commit"), s.CommitsPerDay)
	all = append(all, s.levels()...)
	if !s.PausedUntil.IsZero() {
		all.Add("paused", "the site until %s", instantOf(s.PausedUntil))
	}
	for _, one := range s.Paused {
		all.Add("paused", "%s until %s", one.Workload, instantOf(one.Until))
	}
	for _, one := range s.EditGrace {
		all.Add("edit grace", "%s until %s", one.Workload, instantOf(one.Until))
	}
	if p := s.Proposal; p != nil {
		all.Add("proposal", "%s, opened %s", strings.TrimSpace(p.URL+" branch "+p.Branch), s.ago(p.Opened))
	}
	all = append(all, s.recovery()...)
	for _, a := range s.Alerts {
		all.Add("alert", "%s %s, %s: %s", a.Kind, a.Subject, s.ago(a.Since), a.Text)
		all.Add("", "Fix: %s", a.Fix)
	}
	if s.Unsent > 0 {
		all.Add("unsent", "%s may not have been sent", term.Count(s.Unsent, "message"))
	}
	return all
}

// recovery returns the lines about a recovery; nil if no recovery runs.
func (s siteStatus) recovery() (all term.Topics) {
	r := s.Recovery
	if r == nil {
		return nil
	}
	if r.Unknown != "" {
		return term.Topics{{"recovery", "unknown: " + r.Unknown}}
	}
	for _, step := range r.Steps {
		all.Add("", "%s (%s): %s.", step.Name, step.State, step.Text)
	}
	all[0][0] = "recovery"
	if r.Marks != nil {
		all.Add("", "%s.", r.Marks)
	}
	all.Add("", "Next: %s (see \"gitlatch help runbook\")", r.Next)
	return all
}

// mode returns the text of the mode. For a site that observes, it includes the number of
// entries in git, because no tick updates them.
func (s siteStatus) mode() string {
	if s.Mode != "observe" || s.Entries == 0 {
		return s.Mode
	}
	return fmt.Sprintf("observe (entries in git that are not updated: %d)", s.Entries)
}

// ago returns the age of an instant, such as "3m ago". The zero instant is "never".
func (s siteStatus) ago(at time.Time) string {
	if at.IsZero() {
		return "never"
	}
	return duration.HumanDuration(max(0, s.now.Sub(at))) + " ago"
}

// instantOf formats an instant.
func instantOf(at time.Time) string { return at.UTC().Format(time.RFC3339) }
