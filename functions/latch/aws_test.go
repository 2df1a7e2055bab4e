//go:build aws

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/gitlab"
)

// TestOnAWS runs the built bootstrap with all services of its deployment: login at a
// real API server with a signed token, state in DynamoDB, a git host, and a topic that
// the test reads back. Each site is a separate stack. Together they show which
// permissions the template and the role in the cluster must grant.
func TestOnAWS(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	c.rolls(t)
	t.Run("sites", func(t *testing.T) {
		c.servers(t)
		for _, p := range []plan{
			{name: "codecommit-direct", provider: "codecommit", mode: "direct"},
			{name: "codecommit-proposal", provider: "codecommit", mode: "proposal"},
			{name: "github-direct", provider: "github", mode: "direct"},
			{name: "github-proposal", provider: "github", mode: "proposal"},
			{name: "spoke-direct", provider: "spoke", mode: "direct"},
			{name: "spoke-proposal", provider: "spoke", mode: "proposal"},
		} {
			p.hold = "down: 0s" // two samples up, as by default
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				s := c.deploy(t, p)
				s.first(t)
				if p.mode == "direct" {
					s.surges(t)
				}
				s.refused(t)
				s.remembers(t)
			})
		}
		for _, provider := range []string{"codecommit", "github", "spoke", "https"} {
			t.Run(provider+"-forgotten", func(t *testing.T) {
				t.Parallel()
				c.deploy(t, plan{name: provider + "-forgotten", provider: provider, mode: "direct", hold: "down: 0s"}).forgets(t)
			})
		}
		t.Run("metrics", func(t *testing.T) {
			t.Parallel()
			c.deploy(t, plan{name: "metrics", provider: "codecommit", mode: "direct"}).counts(t)
		})
		t.Run("fleet", func(t *testing.T) {
			t.Parallel()
			c.fleet(t)
		})
		c.lives(t)
		c.troubles(t)
		c.survives(t)
		c.silences(t)
	})
	t.Run("operations seen are those that are granted", c.operations)
	t.Run("rights seen are those of the role", c.rights)
}

// servers are sites on any git server: by a token, by an SSH key, and on GitLab with
// merge requests. Two of the branches require signatures.
func (c *cloud) servers(t *testing.T) {
	for _, p := range []plan{
		{name: "https-direct", provider: "https", mode: "direct"},
		{name: "ssh-direct", provider: "ssh", mode: "direct", signed: true},
		{name: "gitlab-proposal", provider: "gitlab", mode: "proposal", signed: true},
	} {
		p.hold = "down: 0s"
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := c.deploy(t, p)
			s.first(t)
			if p.mode == "direct" {
				s.surges(t)
			}
			if !p.signed {
				s.refused(t)
			}
			if s.server != nil {
				s.rekeyed(t)
			}
			s.remembers(t)
			s.verified(t)
		})
	}
}

// rekeyed gives the host another key. The error has the key, and the place for it.
func (s *stack) rekeyed(t *testing.T) {
	t.Helper()
	tip := s.origin.Tip("main")
	s.server.Rekey(t)
	s.fails(t, "not pinned", "Compare the key with the published keys", "the credential of the repository, before the private key: "+s.server.HostKeys()[0])
	s.change(t, "git.example.com "+s.server.HostKeys()[0]+"\n"+string(s.server.Key))
	s.ticks(t)
	if s.origin.Tip("main") != tip {
		t.Error("the branch moved")
	}
}

// verified fails the test unless git verifies each commit of the site. Its first commit
// and the merges are of users.
func (s *stack) verified(t *testing.T) {
	t.Helper()
	if !s.signed {
		return
	}
	commits := strings.Fields(s.origin.Git(t, "log", "--all", "--author=gitlatch", "--format=%H"))
	if len(commits) == 0 {
		t.Error("the site has no commits")
	}
	for _, commit := range commits {
		s.origin.Git(t, "verify-commit", commit)
	}
}

// first writes the first checkpoint of a site.
func (s *stack) first(t *testing.T) {
	t.Helper()
	s.scales(t, 2)
	begin := s.origin.Tip("main")
	if one := s.ticks(t); one.Commit != nil || one.Proposal != nil {
		t.Fatalf("after one sample: commit %+v, proposal %+v", one.Commit, one.Proposal)
	}
	s.declares(t, 0)
	title := "latch(" + s.name + "): " + s.name + "/web new -> 2"
	switch two := s.ticks(t); s.mode {
	case "direct":
		if two.Commit == nil || two.Commit.ID != s.origin.Tip("main") || two.Proposal != nil {
			t.Fatalf("commit %+v, proposal %+v, tip %s", two.Commit, two.Proposal, s.origin.Tip("main"))
		}
		if log := s.origin.Log(t, "main"); len(log) != 2 || log[0] != title {
			t.Errorf("log %q", log)
		}
	default:
		id := proposed(t, two)
		if two.Commit != nil || s.origin.Tip("main") != begin {
			t.Fatalf("commit %+v", two.Commit)
		}
		if got, body, _ := s.host.Words(t, id); got != title || !strings.Contains(body, "| "+s.name+"/deployment/web | new | 2 |") {
			t.Errorf("title %q, body\n%s", got, body)
		}
		s.declares(t, 0)
		s.host.Merge(t, id, s.github != nil)
		told(t, s.ticks(t), "merged")
	}
	s.declares(t, 2)
	s.silent(t)
}

// surges raises the desired replicas to ten times the level.
func (s *stack) surges(t *testing.T) {
	t.Helper()
	s.scales(t, 21)
	s.ticks(t)
	if surged := s.ticks(t); surged.Commit == nil || len(surged.Alerts) != 1 {
		t.Fatalf("commit %+v, alerts %q", surged.Commit, surged.Alerts)
	}
	s.declares(t, 50)
	subject := s.name + "/deployment/web"
	got := s.expect(t, alert.Surge, alert.Raised)
	if got.Subject != subject || got.Severity != alert.Warning || got.ID == "" || got.Effect == "" || !strings.Contains(got.Text, "rose from 2 to 50 in one change") {
		t.Errorf("alert %+v", got.Alert)
	}
	for name, want := range map[string]string{"site": s.name, "kind": "surge", "severity": "warning", "state": "raised", "id": got.ID} {
		if got.attributes[name] != want {
			t.Errorf("attribute %s is %q, want %q", name, got.attributes[name], want)
		}
	}
	text := s.texts(t)
	if !strings.HasPrefix(text, "[warning] gitlatch "+s.name+": surge "+subject+": ") || !strings.Contains(text, "\nEffect: a rebuild starts the workload with ") || !strings.Contains(text, "Fix:    if the load is real, no action is necessary.") {
		t.Errorf("text %q", text)
	}
}

// refused makes the host refuse everything for two ticks: the site sends one alert, and
// one that resolves it.
func (s *stack) refused(t *testing.T) {
	t.Helper()
	before := s.latch(t).Declared.Replicas
	s.scales(t, 60)
	s.ticks(t)
	s.refuse(t, true)
	for range 2 {
		s.fails(t, map[string]string{"direct": "publish: ", "proposal": "propose: "}[s.mode])
		s.declares(t, before)
	}
	raised := s.expect(t, alert.Blocked, alert.Raised)
	if raised.Severity != alert.Critical || raised.Fix == "" {
		t.Errorf("alert %+v", raised.Alert)
	}
	s.refuse(t, false)
	answer := s.ticks(t)
	if s.mode == "proposal" {
		s.host.Merge(t, proposed(t, answer), s.github != nil)
		s.ticks(t)
	}
	s.declares(t, 100)
	over := s.expect(t, alert.Blocked, alert.Resolved)
	if over.Since != raised.At || over.ID == raised.ID || !strings.Contains(s.texts(t), "The condition is over. It started at ") {
		t.Errorf("raised %+v, resolved %+v, text %q", raised.Alert, over.Alert, s.texts(t))
	}
	s.silent(t)
}

// refuse makes the host reject commits or pull requests.
func (s *stack) refuse(t *testing.T, on bool) {
	t.Helper()
	const open = "POST /repos/{owner}/{repo}/pulls"
	words := map[bool]string{true: "with an explicit deny in an identity-based policy"}[on]
	switch {
	case s.codecommit != nil && s.mode == "direct":
		s.codecommit.Deny("CreateCommit", words)
	case s.codecommit != nil:
		s.codecommit.Deny("CreatePullRequest", words)
	case s.gitlab != nil && on:
		s.gitlab.Deny(gitlab.Open)
	case s.gitlab != nil:
		s.gitlab.Allow(gitlab.Open)
	case s.mode == "direct":
		s.origin.Decline(t, map[bool]string{true: "error: GH006: Protected branch update failed for refs/heads/main."}[on])
	case on:
		s.github.Deny(open)
	default:
		s.github.Allow(open)
	}
}

// remembers starts another environment, which finds the state of the last one in the
// table. It adopts nothing and has no notices.
func (s *stack) remembers(t *testing.T) {
	t.Helper()
	tip := s.origin.Tip("main")
	s.start(t)
	if again := s.ticks(t); again.Commit != nil || again.Proposal != nil || len(again.Notices) > 0 || s.origin.Tip("main") != tip {
		t.Errorf("a new environment: %+v", again)
	}
}

// forgets removes a workload without an entry in git from the policy, before its second
// sample. The guard against mass drops forgets it, and its latch is deleted.
func (s *stack) forgets(t *testing.T) {
	s.scales(t, 3)
	s.ticks(t)
	s.declares(t, 0)
	s.origin.Push(t, "main", map[string]string{"gitlatch.yaml": strings.Replace(s.origin.Show(t, "main", "gitlatch.yaml"), "namespaces: ["+s.name+"]", "namespaces: [none]", 1)}, "let go of it")
	s.ticks(t)
	if !slices.ContainsFunc(s.gateway.Calls(), func(c gateway.Call) bool { return c.Operation == "dynamodb:DeleteItem" }) {
		t.Error("a latch that says nothing any more is kept")
	}
}

// counts counts lines of metrics. A tick that ended writes one line. A dry run, a tick
// that found the lease taken, and a failed tick write no line.
func (s *stack) counts(t *testing.T) {
	s.scales(t, 3)
	none := func(what, event string) (report.Document, error) {
		t.Helper()
		before, tip := len(s.gateway.Calls()), s.origin.Tip("main")
		answer, r := s.send(t, event)
		if got := heartbeats(t, s.name, r.Logs); got != 0 || s.origin.Tip("main") != tip {
			t.Errorf("%s: %d lines of metrics in\n%s", what, got, r.Logs)
		}
		for _, call := range s.gateway.Calls()[before:] {
			if what != "failed" && call.Operation == "dynamodb:UpdateItem" {
				t.Errorf("%s: it wrote state", what)
			}
		}
		if r.Error != nil {
			return answer, r.Error
		}
		return answer, nil
	}
	if dry, err := none("dry run", "on-demand"); err != nil || !dry.DryRun || dry.Commit == nil {
		t.Errorf("dry run: %+v, error %v", dry, err)
	}
	store, now := dynamo.Open(dynamo.Options{Table: table, Client: s.state.Client()}), time.Now()
	lease, err := store.Acquire(t.Context(), s.name, "another", now, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if held, err := none("held", "scheduler"); err != nil || !strings.Contains(held.Held, "is held by another until") {
		t.Errorf("held: %+v, error %v", held, err)
	}
	if err := store.Release(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	s.gateway.Instead("dynamodb:Query", denied("dynamodb:Query"))
	if _, err := none("failed", "scheduler"); err == nil {
		t.Error("it did not fail")
	}
	s.gateway.Instead("dynamodb:Query", nil)
	s.ticks(t) // this tick writes one line
	s.declares(t, 5)
}

// pullRequest finds the id of a pull request in its web address.
var pullRequest = regexp.MustCompile(`/(?:pull|pull-requests|merge_requests)/([0-9]+)`)

// proposed returns the id of the pull request that a tick opened or changed.
func proposed(t *testing.T, answer report.Document) string {
	t.Helper()
	if answer.Proposal == nil {
		t.Fatalf("nothing is proposed: %+v", answer)
	}
	found := pullRequest.FindStringSubmatch(answer.Proposal.URL)
	if found == nil {
		t.Fatalf("no pull request in %q", answer.Proposal.URL)
	}
	return found[1]
}

// told fails the test unless a tick has notices of just these kinds.
func told(t *testing.T, answer report.Document, kinds ...string) {
	t.Helper()
	var got []string
	for _, n := range answer.Notices {
		got = append(got, string(n.Kind))
	}
	if fmt.Sprint(got) != fmt.Sprint(kinds) {
		t.Errorf("notices %+v, want %v", answer.Notices, kinds)
	}
}
