// Package awslambda contains the parts that all Lambda functions share: they start, read
// their event, end before their timeout, and name the owner of a lease.
package awslambda

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/rs/zerolog"

	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/wiring"
)

// Start opens the handler of a function, which open returns, and runs it for each event
// until Lambda ends the process. If the handler cannot be opened, the process ends.
func Start(clock func() time.Time, open func(log zerolog.Logger) (handle any, err error)) {
	log := report.NewLogger(os.Stdout, clock)
	report.TakeStandard(log)
	handle, err := open(log)
	if err != nil {
		log.Fatal().Err(err).Msg("start")
	}
	lambda.Start(handle)
}

// Event reads an event and refuses unknown fields: a misspelled dryRun must not lead to a
// commit. An empty payload is the zero value. An error shows want, an example of an event.
func Event[E any](payload json.RawMessage, want string) (e E, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil && !errors.Is(err, io.EOF) {
		return e, fmt.Errorf("event: %w; want %s", err, want)
	}
	return e, nil
}

// WrapUp is the part of the function's time that a run leaves unused: for the writes that
// must complete, the release of the lease, the log and the response. Lambda kills a
// function at its timeout without notice.
const WrapUp = 10 * time.Second

// Ended returns a context that ends before the function does, with the cause: WrapUp
// earlier, or a quarter of a short timeout earlier.
func Ended(ctx context.Context, now time.Time, cause error) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline.Add(-min(WrapUp, deadline.Sub(now)/4)), cause)
}

// Explain adds the cause of the end of the context to an error.
func Explain(ctx context.Context, err, cause error) error {
	if err != nil && errors.Is(context.Cause(ctx), cause) && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// Owner returns the owner of a lease for one run. Lambda may deliver a request twice, and
// a retry has the same request id.
func Owner(ctx context.Context, program string) string {
	if request, ok := lambdacontext.FromContext(ctx); ok {
		program += "/" + request.AwsRequestID
	}
	return wiring.Owner(program)
}
