// Package queue sends the turns of a fleet by Amazon SQS.
package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Sender is the part of the SDK's client of SQS that a Queue uses.
type Sender interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// A Queue is a standard queue. A FIFO queue cannot delay single messages.
type Queue struct {
	URL    string
	Client Sender
}

const (
	batch = 10 // highest number of messages in a request of SQS
	tries = 3
)

// Send sends turns, each with a delay until it is due. A turn that is due already has no
// delay. Send sends the messages that SQS rejects again, without the rest of their batch.
// The error names the sites whose turns were not sent. The other turns were sent.
func (q Queue) Send(ctx context.Context, turns []fleet.Turn, now time.Time) error {
	var failed []error
	for part := range slices.Chunk(turns, batch) {
		failed = append(failed, q.send(ctx, part, now))
	}
	return errors.Join(failed...)
}

func (q Queue) send(ctx context.Context, turns []fleet.Turn, now time.Time) error {
	for try := 1; ; try++ {
		left, err := q.once(ctx, turns, now)
		if err == nil {
			return nil
		}
		turns = left
		if try < tries && backoff.Retry(ctx, try) == nil {
			continue
		}
		return fmt.Errorf("send the turns of %q: %w", lists.Map(turns, func(t fleet.Turn) string { return t.Site }), err)
	}
}

// once sends a batch. It returns the turns that SQS rejected, and the error.
func (q Queue) once(ctx context.Context, turns []fleet.Turn, now time.Time) ([]fleet.Turn, error) {
	in := &sqs.SendMessageBatchInput{QueueUrl: aws.String(q.URL)}
	for i, t := range turns {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(t.Body()), DelaySeconds: delay(t, now),
		})
	}
	out, err := q.Client.SendMessageBatch(ctx, in)
	if err != nil {
		return turns, err
	}
	var left []fleet.Turn
	for _, f := range out.Failed {
		if i, wrong := strconv.Atoi(aws.ToString(f.Id)); wrong == nil && i >= 0 && i < len(turns) {
			left = append(left, turns[i])
			err = fmt.Errorf("SQS answers %s: %s", aws.ToString(f.Code), aws.ToString(f.Message))
		}
	}
	return left, err
}

// delay returns whole seconds, rounded up, so that no turn arrives before it is due.
func delay(t fleet.Turn, now time.Time) int32 {
	return int32(max(0, min(t.At.Sub(now)+time.Second-1, 15*time.Minute)) / time.Second)
}
