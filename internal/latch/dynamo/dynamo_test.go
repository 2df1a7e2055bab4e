//go:build aws

package dynamo_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/latch/latchtest"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// The stand-in enforces conditions and decides races like DynamoDB. The table in memory
// passes the same suite.
func TestStoreOnDynalite(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	latchtest.Run(t, func(t *testing.T) latch.Store { return open(t, client) })
}

func TestStoreOnDynaliteStopsHalfway(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	latchtest.RunHalfway(t, func(t *testing.T, before func() error) latch.Store {
		return dynamo.Hasty(dynamo.Options{Table: table(t, client, "pk", "sk"), Client: watched{client, func(operation string, _ any) error {
			if operation == "UpdateItem" || operation == "DeleteItem" {
				return before()
			}
			return nil
		}}})
	})
}

func open(t testing.TB, client *dynamodb.Client) *dynamo.Store {
	return dynamo.Open(dynamo.Options{Table: table(t, client, "pk", "sk"), Client: client})
}

var tables atomic.Int64

// table creates a table with string keys of the given names, and returns its name.
func table(t testing.TB, client *dynamodb.Client, keys ...string) string {
	t.Helper()
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(fmt.Sprint("gitlatch-", tables.Add(1))),
		BillingMode: types.BillingModePayPerRequest,
	}
	for i, key := range keys {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(key), AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatalf("create table: %v", err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
	if err := waiter.Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: in.TableName}, time.Minute); err != nil {
		t.Fatalf("create table: %v", err)
	}
	return *in.TableName
}

func acquire(t testing.TB, s latch.Store, owner string, now time.Time) latch.Lease {
	t.Helper()
	lease, err := s.Acquire(t.Context(), "prod", owner, now, now.Add(time.Minute))
	if err != nil {
		t.Fatalf("acquire for %s: %v", owner, err)
	}
	return lease
}

// save saves latches, and returns them with their new revisions.
func save(t testing.TB, s latch.Store, lease latch.Lease, head latch.Head, put ...latch.Latch) []latch.Latch {
	t.Helper()
	if err := s.Save(t.Context(), lease, head, put, nil); err != nil {
		t.Fatalf("save: %v", err)
	}
	saved := slices.Clone(put)
	for i := range saved {
		saved[i].Rev++
	}
	return saved
}

func load(t testing.TB, s latch.Store) (latch.Head, map[string]latch.Latch) {
	t.Helper()
	head, latches, err := latch.Load(t.Context(), s, "prod")
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	byName := map[string]latch.Latch{}
	for _, l := range latches {
		byName[l.ID.Name] = l
	}
	return head, byName
}

func web(name string) latch.Latch {
	return latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}}
}
