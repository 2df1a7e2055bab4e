//go:build aws

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

// The built bootstrap, with the list in CodeCommit and a real queue, only calls the
// operations that its role allows. A repeated event sends the same turns.
func TestDispatchOnAWS(t *testing.T) {
	t.Parallel()
	host, cloud := codecommit.Start(t), moto.Start(t)
	host.Create(t, "fleet", map[string]string{"fleets/europe.yaml": three})
	way := gateway.Start(t, map[string]string{"codecommit": host.Endpoint(), "sqs": cloud.URL})
	client := sqs.NewFromConfig(cloud.Config())
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("turns")})
	if err != nil {
		t.Fatal(err)
	}
	c := strings.NewReplacer("fleet: fleet.yaml", "fleet: fleets/europe.yaml", "{url: REPOSITORY}", "{url: \"https://git-codecommit."+moto.Region+".amazonaws.com/v1/repos/fleet\"}").Replace(document)
	f := runtimeapi.Start(t, runtimeapi.Build(t, "."), config.Variable+"="+c, queueVariable+"="+*made.QueueUrl,
		"AWS_ENDPOINT_URL="+way.URL, "AWS_REGION="+moto.Region, "AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=example")
	for range 2 {
		r := f.Invoke(t.Context(), []byte(`{"time": "2026-03-02T12:00:00Z"}`)) // in the past, so without a delay
		var got answer
		if r.Error != nil || json.Unmarshal(r.Payload, &got) != nil || got != (answer{"europe", noon, 3}) {
			t.Fatalf("answer %s, error %v, logs\n%s", r.Payload, r.Error, r.Logs)
		}
	}
	seen := map[string]int{}
	for range 4 {
		out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: made.QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Messages {
			seen[*m.Body]++
		}
	}
	if len(seen) != 3 {
		t.Errorf("turns %v", seen)
	}
	for body, n := range seen {
		if n != 2 {
			t.Errorf("%s was given %d times", body, n)
		}
	}
	want := append(strings.Fields(read(t, "../../testdata/stack/operations/dispatch-codecommit.txt")), "sqs:SendMessageBatch") // allowed by sqs:SendMessage
	if got := way.Operations("AKIDEXAMPLE"); !slices.Equal(got, want) {
		t.Errorf("it called %v, and its role is for %v", got, want)
	}
}
