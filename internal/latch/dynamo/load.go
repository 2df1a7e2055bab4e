package dynamo

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Head reads the head of a site. See [latch.Store].
func (s *Store) Head(ctx context.Context, site string) (head latch.Head, err error) {
	stored, err := s.get(ctx, headKey(site), attrBody)
	if err != nil {
		return head, fmt.Errorf("load head of site %s: %w", site, err)
	}
	if stored[attrBody] == nil {
		return head, nil
	}
	return latch.Decode[latch.Head](s.where(headKey(site)), binaryOf(stored[attrBody]))
}

// Latches reads the latches of a site, one megabyte per request. See [latch.Store].
func (s *Store) Latches(ctx context.Context, site string) (map[workload.ID]latch.Latch, error) {
	query := &dynamodb.QueryInput{
		TableName: &s.table,
		// The condition names the sort key, so that a table without one is an error
		// instead of a site without latches.
		KeyConditionExpression:    aws.String("pk = :site AND begins_with(sk, :latches)"),
		ExpressionAttributeValues: item{":site": text(Partition(site)), ":latches": text(sortLatches)},
		ConsistentRead:            aws.Bool(true),
	}
	latches := map[workload.ID]latch.Latch{}
	for more := true; more; more = len(query.ExclusiveStartKey) > 0 {
		page, err := call(ctx, s, s.client.Query, query)
		if err != nil {
			return nil, fmt.Errorf("load latches of site %s: %w", site, err)
		}
		for _, stored := range page.Items {
			l, err := latch.Decode[latch.Latch](s.where(stored), binaryOf(stored[attrBody]))
			if err != nil {
				return nil, err
			}
			latches[l.ID] = l
		}
		query.ExclusiveStartKey = page.LastEvaluatedKey
	}
	return latches, nil
}

// where names an item for a user.
func (s *Store) where(key item) string {
	return fmt.Sprintf("table %s, item %s %s", s.table, textOf(key[attrPartition]), textOf(key[attrSort]))
}
