//go:build aws

package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/report"
)

// lives are the possible lives of a pull request, on either host.
func (c *cloud) lives(t *testing.T) {
	for _, provider := range []string{"codecommit", "github"} {
		for name, lives := range map[string]func(*stack, *testing.T){
			"followed":   (*stack).followed,
			"rebased":    (*stack).rebased,
			"declined":   (*stack).declined,
			"taken-over": (*stack).takenOver,
			"moot":       (*stack).moot,
		} {
			name += "-" + provider
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := c.deploy(t, plan{name: name, provider: provider, mode: "proposal"})
				s.scales(t, 3)
				lives(s, t)
			})
		}
	}
}

// branch returns the branch that the site proposes from.
func (s *stack) branch() string { return "gitlatch/" + s.name }

// record is the checkpoint file of the site's one namespace.
func (s *stack) record() string { return checkpoint.RecordPath(s.name, s.name) }

// edit is a user's commit that gives a Deployment on a branch another level.
func (s *stack) edit(t *testing.T, branch, deployment string, from, to int) string {
	t.Helper()
	line := func(level int) string { return fmt.Sprintf("deployment.%s: \"%d\"\n", deployment, level) }
	record := s.origin.Show(t, branch, s.record())
	if !strings.Contains(record, line(from)) {
		t.Fatalf("the record does not say %s:\n%s", line(from), record)
	}
	edited := strings.Replace(record, line(from), line(to), 1)
	return s.origin.Push(t, branch, map[string]string{s.record(): edited}, "a person's edit")
}

// says fails the test unless the checkpoint file on a branch has these lines.
func (s *stack) says(t *testing.T, branch string, facts ...string) {
	t.Helper()
	record := s.origin.Show(t, branch, s.record())
	for _, fact := range facts {
		if !strings.Contains(record, "  "+fact+"\n") {
			t.Errorf("%s does not say %s:\n%s", branch, fact, record)
		}
	}
}

// quiet sends an event that must change nothing on any branch.
func (s *stack) quiet(t *testing.T) report.Document {
	t.Helper()
	before := s.origin.Git(t, "for-each-ref")
	answer := s.ticks(t)
	if answer.Commit != nil || answer.Proposal != nil {
		t.Errorf("commit %+v, proposal %+v", answer.Commit, answer.Proposal)
	}
	if after := s.origin.Git(t, "for-each-ref"); after != before {
		t.Errorf("branches were\n%s\nand are\n%s", before, after)
	}
	return answer
}

// yields fails the test unless the latch has an edit grace period for a user's
// decision.
func (s *stack) yields(t *testing.T) {
	t.Helper()
	if until := time.Until(s.latch(t).GraceUntil); until < 23*time.Hour || until > 24*time.Hour {
		t.Errorf("left alone for %s", until)
	}
	told(t, s.quiet(t))
}

// merge merges a pull request as its host would: GitHub squashes, and CodeCommit keeps
// both parents.
func (s *stack) merge(t *testing.T, id string) {
	t.Helper()
	s.host.Merge(t, id, s.github != nil)
}

// followed tests a proposal that is opened, gets the next level change, and is merged.
func (s *stack) followed(t *testing.T) {
	base := s.origin.Tip("main")
	id := proposed(t, s.ticks(t))
	s.declares(t, 0)
	if got := s.latch(t).Proposed().Replicas; got != 5 {
		t.Errorf("the latch proposes %d", got)
	}
	s.quiet(t)

	s.scales(t, 8)
	if again := proposed(t, s.ticks(t)); again != id {
		t.Errorf("the next crossing is in pull request %s, not %s", again, id)
	}
	title, body, _ := s.host.Words(t, id)
	if !strings.HasSuffix(title, "/web new -> 10") || !strings.Contains(body, "/deployment/web | new | 10 |") || strings.Contains(body, "| 5 |") {
		t.Errorf("title %q, body\n%s", title, body)
	}
	if s.origin.Tip("main") != base {
		t.Error("the base moved")
	}
	s.says(t, s.branch(), `deployment.web: "10"`)

	s.merge(t, id)
	told(t, s.ticks(t), "merged")
	s.declares(t, 10)
	told(t, s.quiet(t))
}

// rebased moves the base under the pull request: outside of the site, without an effect
// on the pull request, and inside, with an edit by a user that must survive.
func (s *stack) rebased(t *testing.T) {
	s.deployment(t, s.name, "api")
	s.scale(t, s.name, "api", 3)
	s.merge(t, proposed(t, s.ticks(t)))
	told(t, s.ticks(t), "merged")
	s.scales(t, 8)
	id := proposed(t, s.ticks(t))

	s.origin.Push(t, "main", map[string]string{"README": "of other people\n"}, "beside the site")
	told(t, s.quiet(t))
	s.edit(t, "main", "api", 5, 7)
	answer := s.ticks(t)
	again := proposed(t, answer)
	if s.github != nil && again != id {
		t.Errorf("pull request %s instead of %s", again, id)
	}
	if title, _, _ := s.host.Words(t, id); again != id && !strings.HasPrefix(title, "Replaced: ") {
		t.Errorf("pull request %s instead of one that says %q", again, title)
	}
	if s.origin.Git(t, "merge-base", "main", s.branch()) != s.origin.Tip("main") {
		t.Error("the proposal does not begin at the base")
	}
	s.says(t, s.branch(), `deployment.web: "10"`, `deployment.api: "7"`)
	s.says(t, "main", `deployment.web: "5"`, `deployment.api: "7"`)

	s.merge(t, again)
	s.ticks(t)
	s.says(t, "main", `deployment.web: "10"`, `deployment.api: "7"`)
	s.declares(t, 10)
}

// declined tests a proposal that a user closes.
func (s *stack) declined(t *testing.T) {
	id := proposed(t, s.ticks(t))
	s.host.Decline(t, id)
	told(t, s.ticks(t), "declined")
	s.declares(t, 0)
	if got := s.latch(t).Proposed().Replicas; got != 0 {
		t.Errorf("the latch still proposes %d", got)
	}
	s.scales(t, 8)
	s.yields(t)
}

// takenOver tests a proposal that a user merges after a push to its branch.
func (s *stack) takenOver(t *testing.T) {
	id := proposed(t, s.ticks(t))
	theirs := s.edit(t, s.branch(), "web", 5, 30)
	s.scales(t, 8)
	told(t, s.ticks(t), "declined")
	s.declares(t, 0)
	s.yields(t)
	if s.origin.Tip(s.branch()) != theirs {
		t.Error("the person's commit is gone")
	}
	s.merge(t, id)
	s.ticks(t)
	s.declares(t, 30)
	s.yields(t)
}

// moot lowers the desired replicas again before a user merges.
func (s *stack) moot(t *testing.T) {
	s.merge(t, proposed(t, s.ticks(t)))
	s.ticks(t)
	s.scales(t, 8)
	id := proposed(t, s.ticks(t))
	s.scales(t, 3)
	told(t, s.ticks(t), "withdrawn")
	if _, _, comments := s.host.Words(t, id); len(comments) != 1 || comments[0] != "no change is left" {
		t.Errorf("comments %q", comments)
	}
	if s.origin.Tip(s.branch()) != "" {
		t.Error("its branch is still there")
	}
	s.declares(t, 5)
	told(t, s.quiet(t))
}
