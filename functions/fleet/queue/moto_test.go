//go:build aws

package queue_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/gitlatch/gitlatch/functions/fleet/queue"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

// If SQS accepts every message, each turn is in a real queue once.
func TestTurnsArriveInAQueue(t *testing.T) {
	t.Parallel()
	client := sqs.NewFromConfig(moto.Start(t).Config())
	made, err := client.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("turns")})
	if err != nil {
		t.Fatal(err)
	}
	all := turns(23)
	q := queue.Queue{URL: *made.QueueUrl, Client: &sender{Sender: client, refuse: map[string]int{"prod-4": 1}}}
	if err := q.Send(t.Context(), all, noon.Add(period)); err != nil { // every turn is due
		t.Fatal(err)
	}
	var got []string
	for range 10 {
		out, err := client.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: made.QueueUrl, MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Messages {
			got = append(got, *m.Body)
		}
	}
	var want []string
	for _, turn := range all {
		want = append(want, turn.Body())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("in the queue are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
