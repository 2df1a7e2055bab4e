//go:build aws

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
)

func slowly(calls int) []codecommit.Fault {
	var all []codecommit.Fault
	for range calls {
		all = append(all, codecommit.Throttled)
	}
	return all
}

func (s *stack) spokeRole() string { return "arn:aws:iam::" + spokeAccount + ":role/" + s.name }

// change changes the value of the site's secret.
func (s *stack) change(t *testing.T, secret string) {
	t.Helper()
	vault := secretsmanager.NewFromConfig(s.moto.Config())
	if _, err := vault.PutSecretValue(t.Context(), &secretsmanager.PutSecretValueInput{SecretId: aws.String(s.secretName()), SecretString: &secret}); err != nil {
		t.Fatal(err)
	}
}

// troubles takes each site through one trouble. During the trouble each tick reports
// the problem to fix, and no latch changes without its commit. The first tick after it
// catches up.
func (c *cloud) troubles(t *testing.T) {
	c.table(t, "gitlatch-misshapen", "id")
	for _, trouble := range troubles() {
		t.Run(trouble.name, func(t *testing.T) {
			t.Parallel()
			s := c.deploy(t, plan{name: trouble.name, provider: trouble.provider, mode: "direct"})
			trouble.happens(t, s)
		})
	}
}

func (x trouble) happens(t *testing.T, s *stack) {
	need, level, next, after := 3, int32(5), 8, int32(10)
	switch {
	case x.lowers:
		need, level, next, after = next, after, need, level
	case x.needs > 0:
		next, after = x.needs, x.commits
	}
	s.scales(t, need)
	s.ticks(t)
	s.declares(t, level)
	tip := s.origin.Tip("main")

	x.breaks(t, s)
	s.scales(t, next)
	for range 2 {
		s.fails(t, x.says...)
		if x.commits > 0 {
			level, tip = x.commits, s.origin.Tip("main")
		}
		s.declares(t, level)
		if s.origin.Tip("main") != tip {
			t.Errorf("the branch moved: %q", s.origin.Log(t, "main"))
		}
		if x.repairs == nil || x.slow {
			break
		}
	}
	if x.alert != "" {
		s.expect(t, x.alert, alert.Raised)
	}
	s.silent(t)

	if x.repairs != nil {
		x.repairs(t, s)
	}
	s.ticks(t)
	s.declares(t, after)
	switch {
	case x.alert != "":
		s.expect(t, x.alert, alert.Resolved)
	case x.commits > 0:
		s.expect(t, alert.Surge, alert.Raised)
	}
	s.silent(t)
}

// survives are the problems that a tick recovers from without help.
func (c *cloud) survives(t *testing.T) {
	rival := func(t *testing.T, s *stack) func() {
		return func() { s.origin.Push(t, "main", map[string]string{"README": "of a rival\n"}, "rival") }
	}
	for _, x := range []struct {
		name, provider string
		happens        func(*testing.T, *stack)
		commits        int    // commits on the branch afterwards
		settles        string // the next tick's report: after a lost race it saves the push
	}{
		{"table-slow", "codecommit", func(_ *testing.T, s *stack) {
			s.gateway.InsteadFor("dynamodb:UpdateItem", 4, gateway.Fault(http.StatusBadRequest, "ProvisionedThroughputExceededException", "slower"))
		}, 3, ""},
		{"table-unanswered", "codecommit", func(_ *testing.T, s *stack) { s.gateway.InsteadFor("dynamodb:UpdateItem", 1, gateway.Silent) }, 3, ""},
		{"codecommit-slow", "codecommit", func(_ *testing.T, s *stack) { s.codecommit.Fail("CreateCommit", slowly(2)...) }, 3, ""},
		{"codecommit-unanswered", "codecommit", func(_ *testing.T, s *stack) { s.codecommit.Fail("CreateCommit", codecommit.Unanswered) }, 3, ""},
		{"codecommit-rival", "codecommit", func(t *testing.T, s *stack) { s.codecommit.Before("CreateCommit", rival(t, s)) }, 4, "landed"},
		{"github-rival", "github", func(t *testing.T, s *stack) { s.github.Before(github.Push, rival(t, s)) }, 4, "landed"},
		{"github-expires", "github", func(_ *testing.T, s *stack) { s.github.Before(github.Push, s.github.Expire) }, 3, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			s := c.deploy(t, plan{name: x.name, provider: x.provider, mode: "direct"})
			s.scales(t, 3)
			s.ticks(t)
			s.scales(t, 8)
			x.happens(t, s)
			if answer := s.ticks(t); answer.Commit == nil || answer.Commit.ID != s.origin.Tip("main") {
				t.Errorf("commit %+v, tip %s", answer.Commit, s.origin.Tip("main"))
			}
			next := s.quiet(t)
			s.declares(t, 10)
			if log := s.origin.Log(t, "main"); len(log) != x.commits {
				t.Errorf("log %q", log)
			}
			told(t, next, strings.Fields(x.settles)...)
			s.silent(t)
		})
	}
	// A rival that changes the same entry wins: gitlatch does not change its level.
	for _, provider := range []string{"codecommit", "github"} {
		name := provider + "-rival-wins"
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := c.deploy(t, plan{name: name, provider: provider, mode: "direct"})
			s.scales(t, 3)
			s.ticks(t)
			s.scales(t, 8)
			wins := func() { s.edit(t, "main", "web", 5, 7) }
			if s.codecommit != nil {
				s.codecommit.Before("CreateCommit", wins)
			} else {
				s.github.Before(github.Push, wins)
			}
			answer := s.ticks(t)
			told(t, answer, "moved")
			if answer.Commit != nil {
				t.Errorf("commit %+v", answer.Commit)
			}
			s.says(t, "main", `deployment.web: "7"`)
			s.ticks(t)
			s.declares(t, 7)
			s.yields(t)
		})
	}
}
