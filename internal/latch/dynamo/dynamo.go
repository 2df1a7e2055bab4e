// Package dynamo stores state in a DynamoDB table: a [latch.Store] for ticks that run
// anywhere. It uses conditions on single items and consistent reads, but no transactions.
//
// A table can contain many sites. Each site is a partition, so that a role can be limited
// to one site. The key pk is "site#<site>" (see [Partition]). The key sk is "head" for
// the item with the lease and the head, and "latch#<ns>/<kind>/<name>" for the item of a
// latch.
//
// The lease and the head are one item because the condition of a write cannot refer to
// another item. So a head is saved only while the lease is valid, even if its owner was
// paused in between. The price is that DynamoDB charges the size of the head for taking
// and releasing the lease. A quiet tick writes only this item, three times: take, save,
// release. internal/proof/days measures the units of a day.
package dynamo

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Client is the part of the DynamoDB API that a Store uses: four operations, which its
// role must allow. The SDK's client implements it, and retries.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

// Options select the table. Table and Client are required.
type Options struct {
	Table  string // its name or ARN; it has the string keys pk (partition) and sk (sort)
	Client Client
	// AtOnce is the maximum number of writes of latches at a time; 0 means 16.
	AtOnce int
}

// A Store stores state in a table. It is safe for concurrent use.
type Store struct {
	table  string
	client Client
	atOnce int
	gap    time.Duration // the maximum delay before the second round of a throttled request
}

// Open returns the Store in a table. It sends no request. If the table is missing or has
// another key schema, the first use returns an error.
func Open(o Options) *Store {
	return &Store{table: o.Table, client: o.Client, atOnce: cmp.Or(o.AtOnce, atOnce), gap: firstGap}
}

// Partition returns the partition key of a site's items. For a role that may use this
// site alone, it is the value of dynamodb:LeadingKeys, without a wildcard.
func Partition(site string) string { return "site#" + site }

// The attributes of an item that gitlatch reads. A latch also has rev, its revision.
// DynamoDB reserves none of these words, so expressions use them without placeholders.
const (
	attrPartition = "pk"
	attrSort      = "sk"

	attrBody  = "body"  // the stored form of the head or the latch; no head before the first save
	attrFence = "fence" // of the lease; in a latch, the fence of the lease that it was written under
	attrStamp = "stamp" // unique for each save, so that a save recognizes its own write

	attrHolder  = "holder"  // of the lease, absent if no tick has it
	attrExpires = "expires" // of the lease, in RFC 3339
)

// The sort key of a site's head, and the prefix of the sort keys of its latches.
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

// get reads some attributes of one item; nil if there is no such item.
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

// update changes one item if the condition is true, with the values that both expressions
// name. If the condition is false, it returns errCondition.
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
