//go:build aws

package dynamo_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
)

// BenchmarkTick measures the requests and capacity units of a tick's calls to the table,
// for a site of 300 workloads. It also prints both as ratios to the tick's changes.
func BenchmarkTick(b *testing.B) {
	const workloads = 300
	for name, crossings := range map[string]int{"quiet": 0, "crossing": 10} {
		b.Run(name, func(b *testing.B) {
			m := &meter{Client: dynalite.Start(b).Client()}
			s := dynamo.Open(dynamo.Options{Table: table(b, m.Client.(*dynamodb.Client), "pk", "sk"), Client: m})
			head := latch.Head{At: noon}
			var latches []latch.Latch
			for i := range int32(workloads) {
				l := web(fmt.Sprint("web-", i))
				l.Declared = checkpoint.Entry{Replicas: i, Min: 1, Max: 1000}
				latches = append(latches, l)
			}
			lease := acquire(b, s, "first", noon)
			latches = save(b, s, lease, head, latches...)
			if err := s.Release(b.Context(), lease); err != nil {
				b.Fatal(err)
			}

			*m = meter{Client: m.Client}
			now := noon
			for b.Loop() {
				now = now.Add(5 * time.Minute)
				lease := acquire(b, s, "tick", now)
				load(b, s)
				head.At = now
				if crossings > 0 {
					save(b, s, lease, head) // with the intent
					acquire(b, s, "tick", now)
				}
				copy(latches, save(b, s, lease, head, latches[:crossings]...))
				if err := s.Release(b.Context(), lease); err != nil {
					b.Fatal(err)
				}
			}
			ticks := float64(b.N)
			b.ReportMetric(float64(m.writes)/ticks, "writes/tick")
			b.ReportMetric(float64(m.reads)/ticks, "reads/tick")
			b.ReportMetric(m.headUnits/float64(m.heads), "units/head")
			b.ReportMetric(float64(m.heads)/ticks, "heads/tick")
			b.ReportMetric(float64(m.bytes)/ticks/float64(max(m.largest, 1)), "bytes/head-byte")
			if crossings > 0 {
				b.ReportMetric(m.latchUnits/ticks/float64(crossings), "units/crossing")
			}
		})
	}
}

// A meter adds up the calls to the table.
type meter struct {
	dynamo.Client
	mu sync.Mutex

	writes, reads, heads  int
	bytes, largest        int // of bodies sent
	headUnits, latchUnits float64
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	m.mu.Lock()
	m.reads++
	m.mu.Unlock()
	return m.Client.GetItem(ctx, in, o...)
}

func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	m.mu.Lock()
	m.reads++
	m.mu.Unlock()
	return m.Client.Query(ctx, in, o...)
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.UpdateItem(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	units := aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
	if body, ok := in.ExpressionAttributeValues[":body"].(*types.AttributeValueMemberB); ok {
		m.bytes += len(body.Value)
		m.largest = max(m.largest, len(body.Value))
	}
	if sortOf(in) == "head" {
		m.heads++
		m.headUnits += units
	} else {
		m.latchUnits += units
	}
	return out, nil
}
