package alert

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func TestAdvance(t *testing.T) {
	t.Parallel()
	unread := Condition{Kind: Unread, Subject: "deployments", Text: "a", Fix: "b"}
	later := unread
	later.Text = "in other words"
	surge := Condition{Kind: Surge, Subject: "shop/deployment/web"}
	drop := Condition{Kind: MassDrop}
	open := func(c Condition, since, raised time.Duration) Open {
		return Open{c, noon.Add(-since), noon.Add(-raised)}
	}
	for _, test := range []struct {
		name string
		open []Open
		now  []Condition
		say  []string
		left []Open
	}{
		{name: "nothing is wrong"},
		{name: "begins", now: []Condition{unread}, say: []string{"unread raised"}, left: []Open{open(unread, 0, 0)}},
		{name: "is found twice", now: []Condition{unread, unread}, say: []string{"unread raised"}, left: []Open{open(unread, 0, 0)}},
		{name: "goes on", open: []Open{open(unread, time.Hour, time.Hour)}, now: []Condition{unread}, left: []Open{open(unread, time.Hour, time.Hour)}},
		{name: "goes on in other words", open: []Open{open(unread, time.Hour, time.Hour)}, now: []Condition{later}, left: []Open{open(later, time.Hour, time.Hour)}},
		{name: "goes on for a day", open: []Open{open(unread, 24*time.Hour, 24*time.Hour)}, now: []Condition{unread}, say: []string{"unread lasting"}, left: []Open{open(unread, 24*time.Hour, 0)}},
		{name: "was said again an hour ago", open: []Open{open(unread, 25*time.Hour, time.Hour)}, now: []Condition{unread}, left: []Open{open(unread, 25*time.Hour, time.Hour)}},
		{name: "ends", open: []Open{open(unread, time.Hour, time.Hour)}, say: []string{"unread resolved"}},
		{name: "an event is never open", now: []Condition{surge}, say: []string{"surge raised"}},
		{name: "one ends and another begins", open: []Open{open(unread, time.Hour, time.Hour)}, now: []Condition{drop}, say: []string{"mass-drop raised", "unread resolved"}, left: []Open{open(drop, 0, 0)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			left, alerts := Advance("prod", test.open, test.now, noon, 24*time.Hour)
			var said []string
			for _, a := range alerts {
				said = append(said, string(a.Kind)+" "+string(a.State))
			}
			if !slices.Equal(said, test.say) {
				t.Errorf("said %v, want %v", said, test.say)
			}
			if !slices.Equal(left, test.left) {
				t.Errorf("open are %v, want %v", left, test.left)
			}
		})
	}
}

func TestALongTextIsToldInBrief(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{strings.Repeat("x", longest), strings.Repeat("x", longest)},
		{strings.Repeat("x", longest+1), strings.Repeat("x", longest) + "... and 1 bytes more"},
		{strings.Repeat("x", longest-1) + "ü", strings.Repeat("x", longest-1) + "... and 2 bytes more"},
		{strings.Repeat("x", 100*longest), strings.Repeat("x", longest) + "... and 405504 bytes more"},
	} {
		if got := Brief(test.text); got != test.want {
			t.Errorf("%d bytes: %q", len(test.text), got[max(0, len(got)-40):])
		}
	}
}

func TestEveryKindHasASeverity(t *testing.T) {
	t.Parallel()
	for kind, of := range kinds {
		if of.severity != Critical && of.severity != Warning {
			t.Errorf("%s has severity %q", kind, of.severity)
		}
	}
}

// Critical alerts and the alert about a rebuilt cluster name the runbook first.
func TestAlertsThatComeWithALostClusterNameTheRunbook(t *testing.T) {
	t.Parallel()
	for kind, want := range map[Kind]string{MassDrop: "runbook", ClusterNew: "runbook", Surge: "troubleshooting"} {
		text := newAlert("prod", Condition{Kind: kind, Text: "it is", Fix: "wait"}, Raised, noon, noon).Message()
		if _, help, _ := strings.Cut(text, "\nHelp:   gitlatch help "); !strings.HasPrefix(help, want) || !strings.HasSuffix(help, "troubleshooting\n") {
			t.Errorf("%s: help %q", kind, help)
		}
	}
}

func TestMessagesTellWhatToDoUntilItIsOver(t *testing.T) {
	t.Parallel()
	c := Condition{Kind: Blocked, Text: "push was refused: protected branch", Effect: "gitlatch tries again", Fix: "let it push"}
	for state, want := range map[State]bool{Raised: true, Lasting: true, Resolved: false} {
		text := newAlert("prod", c, state, noon.Add(-time.Hour), noon).Message()
		if got := strings.Contains(text, "Fix:    let it push"); got != want {
			t.Errorf("%s: says what to do: %v\n%s", state, got, text)
		}
		if got := strings.HasSuffix(text, "\nHelp:   gitlatch help runbook, if the cluster is lost or rebuilt\n        gitlatch help troubleshooting\n"); got != want {
			t.Errorf("%s: names its topic: %v\n%s", state, got, text)
		}
		if got := strings.Contains(text, "Effect: gitlatch tries again"); got != want {
			t.Errorf("%s: says what gitlatch does: %v\n%s", state, got, text)
		}
		if !strings.Contains(text, c.Text) || !strings.Contains(text, "2026-03-02T11:00:00Z") {
			t.Errorf("%s: lacks the numbers\n%s", state, text)
		}
	}
}

// The first line has the severity until the condition is over, and all messages of one
// condition are one thread.
func TestHeadlines(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		c      Condition
		state  State
		want   string
		thread string
	}{
		{Condition{Kind: Unread, Subject: "deployments"}, Raised, "[warning] gitlatch prod: unread deployments", "gitlatch prod: unread deployments"},
		{Condition{Kind: Unread, Subject: "deployments"}, Lasting, "[warning, lasting] gitlatch prod: unread deployments", "gitlatch prod: unread deployments"},
		{Condition{Kind: Unread, Subject: "deployments"}, Resolved, "[resolved] gitlatch prod: unread deployments", "gitlatch prod: unread deployments"},
		{Condition{Kind: MassDrop, Title: "mass drop, 3 of 4 workloads"}, Raised, "[critical] gitlatch prod: mass drop, 3 of 4 workloads", "gitlatch prod: mass-drop"},
		{Condition{Kind: MassDrop, Title: "mass drop, 3 of 4 workloads"}, Resolved, "[resolved] gitlatch prod: mass drop, 3 of 4 workloads", "gitlatch prod: mass-drop"},
	} {
		a := newAlert("prod", test.c, test.state, noon, noon)
		n, err := a.Notice()
		if got := a.Headline(); got != test.want || err != nil || n.Subject != test.want || n.Thread != test.thread {
			t.Errorf("got %q, thread %q, want %q, %q", got, n.Thread, test.want, test.thread)
		}
	}
}

func TestAnAlertSentAgainHasTheSameID(t *testing.T) {
	t.Parallel()
	c := Condition{Kind: Unread, Subject: "a"}
	first, again := newAlert("prod", c, Raised, noon, noon), newAlert("prod", c, Raised, noon, noon)
	other := newAlert("prod", Condition{Kind: Unread, Subject: "b"}, Raised, noon, noon)
	if first.ID != again.ID || first.ID == other.ID {
		t.Errorf("ids are %s, %s and %s", first.ID, again.ID, other.ID)
	}
}
