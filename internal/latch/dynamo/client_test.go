package dynamo_test

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
)

// A watched client calls before ahead of each operation. If before returns an error, it
// is the result of the operation.
type watched struct {
	dynamo.Client
	before func(operation string, in any) error
}

func (w watched) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	if err := w.before("GetItem", in); err != nil {
		return nil, err
	}
	return w.Client.GetItem(ctx, in, o...)
}

func (w watched) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if err := w.before("Query", in); err != nil {
		return nil, err
	}
	return w.Client.Query(ctx, in, o...)
}

func (w watched) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if err := w.before("UpdateItem", in); err != nil {
		return nil, err
	}
	return w.Client.UpdateItem(ctx, in, o...)
}

func (w watched) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	if err := w.before("DeleteItem", in); err != nil {
		return nil, err
	}
	return w.Client.DeleteItem(ctx, in, o...)
}

// failing fails each of its requests with an error code the first n times.
func failing(client dynamo.Client, n int, code string) watched {
	var mu sync.Mutex
	failed := map[any]int{}
	return watched{client, func(_ string, in any) error {
		mu.Lock()
		defer mu.Unlock()
		if failed[in] == n {
			return nil
		}
		failed[in]++
		return &smithy.GenericAPIError{Code: code, Message: "as the test has it"}
	}}
}

// sortOf returns the sort key of the item of an operation; "" for a query.
func sortOf(in any) string {
	var key types.AttributeValue
	switch in := in.(type) {
	case *dynamodb.GetItemInput:
		key = in.Key["sk"]
	case *dynamodb.UpdateItemInput:
		key = in.Key["sk"]
	case *dynamodb.DeleteItemInput:
		key = in.Key["sk"]
	default:
		return ""
	}
	return key.(*types.AttributeValueMemberS).Value
}

// A lossy transport loses the first reply to each write request. The write has an effect.
// Then lossy calls after.
type lossy struct {
	mu    sync.Mutex
	lost  map[string]bool // by the request's own id, which is the same in a retry
	after func()
}

func (l *lossy) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	target, id := request.Header.Get("X-Amz-Target"), request.Header.Get("Amz-Sdk-Invocation-Id")
	if target != "DynamoDB_20120810.UpdateItem" && target != "DynamoDB_20120810.DeleteItem" {
		return answer, nil
	}
	l.mu.Lock()
	first := !l.lost[id]
	l.lost[id] = true
	l.mu.Unlock()
	if !first {
		return answer, nil
	}
	answer.Body.Close()
	if l.after != nil {
		l.after()
	}
	return nil, io.ErrUnexpectedEOF
}

// through makes a client use the transport, and retry at once.
func through(l *lossy) func(*dynamodb.Options) {
	l.lost = map[string]bool{}
	return func(o *dynamodb.Options) {
		o.HTTPClient = &http.Client{Transport: l}
		o.Retryer = eager{retry.NewStandard()}
	}
}

// eager retries the same errors as the SDK, and without a delay.
type eager struct{ aws.RetryerV2 }

func (eager) RetryDelay(int, error) (time.Duration, error) { return 0, nil }
