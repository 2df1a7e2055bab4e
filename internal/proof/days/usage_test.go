//go:build aws

package days

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/testenv/repomem"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/testdata/traces"
	"github.com/gitlatch/gitlatch/testdata/traces/simulate"
)

var update = flag.Bool("update", false, "write the measured units to testdata/usage/units.json")

// Units are the request units of DynamoDB in one day.
type Units struct{ Read, Write float64 }

// A meter adds up the units that the table charges. A refused write costs as much as the
// same write that succeeds, but DynamoDB does not report it.
type meter struct {
	*dynamodb.Client
	mu   sync.Mutex
	used Units
}

func (m *meter) charge(read, write float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Read += read
	m.used.Write += write
}

func (m *meter) GetItem(ctx context.Context, in *dynamodb.GetItemInput, with ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.GetItem(ctx, in, with...)
	if err == nil {
		m.charge(*out.ConsumedCapacity.CapacityUnits, 0)
	}
	return out, err
}

func (m *meter) Query(ctx context.Context, in *dynamodb.QueryInput, with ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.Query(ctx, in, with...)
	if err == nil {
		m.charge(*out.ConsumedCapacity.CapacityUnits, 0)
	}
	return out, err
}

func (m *meter) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, with ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := m.Client.UpdateItem(ctx, in, with...)
	if err == nil {
		m.charge(0, *out.ConsumedCapacity.CapacityUnits)
	}
	return out, err
}

// The page "Run gitlatch on AWS" states an amount of money for a site of this size. A day
// follows a day in which the latches learn their levels.
func TestTheUnitsOfADayAreAsRecorded(t *testing.T) {
	t.Parallel()
	measured := unitsOfADay(t, dynalite.Start(t), 100)
	file := filepath.Join("..", "..", "..", "testdata", "usage", "units.json")
	if *update {
		text, err := json.Marshal(measured)
		must(t, err)
		must(t, os.WriteFile(file, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(file)
	must(t, err)
	var recorded Units
	must(t, json.Unmarshal(text, &recorded))
	if measured != recorded {
		t.Errorf("a day takes %+v, and %+v is recorded. To accept it, run go test -tags aws -run %s ./internal/proof/days -update, and correct the section Cost of internal/docs/aws.md", measured, recorded, t.Name())
	}
}

func unitsOfADay(t *testing.T, server *dynalite.Server, size int) Units {
	t.Helper()
	m := &meter{Client: server.Client()}
	store := dynamo.Open(dynamo.Options{Table: server.Table(t, "pk", "sk"), Client: m})
	repository := repomem.New(map[string]string{"gitlatch.yaml": latching})
	set, err := config.ParsePolicy("gitlatch.yaml", []byte(latching), period)
	must(t, err)
	fleet := newFleet(size, simulate.Week(traces.Seed, period))
	for look := range 2 * dayLooks {
		if look == dayLooks {
			m.used = Units{}
		}
		now := start.Add(time.Duration(look) * period)
		report, err := (&tick.Tick{
			Site: "prod", Owner: fmt.Sprint("run-", look), Period: period, Lease: period - time.Minute,
			Sampler: seen{fleet, look, now}, Store: store, Repository: repository, Clock: func() time.Time { return now },
			PolicyFile:  "gitlatch.yaml",
			ParsePolicy: func(string, []byte) (policy.Set, error) { return set, nil },
		}).Run(t.Context())
		must(t, errors.Join(err, report.Err()))
	}
	return m.used
}
