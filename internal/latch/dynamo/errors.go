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

// errCondition is a write whose condition did not hold: nothing was written.
var errCondition = errors.New("condition does not hold")

const (
	codeCondition  = "ConditionalCheckFailedException"
	codeValidation = "ValidationException"
)

// A fault is what an error code says about the table, and what to do.
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

// A TableError says that a table cannot be used, and what to do.
type TableError struct {
	Table string
	Code  string // the error code of AWS
	Cause error

	fault fault
}

// Error names the table, what is wrong with it, and what to do.
func (e *TableError) Error() string {
	return fmt.Sprintf("table %s %s: %s (%s)", e.Table, e.fault.is, e.fault.fix, brief(e.Cause))
}

// Unwrap returns the cause.
func (e *TableError) Unwrap() error { return e.Cause }

// maxBody is the size in bytes of the largest body that is kept. DynamoDB takes
// items of 400 KB, and the other attributes must find room for any owner.
const maxBody = 396 << 10

// A TooLargeError says that a value does not fit into an item.
type TooLargeError struct {
	What string // "head of site prod"
	Size int    // in bytes, compressed
}

// Error says what does not fit, and what to do.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("save %s: it has %d bytes, and an item in DynamoDB has at most %d. Split the workloads into several sites, or shorten the policy file", e.What, e.Size, maxBody)
}

// The SDK's client retries by itself, for a second or two. A table that is still
// throttled is given some seconds more: losing what a tick found out costs more
// than waiting.
const (
	rounds   = 4
	firstGap = 500 * time.Millisecond // the longest; it doubles
)

// An operation is a method of the SDK's client.
type operation[In, Out any] = func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

// call calls an operation, again while the table is throttled, and says what its
// errors mean.
func call[In, Out any](ctx context.Context, s *Store, operation operation[In, Out], in *In) (*Out, error) {
	for round := 0; ; round++ {
		out, err := operation(ctx, in)
		if err == nil {
			return out, nil
		}
		if !isThrottle(err) || round+1 == rounds {
			return nil, s.explain(err)
		}
		// Any part of the gap, so that those who were throttled together do not
		// come back together.
		if late := backoff.Sleep(ctx, rand.N(s.gap<<round)); late != nil {
			return nil, errors.Join(late, s.explain(err))
		}
	}
}

func isThrottle(err error) bool {
	return retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == aws.TrueTernary
}

// explain returns what an error of an operation says about the table.
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
	return &TableError{Table: s.table, Code: api.ErrorCode(), Cause: err, fault: is}
}

// ofSchema reports whether a ValidationException is about the keys of the
// table: DynamoDB has no code for that.
func ofSchema(message string) bool {
	return slices.ContainsFunc([]string{"schema", "key condition", "Type mismatch for key"}, func(said string) bool {
		return strings.Contains(message, said)
	})
}

// brief returns what AWS itself said, without the SDK's account of the request.
func brief(err error) string {
	if api, is := errors.AsType[smithy.APIError](err); is {
		return api.ErrorCode() + ": " + api.ErrorMessage()
	}
	return err.Error()
}
