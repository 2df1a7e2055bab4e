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

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/dispatch"
	"github.com/gitlatch/gitlatch/internal/each"
)

// A Sender is what is needed of the SDK's client of SQS.
type Sender interface {
	SendMessageBatch(context.Context, *sqs.SendMessageBatchInput, ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error)
}

// A Queue is a standard queue, which delays each message by itself: one that is
// first in, first out delays all alike.
type Queue struct {
	URL    string
	Client Sender
}

const (
	batch = 10 // messages that SQS takes at once
	tries = 3
)

// Send sends turns, each to be had when it is due, or at once where that was
// before now. What SQS does not take of a batch is sent again, by itself. The
// error names the sites whose turns were not sent; all others were.
func (q Queue) Send(ctx context.Context, turns []dispatch.Turn, now time.Time) error {
	var failed []error
	for part := range slices.Chunk(turns, batch) {
		if err := q.send(ctx, part, now); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

func (q Queue) send(ctx context.Context, turns []dispatch.Turn, now time.Time) error {
	for try := 1; ; try++ {
		left, err := q.once(ctx, turns, now)
		if err == nil {
			return nil
		}
		turns = left
		if try < tries && backoff.Retry(ctx, try) == nil {
			continue
		}
		return fmt.Errorf("send the turns of %q: %w", each.Of(turns, func(t dispatch.Turn) string { return t.Site }), err)
	}
}

// once returns the turns that were not taken, and why.
func (q Queue) once(ctx context.Context, turns []dispatch.Turn, now time.Time) ([]dispatch.Turn, error) {
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
	var left []dispatch.Turn
	for _, f := range out.Failed {
		if i, wrong := strconv.Atoi(aws.ToString(f.Id)); wrong == nil && i >= 0 && i < len(turns) {
			left = append(left, turns[i])
			err = fmt.Errorf("SQS answers %s: %s", aws.ToString(f.Code), aws.ToString(f.Message))
		}
	}
	return left, err
}

// delay is in whole seconds, so that no turn is had before it is due.
func delay(t dispatch.Turn, now time.Time) int32 {
	return int32(max(0, min(t.At.Sub(now)+time.Second-1, 15*time.Minute)) / time.Second)
}
