package dynamo_test

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/workload"
)

type attributes = map[string]types.AttributeValue

// memory is a table in memory that enforces the conditions of updates and deletions, so
// that make test-short checks them. before is called once, before the next write.
type memory struct {
	dynamo.Client
	items  map[string]attributes
	before func()
}

func keyOf(key attributes) string {
	return key["pk"].(*types.AttributeValueMemberS).Value + " " + key["sk"].(*types.AttributeValueMemberS).Value
}

func (m *memory) GetItem(_ context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{Item: m.items[keyOf(in.Key)]}, nil
}

func (m *memory) UpdateItem(_ context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	m.precede()
	was := m.items[keyOf(in.Key)]
	if in.ConditionExpression != nil && !holds(was, *in.ConditionExpression, in.ExpressionAttributeValues) {
		return nil, &types.ConditionalCheckFailedException{}
	}
	is := maps.Clone(was)
	if is == nil {
		is = maps.Clone(in.Key)
	}
	for _, set := range regexp.MustCompile(`(\w+) = (:\w+)`).FindAllStringSubmatch(*in.UpdateExpression, -1) {
		is[set[1]] = in.ExpressionAttributeValues[set[2]]
	}
	if _, removed, has := strings.Cut(*in.UpdateExpression, "REMOVE "); has {
		for _, name := range strings.Split(removed, ",") {
			delete(is, strings.TrimSpace(name))
		}
	}
	m.items[keyOf(in.Key)] = is
	return &dynamodb.UpdateItemOutput{}, nil
}

func (m *memory) DeleteItem(_ context.Context, in *dynamodb.DeleteItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	m.precede()
	if in.ConditionExpression != nil && !holds(m.items[keyOf(in.Key)], *in.ConditionExpression, in.ExpressionAttributeValues) {
		return nil, &types.ConditionalCheckFailedException{}
	}
	delete(m.items, keyOf(in.Key))
	return &dynamodb.DeleteItemOutput{}, nil
}

// precede calls before, once.
func (m *memory) precede() {
	if before := m.before; before != nil {
		m.before = nil
		before()
	}
}

// holds evaluates a condition of the forms that the store uses.
func holds(item attributes, condition string, values attributes) bool {
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

func holdsTerm(item attributes, text string, values attributes) bool {
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

// A tick that lost its lease during a save does not delete or overwrite a latch that the
// next owner of the lease wrote. The next owner deleted the latch and wrote it again, so
// that its revision is the one that the first tick read.
func TestWritesYieldToALaterFence(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	latched := latch.Latch{ID: workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: "web"}}
	id, read := latched.ID, latched
	read.Rev = 1
	theirs := latched
	theirs.GraceUntil = now
	for name, late := range map[string]struct {
		put  []latch.Latch
		drop []workload.ID
	}{
		"deletion": {drop: []workload.ID{id}},
		"write":    {put: []latch.Latch{read}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table := &memory{items: map[string]attributes{}}
			store := dynamo.Open(dynamo.Options{Table: "t", Client: table})
			do := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			first, err := store.Acquire(t.Context(), "prod", "first", now, now.Add(time.Minute))
			do(err)
			do(store.Save(t.Context(), first, latch.Head{}, []latch.Latch{latched}, nil))
			var written attributes
			table.before = func() {
				later := now.Add(2 * time.Minute)
				second, err := store.Acquire(t.Context(), "prod", "second", later, later.Add(time.Minute))
				do(err)
				do(store.Save(t.Context(), second, latch.Head{}, nil, []workload.ID{id}))
				do(store.Save(t.Context(), second, latch.Head{}, []latch.Latch{theirs}, nil))
				written = table.latch()
			}
			if err := store.Save(t.Context(), first, latch.Head{}, late.put, late.drop); !errors.Is(err, latch.ErrLost) {
				t.Errorf("it returns %v, and not that the lease is lost", err)
			}
			if is := table.latch(); is == nil || !maps.Equal(is, written) {
				t.Errorf("the latch of the second tick is %v, and was %v", is, written)
			}
		})
	}
}

// latch returns the only item that has a revision; nil if no item has one.
func (m *memory) latch() attributes {
	for _, item := range m.items {
		if item["rev"] != nil {
			return item
		}
	}
	return nil
}
