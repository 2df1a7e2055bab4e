package dynalite

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

var tables atomic.Int64

// Table makes a table that is paid by request, with string keys of the given
// names: the partition's, then the sort key's. It returns the table's name,
// which no other has.
func (s *Server) Table(t testing.TB, keys ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	in := &dynamodb.CreateTableInput{
		TableName:   aws.String(fmt.Sprint("table-", tables.Add(1))),
		BillingMode: types.BillingModePayPerRequest,
	}
	for i, key := range keys {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(key), AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}
	client := s.Client()
	if _, err := client.CreateTable(ctx, in); err != nil {
		t.Fatalf("create table: %v", err)
	}
	waiter := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 10 * time.Millisecond })
	if err := waiter.Wait(ctx, &dynamodb.DescribeTableInput{TableName: in.TableName}, time.Minute); err != nil {
		t.Fatalf("create table: %v", err)
	}
	return *in.TableName
}
