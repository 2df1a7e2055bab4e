// Package invocation is what the functions of Lambda have in common: how one reads
// its event, ends before its time is over, and is named.
package invocation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/gitlatch/gitlatch/internal/site"
)

// Event reads an event to the letter: who misspells dryRun must not find a commit.
// No event is the zero value. An error shows want, which is what an event is like.
func Event[E any](payload json.RawMessage, want string) (e E, err error) {
	d := json.NewDecoder(bytes.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil && !errors.Is(err, io.EOF) {
		return e, fmt.Errorf("event: %w; want %s", err, want)
	}
	return e, nil
}

// WrapUp is what a run leaves of the function's time: to end what must not stay half
// done, to give the lease back, to log and to answer. Lambda kills a function at its
// timeout without a word.
const WrapUp = 10 * time.Second

// Ended returns a context that ends before the function does, with the cause: by
// WrapUp, or a quarter of a time that is short.
func Ended(ctx context.Context, now time.Time, cause error) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, deadline.Add(-min(WrapUp, deadline.Sub(now)/4)), cause)
}

// Explain adds to an error the cause by which the context ended, if it did.
func Explain(ctx context.Context, err, cause error) error {
	if err != nil && errors.Is(context.Cause(ctx), cause) && !errors.Is(err, cause) {
		return fmt.Errorf("%w (%w)", err, cause)
	}
	return err
}

// Owner is who takes the lease: one run of what is named. Lambda may give a request
// twice, and a retry has the id of what it repeats.
func Owner(ctx context.Context, what string) string {
	if request, ok := lambdacontext.FromContext(ctx); ok {
		what += "/" + request.AwsRequestID
	}
	return site.Owner(what)
}
