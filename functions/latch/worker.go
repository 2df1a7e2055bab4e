package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// worker ticks the sites of a fleet in their turns. Its fields are the same for every
// site, and warm invocations share them.
type worker struct {
	config  config.Config
	opener  *wiring.Opener
	roster  wiring.Roster
	clock   func() time.Time
	log     zerolog.Logger
	metrics io.Writer
}

func newWorker(c config.Config, getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer) *worker {
	opener := &wiring.Opener{Config: c, Getenv: getenv, Clock: clock}
	return &worker{config: c, opener: opener, roster: wiring.Roster{Opener: opener}, clock: clock, log: log, metrics: metrics}
}

// handle ticks one site after the other. It divides the remaining time among the sites,
// so that a cluster that does not answer takes no time from the others. If a tick does
// not complete, only its message stays in the queue. If a completed tick found a problem
// for a user to fix, the metric TicksFailed shows it. Its message does not stay, because
// a second tick would find the turn used.
func (w *worker) handle(ctx context.Context, batch events.SQSEvent) (events.SQSEventResponse, error) {
	if len(batch.Records) == 0 {
		return events.SQSEventResponse{}, errors.New("event: has no Records. This function is configured for a fleet, and accepts only messages of its queue")
	}
	ctx, cancel := awslambda.Ended(ctx, time.Now(), errTime)
	defer cancel()
	members, unread := w.roster.Read(ctx)
	if unread != nil {
		w.log.Error().Str("fleet", w.config.Site).Err(hinted(unread)).Msg("list of sites")
	}
	failed := events.SQSEventResponse{BatchItemFailures: []events.SQSBatchItemFailure{}}
	for i, m := range batch.Records {
		if err := w.take(ctx, m, members, len(batch.Records)-i); err != nil {
			w.log.Error().Str("fleet", w.config.Site).Str("messageId", m.MessageId).Err(hinted(err)).Msg("turn")
			failed.BatchItemFailures = append(failed.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return failed, nil
}

// take processes one of the left remaining turns. The message only contains the site's
// name and the time. The settings of the site are in the list in git.
func (w *worker) take(ctx context.Context, m events.SQSMessage, members []config.Member, left int) error {
	turn, err := fleet.Parse(m.Body)
	if err != nil {
		return err
	}
	if turn.Over(w.clock(), w.config.Period) {
		w.log.Warn().Str("site", turn.Site).Time("turn", turn.At).Msg("the turn is over, because the next one is due")
		return nil
	}
	at := slices.IndexFunc(members, func(of config.Member) bool { return of.Site == turn.Site })
	if at < 0 {
		return fmt.Errorf("site %q is not in %s on the branch", turn.Site, w.config.Fleet)
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		share := time.Until(deadline) / time.Duration(left)
		ctx, cancel = context.WithTimeoutCause(ctx, share, errTime)
		defer cancel()
	}
	if err := w.tick(ctx, members[at], turn.At); err != nil {
		w.opener.Forget()
		return fmt.Errorf("site %s: %w", turn.Site, err)
	}
	return nil
}

func (w *worker) tick(ctx context.Context, of config.Member, turn time.Time) (err error) {
	opener := w.opener.Of(of)
	parts, err := opener.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, parts.Close()) }()
	parts.Owner = awslambda.Owner(ctx, "latch")
	t := local.Tick(opener.Config, parts)
	t.Turn = turn
	r, err := run(ctx, t, w.log)
	if r.NotRun != "" {
		return nil
	}
	return errors.Join(err, report.WriteFleetMetrics(w.metrics, w.config.Site, r, err, w.clock()))
}
