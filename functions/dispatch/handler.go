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

	"github.com/gitlatch/gitlatch/functions/awslambda"
	"github.com/gitlatch/gitlatch/functions/fleet"
	"github.com/gitlatch/gitlatch/functions/fleet/queue"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// queueVariable is the environment variable with the URL of the queue of turns.
const queueVariable = "GITLATCH_QUEUE"

// openDeadline limits the time to open the parts before the first event. Lambda allows
// ten seconds.
const openDeadline = 9 * time.Second

// event is the input of the function, from the schedule.
type event struct {
	// Time is the time at which the event was due; zero is now. A repeated event has the
	// same time, and sends the same turns again.
	Time time.Time `json:"time"`
}

// answer is the result of the function.
type answer struct {
	Fleet string    `json:"fleet"`
	Begin time.Time `json:"begin"` // start of the period
	Sites int       `json:"sites"`
}

// handler is the state that warm invocations share.
type handler struct {
	config config.Config
	roster wiring.Roster
	queue  queue.Queue
	clock  func() time.Time
	log    zerolog.Logger
	// metrics receives a line each time that every turn was sent.
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
	h := &handler{config: c, roster: wiring.Roster{Opener: &wiring.Opener{Config: c, Getenv: getenv, Clock: clock, ReadOnly: true}},
		clock: clock, log: log, metrics: metrics}
	ctx, cancel := context.WithTimeout(context.Background(), openDeadline)
	defer cancel()
	own, err := h.roster.Opener.In(ctx, queueVariable, "")
	h.queue = queue.Queue{URL: url, Client: sqs.NewFromConfig(own)}
	return h, err
}

// handle sends each site its turn in the period that starts. If the list cannot be read,
// handle uses the previous list, if there is one, and returns an error.
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
	sending := h.queue.Send(ctx, fleet.Turns(members, e.Time, h.config.Period), now)
	err = errors.Join(unread, sending)
	h.log.Info().Str("fleet", h.config.Site).Time("begin", e.Time).Int("sites", len(members)).AnErr("error", err).Msg("dispatch")
	if err == nil {
		err = report.WriteDispatchMetrics(h.metrics, h.config.Site, len(members), now)
	}
	return answer{h.config.Site, e.Time.UTC(), len(members)}, err
}
