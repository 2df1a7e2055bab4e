package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Reading a message returns the values that Message wrote.
func TestAMessageTellsItsReasons(t *testing.T) {
	t.Parallel()
	api := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "api"}
	at := func(replicas, milestone int32) checkpoint.Entry {
		return checkpoint.Entry{Replicas: replicas, Rollout: checkpoint.Rollout{Milestone: milestone}}
	}
	crossings := []ledger.Crossing{
		{ID: web, From: at(100, 0), To: at(200, 0), Text: "it grew: 187\nof 100"},
		{ID: api, To: at(5, 0), Text: "another"},
		{ID: api, From: at(5, 0), Text: ""},
		{ID: web, Rollout: true, To: at(200, 25), Text: "30 of 100 -> 200: available"},
		{ID: web, Rollout: true, From: at(200, 25), To: at(200, 50), Text: "half"},
		{ID: web, Rollout: true, From: at(200, 50), To: at(200, 0), Text: "over"},
	}
	message := ledger.Message(ledger.DefaultSubject, ledger.Trailers{Site: "prod", Intent: "1"}, true, crossings,
		[]string{"pay", "shop"})
	want := []ledger.Reason{
		{web, false, "100", "200", "it grew: 187 of 100"},
		{api, false, "new", "5", "another"},
		{api, false, "5", "retired", ""},
		{web, true, "new", "25", "30 of 100 -> 200: available"},
		{web, true, "25", "50", "half"},
		{web, true, "50", "done", "over"},
	}
	if got := ledger.Reasons(message); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v in\n%s", got, want, message)
	}
	for _, line := range []string{"\n" + ledger.Restored("pay") + "\n", "\n" + ledger.Restored("shop") + "\n"} {
		if !strings.Contains(message, line) {
			t.Errorf("no %q in\n%s", line, message)
		}
	}
	if !ledger.Ours("prod", message) || ledger.Ours("pro", message) || ledger.Ours("prod", "fix Gitlatch-Site: prod") {
		t.Error("the trailer is not what tells whose it is")
	}
	if got := ledger.Subject("red \x1b[31malert\nbody"); got != "red [31malert" {
		t.Errorf("subject %q", got)
	}
}

// A message has at most 64 KiB of lines. It then states the number of the other lines, and
// the trailers follow.
func TestALongMessageStatesTheNumberOfOtherLines(t *testing.T) {
	t.Parallel()
	crossing := ledger.Crossing{ID: web, From: checkpoint.Entry{Replicas: 100}, To: checkpoint.Entry{Replicas: 200}, Text: strings.Repeat("x", 1000)}
	const all = 100
	message := ledger.Message(ledger.DefaultSubject, ledger.Trailers{Site: "prod", Intent: "1"}, false, slices.Repeat([]ledger.Crossing{crossing}, all), nil)
	shown := len(ledger.Reasons(message))
	line := len("shop/deployment/web 100 -> 200: ") + 1001
	if shown == all || len(message) > 64<<10+200 || len(message) < 64<<10-line {
		t.Errorf("%d of %d lines, %d bytes", shown, all, len(message))
	}
	if more := fmt.Sprintf("\nand %d more: see the diff\n\nGitlatch-Site: prod\n", all-shown); !strings.Contains(message, more) {
		t.Errorf("no %q in the end %q", more, message[len(message)-200:])
	}
}
