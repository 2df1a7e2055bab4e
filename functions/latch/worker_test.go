package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

const fleetDocument = `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: europe
fleet: fleet.yaml
state: {memory: {}}
repository: {url: REPOSITORY}
`

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// batch returns the event of testdata with a message for each body: m0, m1 and so on.
func batch(t *testing.T, bodies ...string) []byte {
	t.Helper()
	var event struct{ Records []map[string]any }
	if err := json.Unmarshal([]byte(read(t, "../../testdata/events/sqs.json")), &event); err != nil {
		t.Fatal(err)
	}
	one := event.Records[0]
	event.Records = nil
	for i, body := range bodies {
		r := map[string]any{}
		for k, v := range one {
			r[k] = v
		}
		r["messageId"], r["body"] = fmt.Sprintf("m%d", i), body
		event.Records = append(event.Records, r)
	}
	text, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func turnOf(site string, at time.Time) string {
	return fmt.Sprintf(`{"turn": %q, "site": %q}`, at.UTC().Format(time.RFC3339), site)
}

// fleetOf returns a fleet whose list is in git.
func fleetOf(t *testing.T, list string) config.Config {
	t.Helper()
	origin := gitserver.NewOrigin(t, t.TempDir(), map[string]string{"fleet.yaml": "apiVersion: gitlatch.dev/v1alpha1\nkind: Fleet\nsites:\n" + list})
	c, err := config.ParseConfig("config", []byte(strings.Replace(fleetDocument, "REPOSITORY", origin.Dir, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A failed message stays in the queue, and its error names the site or the field. A
// completed message does not stay.
func TestAMessageFailsByItself(t *testing.T) {
	t.Setenv("AWS_REGION", "")
	t.Setenv("AWS_DEFAULT_REGION", "")
	t.Setenv("AWS_CONFIG_FILE", "/nowhere")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	c := fleetOf(t, "- {site: prod-eu, eks: blue}\n- {site: prod-us, eks: arn:aws:eks:us-east-1:123456789012:cluster/red, roleArn: \"arn:aws:iam::123456789012:role/listed\"}\n")
	good := func(at time.Time) string { return turnOf("prod-eu", at) }
	for name, c2 := range map[string]struct {
		bodies []string
		failed []string
		says   []string
	}{
		"over":              {[]string{good(noon.Add(-5 * time.Minute)), good(noon.Add(-time.Hour))}, nil, []string{"the turn is over, because the next one is due", `"site":"prod-eu"`}},
		"not JSON":          {[]string{"prod-eu"}, []string{"m0"}, []string{"message: invalid character"}},
		"no site":           {[]string{strings.Replace(good(noon), "prod-eu", "", 1)}, []string{"m0"}, []string{"message: site: is required"}},
		"a site of its own": {[]string{turnOf("prod-ap", noon)}, []string{"m0"}, []string{`site \"prod-ap\" is not in fleet.yaml on the branch`}},
		"a cluster of its own": {[]string{strings.Replace(good(noon), `"prod-eu"`, `{"site": "prod-eu", "eks": {"name": "other", "roleArn": "arn:aws:iam::210987654321:role/other"}, "branch": "other"}`, 1)},
			[]string{"m0"}, []string{"message: json: cannot unmarshal object"}},
		"no turn":            {[]string{strings.Replace(good(noon), "turn", "when", 1)}, []string{"m0"}, []string{`unknown field \"when\"`}},
		"cannot be opened":   {[]string{good(noon)}, []string{"m0"}, []string{"site prod-eu: cluster: cluster.eks: no Region is configured"}},
		"some of a batch":    {[]string{"{}", good(noon.Add(-time.Hour)), good(noon), "", good(noon.Add(-time.Hour))}, []string{"m0", "m2", "m3"}, []string{`"messageId":"m0"`, `"messageId":"m3"`}},
		"all that AWS shows": {nil, []string{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			w := newWorker(c, func(string) string { return "" }, func() time.Time { return noon }, zerolog.New(&log), &log)
			payload := batch(t, c2.bodies...)
			if c2.bodies == nil {
				w.clock = func() time.Time { return noon.Add(time.Hour) }
				payload = []byte(read(t, "../../testdata/events/sqs.json"))
			}
			var event events.SQSEvent
			if err := json.Unmarshal(payload, &event); err != nil {
				t.Fatal(err)
			}
			got, err := w.handle(t.Context(), event)
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, f := range got.BatchItemFailures {
				ids = append(ids, f.ItemIdentifier)
			}
			if !slices.Equal(ids, c2.failed) {
				t.Errorf("failed %q, want %q; log\n%s", ids, c2.failed, log.String())
			}
			for _, want := range c2.says {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log does not say %s:\n%s", want, log.String())
				}
			}
			if answer, err := json.Marshal(got); err != nil || !strings.HasPrefix(string(answer), `{"batchItemFailures":[`) {
				t.Errorf("answer %s, error %v", answer, err)
			}
		})
	}
}

// Lambda takes an invalid answer for a successful batch.
func TestAWorkerTakesTurnsAlone(t *testing.T) {
	t.Parallel()
	w := newWorker(fleetOf(t, "- {site: prod-eu, eks: blue}\n"), func(string) string { return "" }, time.Now, zerolog.Nop(), nil)
	if got, err := w.handle(context.Background(), events.SQSEvent{}); err == nil || !strings.Contains(err.Error(), "has no Records") {
		t.Errorf("answer %+v, error %v", got, err)
	}
}
