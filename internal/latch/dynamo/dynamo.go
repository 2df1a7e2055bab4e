// Package dynamo keeps state in a DynamoDB table: a [latch.Store] for ticks that
// run anywhere. It needs conditions on single items and consistent reads, no
// transactions.
//
// A table holds many sites, each a partition of its own, so that a role can be
// confined to exactly one: the key pk is "site#<site>" (see [Partition]), and sk
// is "head" for the one item with lease and head, "latch#<ns>/<kind>/<name>" for
// an item a latch.
//
// Lease and head are one item because the condition of a write reaches no other
// item: this way a head is saved only where the lease still stands, which a
// paused holder cannot get around. The price is that taking and giving back the
// lease is charged by the size of the head. A quiet tick writes that item three
// times and no other: take, save, give back. For a site of 300 workloads these
// are nine units; BenchmarkTick counts them.
package dynamo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Client is what a Store asks of DynamoDB: the four operations that its role
// must be allowed. It is an SDK client, which retries.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Options say where state is kept. Both are needed.
type Options struct {
	Table  string // its name or ARN; it has the string keys pk (partition) and sk (sort)
	Client Client
}

// A Store keeps state in a table. It is safe for several goroutines.
type Store struct {
	table  string
	client Client
	gap    time.Duration // the longest before a throttled request's second round
}

// Open returns the Store in a table. It asks nothing of the table yet: that one
// is missing or of another shape is an error of the first use.
func Open(o Options) *Store {
	return &Store{table: o.Table, client: o.Client, gap: firstGap}
}

// Partition returns the value of the partition key of a site's items: what
// dynamodb:LeadingKeys is to be, without a wildcard, for a role that may use
// this site alone.
func Partition(site string) string { return "site#" + site }

// The attributes of an item that are read. On a latch there is also rev, its
// revision. None is a word that DynamoDB reserves, so that expressions spell
// them as they are.
const (
	attrPartition = "pk"
	attrSort      = "sk"

	attrBody  = "body"  // the stored form of the head or the latch; no head before the first save
	attrFence = "fence" // of the lease; on a latch of the lease that it was written under
	attrStamp = "stamp" // another for each save, by which it knows its own

	attrHolder  = "holder"  // of the lease, absent where nobody holds it
	attrExpires = "expires" // of the lease, in RFC 3339
)

// The sort key of a site's one head, and what those of its latches begin with.
const (
	sortHead    = "head"
	sortLatches = "latch#"
)

type item = map[string]types.AttributeValue

func headKey(site string) item {
	return item{attrPartition: text(Partition(site)), attrSort: text(sortHead)}
}

func latchKey(site string, id workload.ID) item {
	return item{attrPartition: text(Partition(site)), attrSort: text(sortLatches + id.String())}
}

// get reads some attributes of one item, nil where there is none.
func (s *Store) get(ctx context.Context, key item, attributes ...string) (item, error) {
	out, err := call(ctx, s, s.client.GetItem, &dynamodb.GetItemInput{
		TableName:            &s.table,
		Key:                  key,
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String(strings.Join(attributes, ", ")),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// update changes one item where the condition holds, with the values that both
// expressions name. Where it does not hold, the error is errCondition.
func (s *Store) update(ctx context.Context, key item, change, condition string, values item) error {
	_, err := call(ctx, s, s.client.UpdateItem, &dynamodb.UpdateItemInput{
		TableName:                 &s.table,
		Key:                       key,
		UpdateExpression:          &change,
		ConditionExpression:       &condition,
		ExpressionAttributeValues: values,
	})
	return err
}
