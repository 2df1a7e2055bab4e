package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/functions/fleet/queue"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const (
	document = "apiVersion: gitlatch.dev/v1alpha1\nkind: Config\nsite: europe\nfleet: fleet.yaml\nstate: {memory: {}}\nrepository: {url: REPOSITORY}\n"
	three    = "apiVersion: gitlatch.dev/v1alpha1\nkind: Fleet\nsites:\n- {site: a, eks: a}\n- {site: b, eks: b}\n- {site: c, eks: c, branch: checkpoints/c}\n"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

func environment(document, queue string) func(string) string {
	return func(name string) string {
		return map[string]string{config.Variable: document, queueVariable: queue}[name]
	}
}

func TestADispatcherThatCannotStartSaysWhy(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	good := strings.Replace(document, "REPOSITORY", "/srv/fleet.git", 1)
	for want, getenv := range map[string]func(string) string{
		"GITLATCH_CONFIG must contain":   environment("", "https://queue"),
		"GITLATCH_QUEUE must contain":    environment(good, ""),
		"fleet: is required":             environment(strings.Replace(good, "fleet: fleet.yaml\n", "", 1), "https://queue"),
		"fleet: must not be below check": environment(strings.Replace(good, "fleet: fleet.yaml", "fleet: checkpoints/a.yaml", 1), "https://queue"),
	} {
		if _, err := newHandler(getenv, time.Now, zerolog.Nop(), io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

type sender struct{ bodies []string }

func (s *sender) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	for _, e := range in.Entries {
		s.bodies = append(s.bodies, *e.MessageBody)
	}
	return &sqs.SendMessageBatchOutput{}, nil
}

// The dispatcher reads the list from the branch. It reports a list that it cannot read,
// and keeps the sites in the previous list.
func TestTheListIsReadFromTheBranch(t *testing.T) {
	t.Setenv("AWS_REGION", "eu-west-1")
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"README": "of people\n"})
	var metrics bytes.Buffer
	h, err := newHandler(environment(strings.Replace(document, "REPOSITORY", origin.Dir, 1), "https://queue"), func() time.Time { return noon }, zerolog.Nop(), &metrics)
	if err != nil {
		t.Fatal(err)
	}
	dispatches := func(says string) (sites string) {
		t.Helper()
		s := &sender{}
		h.queue = queue.Queue{URL: "https://queue", Client: s}
		metrics.Reset()
		_, err := h.handle(t.Context(), json.RawMessage(`{"time": "2026-03-02T11:59:58Z"}`))
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("error %v, want %q", err, says)
		}
		if counted := strings.Contains(metrics.String(), `"Dispatches":1`); counted != (err == nil) {
			t.Errorf("metrics %s, error %v", metrics.String(), err)
		}
		for _, body := range s.bodies {
			turn, err := fleet.Parse(body)
			if err != nil || turn.At.Before(noon.Add(-2*time.Second)) || !turn.At.Before(noon.Add(5*time.Minute-2*time.Second)) {
				t.Errorf("%s, error %v", body, err)
			}
			sites += turn.Site + " "
		}
		return sites
	}
	if got := dispatches("fleet.yaml is not on branch main"); got != "" {
		t.Errorf("without a list: %s", got)
	}
	origin.Push(t, "main", map[string]string{"fleet.yaml": three}, "begin")
	for range 2 {
		if got := dispatches(""); got != "a b c " {
			t.Errorf("sites %s", got)
		}
	}
	origin.Push(t, "main", map[string]string{"fleet.yaml": three + "- {site: a, eks: d}\n"}, "twice")
	if got := dispatches("fleet.yaml:7: sites[3].site: must be unique"); got != "a b c " {
		t.Errorf("after a bad merge: %s", got)
	}
	origin.Push(t, "main", map[string]string{"fleet.yaml": strings.Replace(three, "site: a", "site: z", 1)}, "repair")
	if got := dispatches(""); got != "z b c " {
		t.Errorf("after it was repaired: %s", got)
	}
	if _, err := h.handle(t.Context(), json.RawMessage(`{"times": 1}`)); err == nil || !strings.Contains(err.Error(), `unknown field "times"`) {
		t.Errorf("error %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
