//go:build aws

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// fleet sends turns of two sites, each with a separate branch, in batches with failing
// turns.
func (c *cloud) fleet(t *testing.T) {
	s := c.deploy(t, plan{name: "fleet-one", provider: "github", mode: "direct", hold: "down: 0s"})
	const two, branch = "fleet-two", "checkpoints/fleet-two"
	s.origin.Push(t, branch, map[string]string{"gitlatch.yaml": s.origin.Show(t, "main", "gitlatch.yaml")}, "begin")
	s.origin.Push(t, "main", map[string]string{"fleets/europe.yaml": fmt.Sprintf("apiVersion: gitlatch.dev/v1alpha1\nkind: Fleet\nsites:\n- {site: %s, eks: %s}\n- {site: %s, eks: arn:aws:eks:%[4]s:123456789012:cluster/%[2]s, branch: %[5]s}\n- {site: fleet-ghost, eks: nowhere}\n",
		s.name, cluster, two, moto.Region, branch)}, "list the sites")
	for name, value := range map[string]string{"Fleet": "europe", "StateTable": table, "AlertTopic": s.topic} {
		s.filled[name] = value
	}
	document := os.Expand(configOf(t, read(t, "../../infra/fleet/template.yaml"), "FleetWorker"), func(name string) string { return s.filled[name] })
	f := runtimeapi.Start(t, s.binary, config.Variable+"="+document, "AWS_ENDPOINT_URL="+s.gateway.URL, "AWS_REGION="+moto.Region,
		"AWS_ACCESS_KEY_ID="+s.key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.key.SecretAccessKey, "AWS_SESSION_TOKEN="+s.key.SessionToken)
	send := func(bodies ...string) (failed []string, logs string) {
		t.Helper()
		r := f.Invoke(t.Context(), batch(t, bodies...))
		if r.Error != nil || secrets.MatchString(r.Logs) {
			t.Fatalf("error %v, logs\n%s", r.Error, r.Logs)
		}
		var answer events.SQSEventResponse
		if err := json.Unmarshal(r.Payload, &answer); err != nil {
			t.Fatal(err)
		}
		for _, f := range answer.BatchItemFailures {
			failed = append(failed, f.ItemIdentifier)
		}
		return failed, r.Logs
	}
	s.scales(t, 12)

	now := time.Now()
	failed, logs := send(turnOf(s.name, now), turnOf(two, now), turnOf(s.name, now), turnOf(two, now.Add(-time.Hour)),
		"{}", turnOf("fleet-ghost", now))
	if strings.Join(failed, " ") != "m4 m5" || !strings.Contains(logs, "site fleet-ghost: ") || !strings.Contains(logs, "message: turn: is required") {
		t.Errorf("failed are %q, logs\n%s", failed, logs)
	}
	if got := strings.Count(logs, `"Heartbeat":1`); got != 2 || strings.Count(logs, `"TicksFailed":1`) != 1 || !strings.Contains(logs, `"fleet":"europe"`) || strings.Contains(logs, `[["site"]]`) {
		t.Errorf("%d heartbeats of 2, and one tick that failed, of the fleet:\n%s", got, logs)
	}
	read := 0
	for _, call := range s.gateway.Calls() {
		if call.Operation == "secretsmanager:GetSecretValue" {
			read++
		}
	}
	if read != 1 {
		t.Errorf("the secret of all sites was read %d times", read)
	}
	begin := s.origin.Tip("main")
	// Turns have an instant in seconds. A turn that started before a tick belongs to
	// that tick.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(1100 * time.Millisecond)))
	now = time.Now()
	if failed, logs = send(turnOf(two, now), turnOf(s.name, now)); len(failed) > 0 {
		t.Errorf("failed are %q, logs\n%s", failed, logs)
	}
	if s.origin.Tip("main") == begin {
		t.Errorf("nothing was committed; logs\n%s", logs)
	}
	s.declares(t, 20)
	if record := s.origin.Show(t, branch, "checkpoints/"+two+"/"+s.name+".levels.yaml"); !strings.Contains(record, `deployment.web: "20"`) {
		t.Errorf("the branch of %s holds\n%s", two, record)
	}
}
