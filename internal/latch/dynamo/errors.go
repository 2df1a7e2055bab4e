package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/backoff"
)

// errCondition is returned if the condition of a write is false. Nothing was written.
var errCondition = errors.New("condition does not hold")

const (
	codeCondition  = "ConditionalCheckFailedException"
	codeValidation = "ValidationException"
)

// A fault is the meaning of an error code for the table, and the remedy.
type fault struct{ is, fix string }

var (
	faults = map[string]fault{
		"ResourceNotFoundException":           {"does not exist", "create it, or correct the table or the region of state.dynamodb"},
		"AccessDeniedException":               {"denies access", "allow the role GetItem, Query, UpdateItem and DeleteItem on the table for the leading key site#<site>, and the use of its KMS key"},
		"UnrecognizedClientException":         {"does not accept the credentials", "check them, and check that they belong to the table's account and Region"},
		"InvalidSignatureException":           {"does not accept the credentials", "check them, and the clock of this machine"},
		"MissingAuthenticationTokenException": {"requires credentials", "set a role or a profile"},
		"ExpiredTokenException":               {"does not accept the credentials", "they have expired. Renew them"},
	}
	throttled = fault{"is throttled", "use on-demand capacity, or raise the provisioned capacity"}
	misshapen = fault{"has another key schema", "its key must be pk (partition) and sk (sort), both strings. Create the table again, or use another table"}
)

// maxBody is the maximum size of a body in bytes. DynamoDB accepts items of 400 KB, and
// the other attributes must have room for any owner.
const maxBody = 396 << 10

// The SDK's client retries for a second or two. If the table is still throttled, call
// retries for some more seconds: losing the result of a tick costs more than waiting.
const (
	rounds   = 4
	firstGap = 500 * time.Millisecond // the maximum delay before the second round; it doubles with each round
)

// An operation is a method of the SDK's client.
type operation[In, Out any] = func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call calls an operation, and repeats it while the table is throttled. It returns errors
// of the operation as explain does.
func call[In, Out any](ctx context.Context, s *Store, operation operation[In, Out], in *In) (*Out, error) {
	for round := 0; ; round++ {
		out, err := operation(ctx, in)
		if err == nil {
			return out, nil
		}
		if !isThrottle(err) || round+1 == rounds {
			return nil, s.explain(err)
		}
		// A random part of the gap, so that ticks that were throttled together do not
		// retry together.
		if late := backoff.Sleep(ctx, rand.N(s.gap<<round)); late != nil {
			return nil, errors.Join(late, s.explain(err))
		}
	}
}

func isThrottle(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// explain returns the error for an error of an operation: errCondition, a TableError, or
// the cause with the name of the table.
func (s *Store) explain(err error) error {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return fmt.Errorf("table %s: %w", s.table, err)
	}
	is, known := faults[api.ErrorCode()]
	switch {
	case api.ErrorCode() == codeCondition:
		return errCondition
	case isThrottle(err):
		is = throttled
	case api.ErrorCode() == codeValidation && ofSchema(api.ErrorMessage()):
		is = misshapen
	case !known:
		return fmt.Errorf("table %s: %w", s.table, err)
	}
	return fmt.Errorf("table %s %s: %s (%s)", s.table, is.is, is.fix, brief(err))
}

// ofSchema reports whether a ValidationException is about the keys of the table, because
// DynamoDB has no error code for that.
func ofSchema(message string) bool {
	return slices.ContainsFunc([]string{"schema", "key condition", "Type mismatch for key"}, func(said string) bool {
		return strings.Contains(message, said)
	})
}

// brief returns the message of AWS, without the SDK's description of the request.
func brief(err error) string {
	if api, is := errors.AsType[smithy.APIError](err); is {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return err.Error()
}
