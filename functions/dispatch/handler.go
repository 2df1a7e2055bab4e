package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/awslambda"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/dispatch"
	"github.com/gitlatch/gitlatch/internal/dispatch/queue"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/site"
)

// queueVariable is the environment variable with the URL of the queue of turns.
const queueVariable = "GITLATCH_QUEUE"

// openDeadline bounds what is opened before the first event, which Lambda gives
// ten seconds.
const openDeadline = 9 * time.Second

// event is what the schedule invokes the function with.
type event struct {
	// Time is when it was due, so that what is invoked again gives the same turns
	// again; zero is now.
	Time time.Time `json:"time"`
}

// answer is what the function did.
type answer struct {
	Fleet string    `json:"fleet"`
	Begin time.Time `json:"begin"` // of the period
	Sites int       `json:"sites"`
}

// handler is what warm invocations share.
type handler struct {
	config config.Config
	roster site.Roster
	queue  queue.Queue
	clock  func() time.Time
	log    zerolog.Logger
	// metrics takes a line of metrics for each time that all turns were sent.
	metrics io.Writer
}

func newHandler(getenv func(string) string, clock func() time.Time, log zerolog.Logger, metrics io.Writer) (*handler, error) {
	c, err := config.FromEnvironment(getenv)
	url := getenv(queueVariable)
	switch {
	case err != nil:
		return nil, err
	case c.Fleet == "":
		return nil, fmt.Errorf("%s: fleet: is required: the file on the branch that lists the sites", config.Variable)
	case url == "":
		return nil, fmt.Errorf("environment variable %s must contain the URL of the queue", queueVariable)
	}
	h := &handler{config: c, roster: site.Roster{Opener: &site.Opener{Config: c, Getenv: getenv, Clock: clock, ReadOnly: true}},
		clock: clock, log: log, metrics: metrics}
	ctx, cancel := context.WithTimeout(context.Background(), openDeadline)
	defer cancel()
	own, err := h.roster.Opener.In(ctx, queueVariable, "")
	h.queue = queue.Queue{URL: url, Client: sqs.NewFromConfig(own)}
	return h, err
}

// handle gives each site its turn in the period that begins. A list that cannot be
// read is an error, and the one before it is used where there was one.
func (h *handler) handle(ctx context.Context, payload json.RawMessage) (answer, error) {
	e, err := awslambda.Event[event](payload, `{"time": "2006-01-02T15:04:05Z"} or less`)
	if err != nil {
		return answer{}, err
	}
	now := h.clock()
	if e.Time.IsZero() {
		e.Time = now
	}
	members, unread := h.roster.Read(ctx)
	sending := h.queue.Send(ctx, dispatch.Turns(members, e.Time, h.config.Period), now)
	err = errors.Join(unread, sending)
	h.log.Info().Str("fleet", h.config.Site).Time("begin", e.Time).Int("sites", len(members)).AnErr("error", err).Msg("dispatch")
	if err == nil {
		err = report.WriteDispatchMetrics(h.metrics, h.config.Site, len(members), now)
	}
	return answer{h.config.Site, e.Time.UTC(), len(members)}, err
}
