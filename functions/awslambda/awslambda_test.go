package awslambda_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"

	"github.com/gitlatch/gitlatch/functions/awslambda"
)

// A retry, or a request that is given twice, has the id of the first: it must not
// pass for the holder of the lease.
func TestARequestThatIsGivenTwiceIsTwoOwners(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{
		"tick/7f3a/": lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "7f3a"}),
		"tick/":      t.Context(),
	} {
		one, two := awslambda.Owner(ctx, "tick"), awslambda.Owner(ctx, "tick")
		if one == two || !strings.HasPrefix(one, name) {
			t.Errorf("%s and %s, want each to begin with %s", one, two, name)
		}
	}
}

func TestARunEndsBeforeTheFunction(t *testing.T) {
	t.Parallel()
	over := errors.New("over")
	for timeout, want := range map[time.Duration]time.Duration{
		5 * time.Minute:  5*time.Minute - awslambda.WrapUp,
		50 * time.Second: 40 * time.Second, // with a period of a minute
		8 * time.Second:  6 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			function, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			begin := time.Now()
			run, done := awslambda.Ended(function, begin, over)
			defer done()
			<-run.Done()
			if took := time.Since(begin); took != want || !errors.Is(context.Cause(run), over) {
				t.Errorf("of %s a run has %s, want %s; cause %v", timeout, took, want, context.Cause(run))
			}
			if err := awslambda.Explain(run, run.Err(), over); !errors.Is(err, over) {
				t.Errorf("the error does not say why: %v", err)
			}
		})
	}
	run, done := awslambda.Ended(t.Context(), time.Now(), over)
	defer done()
	if at, bounded := run.Deadline(); bounded {
		t.Errorf("without a deadline it ends at %s", at)
	}
	failed := errors.New("failed")
	if err := awslambda.Explain(run, failed, over); !errors.Is(err, failed) || errors.Is(err, over) {
		t.Errorf("a run that had time says %v", err)
	}
}

func TestAnEventIsReadToTheLetter(t *testing.T) {
	t.Parallel()
	type event struct {
		DryRun bool `json:"dryRun"`
	}
	for payload, want := range map[string]string{
		`{"dryRun": true}`: "",
		``:                 "",
		`{"dryrum": true}`: `event: json: unknown field "dryrum"; want {"dryRun": true}`,
	} {
		e, err := awslambda.Event[event]([]byte(payload), `{"dryRun": true}`)
		if err != nil && err.Error() != want || err == nil && (want != "" || e.DryRun == (payload == "")) {
			t.Errorf("%s is %+v, %v", payload, e, err)
		}
	}
}
