package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Load reads the state of a site, a megabyte a request. See [latch.Store].
func (s *Store) Load(ctx context.Context, site string) (head latch.Head, latches map[workload.ID]latch.Latch, err error) {
	query := &dynamodb.QueryInput{
		TableName: &s.table,
		// Nothing sorts before the head. The sort key is named all the same, so
		// that a table without one is an error, not a site without state.
		KeyConditionExpression:    aws.String("pk = :site AND sk >= :first"),
		ExpressionAttributeValues: item{":site": text(Partition(site)), ":first": text(sortHead)},
		ConsistentRead:            aws.Bool(true),
	}
	latches = map[workload.ID]latch.Latch{}
	for more := true; more; more = len(query.ExclusiveStartKey) > 0 {
		page, err := call(ctx, s, s.client.Query, query)
		if err != nil {
			return latch.Head{}, nil, fmt.Errorf("load site %s: %w", site, err)
		}
		for _, stored := range page.Items {
			body := binaryOf(stored[attrBody])
			switch key := textOf(stored[attrSort]); {
			case key == sortHead && body != nil:
				if head, err = latch.Decode[latch.Head](s.where(stored), body); err != nil {
					return latch.Head{}, nil, err
				}
			case strings.HasPrefix(key, sortLatches):
				l, err := latch.Decode[latch.Latch](s.where(stored), body)
				if err != nil {
					return latch.Head{}, nil, err
				}
				latches[l.ID] = l
			}
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return head, latches, nil
}

// where names an item for a person.
func (s *Store) where(key item) string {
	return fmt.Sprintf("table %s, item %s %s", s.table, textOf(key[attrPartition]), textOf(key[attrSort]))
}
