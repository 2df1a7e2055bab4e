//go:build aws

package dynamo_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
)

var throttle = &smithy.GenericAPIError{Code: "ProvisionedThroughputExceededException", Message: "the level of configured provisioned throughput was exceeded"}

// uses are the five methods of a store.
var uses = map[string]func(context.Context, latch.Store) error{
	"acquire": func(ctx context.Context, s latch.Store) error {
		_, err := s.Acquire(ctx, "prod", "a", noon, noon.Add(time.Minute))
		return err
	},
	"head": func(ctx context.Context, s latch.Store) error {
		_, err := s.Head(ctx, "prod")
		return err
	},
	"latches": func(ctx context.Context, s latch.Store) error {
		_, err := s.Latches(ctx, "prod")
		return err
	},
	"save": func(ctx context.Context, s latch.Store) error {
		err := s.Save(ctx, latch.Lease{Site: "prod", Owner: "a", Fence: 1}, latch.Head{}, nil, nil)
		return err
	},
	"release": func(ctx context.Context, s latch.Store) error {
		return s.Release(ctx, latch.Lease{Site: "prod", Owner: "a", Fence: 1})
	},
}

func TestTableThatCannotBeUsedSaysWhatToFix(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	numeric := aws.String("gitlatch-of-numbers")
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: numeric, BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: "N"}, {AttributeName: aws.String("sk"), AttributeType: "S"}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: "HASH"}, {AttributeName: aws.String("sk"), KeyType: "RANGE"}},
	}); err != nil {
		t.Fatal(err)
	}
	answering := func(code, message string) dynamo.Client {
		return watched{nil, func(string, any) error { return &smithy.GenericAPIError{Code: code, Message: message} }}
	}
	for name, c := range map[string]struct {
		table  string
		client dynamo.Client
		says   []string
	}{
		"missing":              {"gitlatch-nowhere", client, []string{"does not exist", "create it", "region"}},
		"without a sort key":   {table(t, client, "pk"), client, []string{"key schema", "pk (partition) and sk (sort)"}},
		"with other keys":      {table(t, client, "id", "range"), client, []string{"key schema", "pk (partition) and sk (sort)"}},
		"with numbers as keys": {*numeric, client, []string{"key schema", "both strings"}},
		"not allowed": {"gitlatch", answering("AccessDeniedException", "User: arn:aws:sts::1:assumed-role/latch/x is not authorized to perform: dynamodb:GetItem"),
			[]string{"denies access", "GetItem, Query, UpdateItem and DeleteItem", "site#<site>", "User: arn:aws:sts::1:assumed-role/latch/x is not authorized"}},
		"credentials expired": {"gitlatch", answering("ExpiredTokenException", "The security token included in the request is expired"), []string{"credentials", "Renew them"}},
		"credentials unknown": {"gitlatch", answering("UnrecognizedClientException", "The security token included in the request is invalid"), []string{"credentials", "account and Region"}},
		"throttled":           {"gitlatch", watched{nil, func(string, any) error { return throttle }}, []string{"is throttled", "on-demand"}},
	} {
		for use, do := range uses {
			t.Run(name+"/"+use, func(t *testing.T) {
				t.Parallel()
				err := do(t.Context(), dynamo.Hasty(dynamo.Options{Table: c.table, Client: c.client}))
				if err == nil {
					t.Fatal("no error")
				}
				for _, say := range append(c.says, "table "+c.table, "site prod") {
					if !strings.Contains(err.Error(), say) {
						t.Errorf("error is %q, which does not say %q", err, say)
					}
				}
				if errors.Is(err, latch.ErrLost) {
					t.Error("nothing was lost")
				}
			})
		}
	}
}

func TestOtherErrorsNameTheTable(t *testing.T) {
	t.Parallel()
	for name, cause := range map[string]error{
		"of AWS":         &smithy.GenericAPIError{Code: "InternalServerError", Message: "internal server error"},
		"of our own":     &smithy.GenericAPIError{Code: "ValidationException", Message: "Invalid UpdateExpression: Syntax error"},
		"of the network": errors.New("connection refused"),
	} {
		for use, do := range uses {
			err := do(t.Context(), dynamo.Hasty(dynamo.Options{Table: "gitlatch", Client: watched{nil, func(string, any) error { return cause }}}))
			if !errors.Is(err, cause) || !strings.Contains(err.Error(), "table gitlatch") {
				t.Errorf("%s, %s: error is %v", name, use, err)
			}
		}
	}
}

// noise returns bytes that do not compress.
func noise(size int) []byte {
	source := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(source.Uint32())
	}
	return b
}

func TestHeadThatFitsNoItemWritesNothing(t *testing.T) {
	t.Parallel()
	s := open(t, dynalite.Start(t).Client())
	lease := acquire(t, s, "a", noon)
	save(t, s, lease, latch.Head{At: noon})
	err := s.Save(t.Context(), lease, latch.Head{Agreed: latch.Agreed{PolicySource: noise(420 << 10)}}, []latch.Latch{web("web")}, nil)
	if err == nil || !strings.Contains(err.Error(), "head of site prod") || !strings.Contains(err.Error(), "several sites") {
		t.Errorf("error is %v", err)
	}
	if head, latches := load(t, s); !head.At.Equal(noon) || len(latches) > 0 {
		t.Errorf("head %+v, latches %v", head, latches)
	}
}

// The largest accepted head fits, and leaves room for a lease with any owner.
func TestLargestHeadFits(t *testing.T) {
	t.Parallel()
	s := open(t, dynalite.Start(t).Client())
	lease := acquire(t, s, "a", noon)
	fits, not := 300<<10, 420<<10
	for not-fits > 512 {
		size := (fits + not) / 2
		switch err := s.Save(t.Context(), lease, latch.Head{Agreed: latch.Agreed{PolicySource: noise(size)}}, nil, nil); {
		case err == nil:
			fits = size
		case strings.Contains(err.Error(), "several sites"):
			not = size
		default:
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
	acquire(t, s, strings.Repeat("b", 2000), noon.Add(time.Hour))
}

// A query returns at most one megabyte.
func TestLatchesAreReadFromEveryPage(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	queries := 0
	s := dynamo.Hasty(dynamo.Options{Table: table(t, client, "pk", "sk"), Client: watched{client, func(operation string, _ any) error {
		if operation == "Query" {
			queries++
		}
		return nil
	}}})
	lease := acquire(t, s, "a", noon)
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		l := web(name)
		l.Freeze.Reason = base64.StdEncoding.EncodeToString(noise(300 << 10))
		save(t, s, lease, latch.Head{At: noon}, l)
	}
	head, latches := load(t, s)
	if queries < 2 || len(latches) != 7 || !head.At.Equal(noon) {
		t.Errorf("%d latches in %d queries; head %+v", len(latches), queries, head)
	}
}

// The partition key of every request confines a role to a site. No stand-in would
// detect an inconsistent read.
func TestEveryRequestIsForThePartitionOfItsSite(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	var seen sync.Map
	name := table(t, client, "pk", "sk")
	s := dynamo.Open(dynamo.Options{Table: name, Client: watched{client, func(operation string, in any) error {
		seen.Store(operation, true)
		var site types.AttributeValue
		consistent := true
		switch in := in.(type) {
		case *dynamodb.GetItemInput:
			site, consistent = in.Key["pk"], aws.ToBool(in.ConsistentRead)
		case *dynamodb.QueryInput:
			site, consistent = in.ExpressionAttributeValues[":site"], aws.ToBool(in.ConsistentRead)
		case *dynamodb.UpdateItemInput:
			site = in.Key["pk"]
		case *dynamodb.DeleteItemInput:
			site = in.Key["pk"]
		}
		if key, ok := site.(*types.AttributeValueMemberS); !ok || key.Value != "site#prod" || key.Value != dynamo.Partition("prod") {
			t.Errorf("%s is for %v", operation, site)
		}
		if !consistent {
			t.Errorf("%s may read what is stale", operation)
		}
		return nil
	}}})
	life(t, s)
	for _, operation := range []string{"GetItem", "Query", "UpdateItem", "DeleteItem"} {
		if _, ok := seen.Load(operation); !ok {
			t.Errorf("%s was not used", operation)
		}
	}
	var keys []string
	for _, stored := range scan(t, client, name) {
		keys = append(keys, stored["pk"].(*types.AttributeValueMemberS).Value+" "+stored["sk"].(*types.AttributeValueMemberS).Value)
	}
	if got := strings.Join(keys, ", "); got != "site#prod head, site#prod latch#shop/deployment/web" {
		t.Errorf("items are %s", got)
	}
}

func scan(t *testing.T, client *dynamodb.Client, name string) []map[string]types.AttributeValue {
	t.Helper()
	out, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	if err != nil || len(out.LastEvaluatedKey) > 0 {
		t.Fatalf("scan: error %v, more %v", err, out.LastEvaluatedKey)
	}
	return out.Items
}

// A restore to a point in time returns the table to an earlier state. A holder that got
// a lease after that point cannot continue with it as if it were the next lease.
func TestRestoredTableGivesOutNoFenceAgain(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	name := table(t, client, "pk", "sk")
	s := dynamo.Hasty(dynamo.Options{Table: name, Client: client})
	first := acquire(t, s, "a", noon)
	save(t, s, first, latch.Head{At: noon}, web("web"))
	if err := s.Release(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	backup := scan(t, client, name)

	// The owner is the same before and after, so only the fence differs.
	old := acquire(t, s, "b", noon.Add(time.Minute))
	_, latches := load(t, s)
	moved := save(t, s, old, latch.Head{At: old.Until}, latches["web"], web("new"))

	for _, stored := range scan(t, client, name) {
		if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &name, Key: map[string]types.AttributeValue{"pk": stored["pk"], "sk": stored["sk"]}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, stored := range backup {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: stored}); err != nil {
			t.Fatal(err)
		}
	}

	refused := func(when string) {
		t.Helper()
		if err := s.Save(t.Context(), old, latch.Head{}, nil, nil); !errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: save of a head: error is %v, want ErrLost", when, err)
		}
		if err := s.Save(t.Context(), old, latch.Head{}, moved, nil); !errors.Is(err, latch.ErrLost) {
			t.Errorf("%s: save of latches: error is %v, want ErrLost", when, err)
		}
		if err := s.Release(t.Context(), old); err != nil {
			t.Error(err)
		}
	}
	refused("after the restore")
	next := acquire(t, s, "b", noon.Add(2*time.Minute))
	if next.Fence <= old.Fence {
		t.Errorf("fence %d after %d", next.Fence, old.Fence)
	}
	_, latches = load(t, s)
	saved := save(t, s, next, latch.Head{At: next.Until}, latches["web"])
	refused("after another got the lease")
	if head, latches := load(t, s); !head.At.Equal(next.Until) || len(latches) != 1 || latches["web"].Rev != saved[0].Rev {
		t.Errorf("head %+v, latches %+v", head, latches)
	}
	if _, err := s.Acquire(t.Context(), "prod", "c", noon.Add(2*time.Minute), next.Until); !errors.As(err, new(*latch.HeldError)) {
		t.Errorf("the old holder gave back what is another's: %v", err)
	}
}

func TestItemThatCannotBeReadIsCorrupt(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	text := func(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
	body := func(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }
	fence := &types.AttributeValueMemberN{Value: "1"}
	for name, c := range map[string]struct {
		item  map[string]types.AttributeValue
		use   string
		newer bool
	}{
		"head of nonsense":       {map[string]types.AttributeValue{"sk": text("head"), "body": body("\x1f\x8b\x00")}, "head", false},
		"head as a text":         {map[string]types.AttributeValue{"sk": text("head"), "body": text("web")}, "head", false},
		"head of a newer format": {map[string]types.AttributeValue{"sk": text("head"), "body": body(`{"format":2,"state":{"x":1}}`)}, "head", true},
		"latch without a body":   {map[string]types.AttributeValue{"sk": text("latch#shop/deployment/web"), "fence": fence}, "latches", false},
		"latch as a text":        {map[string]types.AttributeValue{"sk": text("latch#shop/deployment/web"), "body": text("web")}, "latches", false},
		"latch with more fields": {map[string]types.AttributeValue{"sk": text("latch#shop/deployment/web"), "body": body(`{"format":1,"state":{"id":"shop/deployment/web","colour":"blue"}}`)}, "latches", false},
		"lease without an end":   {map[string]types.AttributeValue{"sk": text("head"), "holder": text("b"), "fence": fence}, "acquire", false},
		"lease of nonsense":      {map[string]types.AttributeValue{"sk": text("head"), "holder": text("b"), "fence": fence, "expires": text("soon")}, "acquire", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			into := table(t, client, "pk", "sk")
			c.item["pk"] = text("site#prod")
			if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &into, Item: c.item}); err != nil {
				t.Fatal(err)
			}
			err := uses[c.use](t.Context(), dynamo.Hasty(dynamo.Options{Table: into, Client: client}))
			if c.newer != strings.Contains(fmt.Sprint(err), "Update gitlatch") || c.newer == errors.As(err, new(*latch.CorruptError)) {
				t.Errorf("error is %v", err)
			}
			if sort := c.item["sk"].(*types.AttributeValueMemberS).Value; err != nil && !strings.Contains(err.Error(), "table "+into+", item site#prod "+sort) {
				t.Errorf("error is %q, which does not name the item", err)
			}
		})
	}
}
