package tick

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// What Message writes is what is read of it again.
func TestAMessageTellsItsReasons(t *testing.T) {
	t.Parallel()
	web := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}
	web2 := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web2"}
	rolling := checkpoint.Entry{Replicas: 200, Rollout: checkpoint.Rollout{Milestone: 25}}
	message := Message(ledger.Trailers{Site: "prod", Intent: "1"}, true, []policy.Decision{
		{ID: web, From: checkpoint.Entry{Replicas: 100}, To: checkpoint.Entry{Replicas: 200}, Text: "it grew: 187\nof 100"},
		{ID: web, Reading: policy.ReadingRollout, To: rolling, Text: "30 of 100 are available"},
		{ID: web2, To: checkpoint.Entry{Replicas: 5}, Text: "another"},
	}, Beside{Components: []string{"pay"}, Files: []string{"shop/deployment/web2 -> x: a path"}})
	for _, c := range []struct {
		id   workload.ID
		want string
	}{
		{web, "it grew: 187 of 100; 30 of 100 are available"},
		{web2, "another"},
		{workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "we"}, ""},
	} {
		if got := Reason(message, c.id); got != c.want {
			t.Errorf("%s: %q, want %q in\n%s", c.id, got, c.want, message)
		}
	}
	if !Ours("prod", message) || Ours("pro", message) || Ours("prod", "fix Gitlatch-Site: prod") {
		t.Error("the trailer is not what tells whose it is")
	}
	if got := Subject("red \x1b[31malert\nbody"); got != "red [31malert" {
		t.Errorf("subject %q", got)
	}
}
