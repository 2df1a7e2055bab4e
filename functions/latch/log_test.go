//go:build aws

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

const role = "../../infra/rbac/clusterrole.yaml"

// eventOf returns an event from testdata/events that is due now.
func eventOf(t *testing.T, event string) string {
	t.Helper()
	return strings.Replace(read(t, "../../testdata/events/"+event+".json"), scheduledTime, time.Now().UTC().Format(time.RFC3339Nano), 1)
}

type line struct {
	Timestamp time.Time
	Level     string
	Message   string
	Site      string
	Workload  string
	Why       string
	Commit    string
	To        int32
	Crossings int
	Unread    []string
	Error     string
	Answer    struct{ ErrorMessage string } // in a line about a failure
}

// logged returns the log lines of one event, except the line of metrics, which is not
// for users.
func logged(t *testing.T, r runtimeapi.Result) (lines []line) {
	t.Helper()
	for text := range strings.Lines(r.Logs) {
		if strings.Contains(text, `"_aws":`) {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("line %q: %v", text, err)
		}
		if time.Since(l.Timestamp).Abs() > time.Hour || !slices.Contains([]string{"INFO", "WARN", "ERROR"}, l.Level) {
			t.Errorf("line %q has timestamp %s and level %q", text, l.Timestamp, l.Level)
		}
		lines = append(lines, l)
	}
	return lines
}

// only returns the lines with a message.
func only(lines []line, message string) []line {
	return slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Message != message })
}

// tick returns the one line of the tick of an event.
func tick(t *testing.T, r runtimeapi.Result) line {
	t.Helper()
	ticks := only(logged(t, r), "tick")
	if len(ticks) != 1 {
		t.Fatalf("%d lines of ticks in\n%s", len(ticks), r.Logs)
	}
	return ticks[0]
}
