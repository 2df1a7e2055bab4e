package main

import (
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// A retry, or a request that is given twice, has the id of the first: it must not
// pass for the holder of the lease.
func TestARequestThatIsGivenTwiceIsTwoOwners(t *testing.T) {
	t.Parallel()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "7f3a"})
	if one, two := owner(ctx), owner(ctx); one == two {
		t.Errorf("both are %s", one)
	}
	if one, two := owner(t.Context()), owner(t.Context()); one == two {
		t.Errorf("without a request both are %s", one)
	}
}
