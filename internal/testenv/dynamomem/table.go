// Package dynamomem is a DynamoDB table in memory, for tests without a server: the part of
// the API that package dynamo uses. It enforces the conditions of writes.
package dynamomem

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
)

// An Item is one item: its attributes by name.
type Item = map[string]types.AttributeValue

// A Table is a table with the string keys pk and sk. The zero value is empty and ready for
// use. It is safe for concurrent use.
type Table struct {
	// Write performs each write. It may fail instead, or act before. Nil performs it.
	Write func(write func() error) error

	mu    sync.Mutex
	items map[string]Item
}

var _ dynamo.Client = (*Table)(nil)

// Items returns all items, in the order of their keys.
func (t *Table) Items() (all []Item) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(t.items)) {
		all = append(all, t.items[key])
	}
	return all
}

func keyOf(key Item) string {
	return key["pk"].(*types.AttributeValueMemberS).Value + " " + key["sk"].(*types.AttributeValueMemberS).Value
}

// GetItem returns all attributes of an item.
func (t *Table) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &dynamodb.GetItemOutput{Item: t.items[keyOf(in.Key)]}, ctx.Err()
}

// Query returns the latches of a site on one page.
func (t *Table) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out := &dynamodb.QueryOutput{}
	prefix := scalar(in.ExpressionAttributeValues[":site"]) + " " + scalar(in.ExpressionAttributeValues[":latches"])
	for _, item := range t.Items() {
		if strings.HasPrefix(keyOf(item), prefix) {
			out.Items = append(out.Items, item)
		}
	}
	return out, ctx.Err()
}

// UpdateItem sets and removes attributes if the condition is true.
func (t *Table) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, t.write(ctx, in.Key, in.ConditionExpression, in.ExpressionAttributeValues, func(is Item) Item {
		for _, set := range assignment.FindAllStringSubmatch(*in.UpdateExpression, -1) {
			is[set[1]] = in.ExpressionAttributeValues[set[2]]
		}
		_, removed, _ := strings.Cut(*in.UpdateExpression, "REMOVE ")
		for name := range strings.SplitSeq(removed, ",") {
			delete(is, strings.TrimSpace(name))
		}
		return is
	})
}

var assignment = regexp.MustCompile(`(\w+) = (:\w+)`)

// DeleteItem deletes an item if the condition is true.
func (t *Table) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, t.write(ctx, in.Key, in.ConditionExpression, in.ExpressionAttributeValues, func(Item) Item { return nil })
}

// write changes one item if the condition is true.
func (t *Table) write(ctx context.Context, key Item, condition *string, values Item, change func(Item) Item) error {
	write := func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		was := t.items[keyOf(key)]
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case condition != nil && !holds(was, *condition, values):
			return &types.ConditionalCheckFailedException{}
		}
		is := maps.Clone(key)
		maps.Copy(is, was)
		if t.items == nil {
			t.items = map[string]Item{}
		}
		t.items[keyOf(key)] = change(is)
		maps.DeleteFunc(t.items, func(_ string, item Item) bool { return item == nil })
		return nil
	}
	if t.Write != nil {
		return t.Write(write)
	}
	return write()
}

// holds evaluates a condition of the forms that the store uses.
func holds(item Item, condition string, values Item) bool {
	for _, either := range strings.Split(condition, " OR ") {
		all := true
		for _, term := range strings.Split(either, " AND ") {
			all = all && holdsTerm(item, term, values)
		}
		if all {
			return true
		}
	}
	return false
}

var term = regexp.MustCompile(`^(?:attribute_not_exists\((\w+)\)|(\w+) (=|<=) (:\w+))$`)

func holdsTerm(item Item, text string, values Item) bool {
	parts := term.FindStringSubmatch(strings.Trim(text, "() "))
	if parts == nil {
		parts = term.FindStringSubmatch(text)
	}
	if parts == nil {
		panic("unknown condition: " + text)
	}
	if parts[1] != "" {
		return item[parts[1]] == nil
	}
	is, want := scalar(item[parts[2]]), scalar(values[parts[4]])
	if item[parts[2]] == nil { // no comparison with an absent attribute is true
		return false
	}
	if parts[3] == "=" {
		return is == want
	}
	a, err := strconv.Atoi(is)
	b, _ := strconv.Atoi(want)
	return err == nil && a <= b
}

func scalar(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberS:
		return v.Value
	}
	return ""
}
