package main

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// TestOnAWS runs the built bootstrap with all that it is deployed among: login
// at a real API server by a signed token, state in DynamoDB, a git host, and a
// topic that is read back. Each site is a stack of its own; together they show
// what the template and the role in the cluster must allow.
func TestOnAWS(t *testing.T) {
	t.Parallel()
	c := startCloud(t)
	t.Run("sites", func(t *testing.T) {
		c.wholeTicks(t)
	})
}

// wholeTicks takes each host through a first checkpoint, a surge, and a host
// that refuses.
func (c *cloud) wholeTicks(t *testing.T) {
	for _, p := range []plan{
		{name: "tick-codecommit", provider: "codecommit", mode: "direct"},
		{name: "tick-github", provider: "github", mode: "direct"},
		{name: "tick-spoke", provider: "spoke", mode: "direct"},
	} {
		p.holds = "down: 0s" // two samples up, as by default
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			c.deploy(t, p).wholeDirect(t)
		})
	}
}

func (s *stack) wholeDirect(t *testing.T) {
	s.scales(t, 2)
	if first := s.ticks(t); first.Commit != nil {
		t.Fatalf("after one sample: %+v", first.Commit)
	}
	s.declares(t, 0)
	second := s.ticks(t)
	if second.Commit == nil || second.Commit.ID != s.origin.Tip("main") || second.Proposal != nil {
		t.Fatalf("commit %+v, proposal %+v, tip %s", second.Commit, second.Proposal, s.origin.Tip("main"))
	}
	s.declares(t, 2)
	if log := s.origin.Log(t, "main"); len(log) != 2 || log[0] != "latch("+s.name+"): "+s.name+"/web new -> 2" {
		t.Errorf("log %q", log)
	}
	s.silent(t)

	s.scales(t, 21)
	s.ticks(t)
	if surged := s.ticks(t); surged.Commit == nil || len(surged.Alerts) != 1 {
		t.Fatalf("surge: commit %+v, alerts %q", surged.Commit, surged.Alerts)
	}
	s.declares(t, 50)
	s.surgeIsTold(t)
}

// surgeIsTold reads the message of a surge in each of its forms.
func (s *stack) surgeIsTold(t *testing.T) {
	t.Helper()
	subject := s.name + "/deployment/web"
	got := s.expect(t, alert.Surge, alert.Raised)
	if got.Subject != subject || got.Severity != alert.Warning || got.ID == "" || !strings.Contains(got.Text, "went from 2 to 50 in one step") {
		t.Errorf("alert %+v", got.Alert)
	}
	for name, want := range map[string]string{"site": s.name, "kind": "surge", "severity": "warning", "state": "raised", "id": got.ID} {
		if got.attributes[name] != want {
			t.Errorf("attribute %s is %q, want %q", name, got.attributes[name], want)
		}
	}
	text := s.texts(t)
	if !strings.HasPrefix(text, "gitlatch "+s.name+": surge "+subject+" raised\n") || !strings.Contains(text, "What to do: if the need is real, nothing.") {
		t.Errorf("text %q", text)
	}
}

// texts returns the text of the last message that was published, which a queue
// is not sent.
func (s *stack) texts(t *testing.T) string {
	t.Helper()
	last := ""
	for _, call := range s.gateway.Calls() {
		if call.Operation != "sns:Publish" {
			continue
		}
		form, err := url.ParseQuery(string(call.Body))
		bodies := map[string]string{}
		if err == nil {
			err = json.Unmarshal([]byte(form.Get("Message")), &bodies)
		}
		if err != nil {
			t.Fatal(err)
		}
		last = bodies["default"]
	}
	return last
}
