package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/functions/fleet/queue"
	"github.com/gitlatch/gitlatch/internal/config"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const period = 5 * time.Minute

func turns(n int) []fleet.Turn {
	var members []config.Member
	for i := range n {
		members = append(members, config.Member{Site: fmt.Sprintf("prod-%d", i), EKS: config.EKS{Name: "blue"}})
	}
	return fleet.Turns(members, noon, period)
}

// sender records the messages. It first fails entries or complete batches.
type sender struct {
	queue.Sender // nil accepts every message
	batches      [][]types.SendMessageBatchRequestEntry
	// refuse is the number of refusals by SQS for each site.
	refuse map[string]int
	err    error // error of the next batch
}

func (s *sender) SendMessageBatch(ctx context.Context, in *sqs.SendMessageBatchInput, o ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput, error) {
	s.batches = append(s.batches, in.Entries)
	if err := s.err; err != nil {
		s.err = nil
		return nil, err
	}
	out := &sqs.SendMessageBatchOutput{}
	take := *in
	take.Entries = nil
	for _, e := range in.Entries {
		turn, err := fleet.Parse(*e.MessageBody)
		if err != nil {
			return nil, err
		}
		if s.refuse[turn.Site] > 0 {
			s.refuse[turn.Site]--
			out.Failed = append(out.Failed, types.BatchResultErrorEntry{Id: e.Id, Code: aws.String("InternalError"), Message: aws.String("try again")})
			continue
		}
		take.Entries = append(take.Entries, e)
	}
	if s.Sender == nil || len(take.Entries) == 0 {
		return out, nil
	}
	sent, err := s.Sender.SendMessageBatch(ctx, &take, o...)
	if err == nil {
		out.Failed = append(out.Failed, sent.Failed...)
	}
	return out, err
}

func (s *sender) sites() (all []string) {
	for _, batch := range s.batches {
		for _, e := range batch {
			turn, _ := fleet.Parse(*e.MessageBody)
			all = append(all, turn.Site)
		}
	}
	return all
}

func open(s *sender) queue.Queue {
	return queue.Queue{URL: "https://queue", Client: s}
}

func TestDelaysAreUntilTheTurn(t *testing.T) {
	t.Parallel()
	for late, want := range map[time.Duration]func(time.Duration) time.Duration{
		0:                       func(d time.Duration) time.Duration { return d },
		1500 * time.Millisecond: func(d time.Duration) time.Duration { return max(0, d-time.Second) }, // never early
		time.Hour:               func(time.Duration) time.Duration { return 0 },
	} {
		s := &sender{}
		all := turns(25)
		if err := open(s).Send(t.Context(), all, noon.Add(late)); err != nil {
			t.Fatal(err)
		}
		if len(s.batches) != 3 || len(s.batches[0]) != 10 || len(s.batches[2]) != 5 {
			t.Errorf("%d batches, of 25", len(s.batches))
		}
		i := 0
		for _, batch := range s.batches {
			ids := map[string]bool{}
			for _, e := range batch {
				if got, want := time.Duration(e.DelaySeconds)*time.Second, want(all[i].At.Sub(noon)); got != want {
					t.Errorf("%s late, %s: delayed by %s, want %s", late, all[i].Site, got, want)
				}
				ids[*e.Id] = true
				i++
			}
			if len(ids) != len(batch) {
				t.Errorf("%d ids in a batch of %d", len(ids), len(batch))
			}
		}
	}
}

func TestWhatIsNotTakenIsSentAgainAndReported(t *testing.T) {
	t.Parallel()
	s := &sender{refuse: map[string]int{"prod-3": 1, "prod-12": 9}, err: errors.New("connection reset")}
	err := open(s).Send(t.Context(), turns(14), noon)
	if err == nil || err.Error() != `send the turns of ["prod-12"]: SQS answers InternalError: try again` {
		t.Errorf("error %v", err)
	}
	sent := map[string]int{}
	for _, site := range s.sites() {
		sent[site]++
	}
	// The first batch was sent three times: twice with all entries, and once with the
	// refused one.
	for site, want := range map[string]int{"prod-0": 2, "prod-3": 3, "prod-10": 1, "prod-12": 3} {
		if sent[site] != want {
			t.Errorf("%s was sent %d times, want %d", site, sent[site], want)
		}
	}
}
