//go:build aws

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

var update = flag.Bool("update", false, "write what was measured to testdata/usage/requests.json")

// TestRequestsAreAsMeasured runs real ticks against stand-ins of all services, and
// compares their requests with the stored numbers.
func TestRequestsAreAsMeasured(t *testing.T) {
	t.Parallel()
	s := newStands(t)
	measured := Requests{Workloads: fleetSize}
	var overAPI map[Kind]Asked
	t.Run("ticks", func(t *testing.T) { // ends when all subtests have ended
		t.Run("of a fleet on a git server", func(t *testing.T) {
			t.Parallel()
			measured.Kinds = fleetKinds(measure(t, s, "fleet-git", onGit, fleet()))
		})
		t.Run("of a fleet on CodeCommit", func(t *testing.T) {
			t.Parallel()
			overAPI = fleetKinds(measure(t, s, "fleet-codecommit", onCodeCommit, fleet()))
		})
		t.Run("of the recorded day", func(t *testing.T) {
			t.Parallel()
			measured.Day = recordedDay(t, s)
		})
	})
	if t.Failed() {
		return
	}
	for kind, asked := range overAPI {
		measured.Kinds[kind].Calls["codecommit"] = asked.Calls["codecommit"]
	}
	if *update {
		text, err := json.MarshalIndent(measured, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(requestsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := ReadRequests(requestsFile)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "a tick", measured.Kinds, stored.Kinds)
	compare(t, "the day's ticks", measured.Day.Asked, stored.Day.Asked)
	measured.Kinds, stored.Kinds, measured.Day.Asked, stored.Day.Asked = nil, nil, nil, nil
	if !reflect.DeepEqual(measured, stored) {
		t.Errorf("measured %+v\nstored   %+v", measured, stored)
	}
	if t.Failed() {
		t.Logf("if that is as it should be: go test ./scripts/usage -run %s -update && make usage, whose first table belongs into internal/docs/aws.md", t.Name())
	}
}

func compare(t *testing.T, what string, measured, stored map[Kind]Asked) {
	t.Helper()
	for _, kind := range []Kind{Cold, Quiet, Timers, Crossing, Crossings} {
		if got, want := measured[kind], stored[kind]; !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %s:\nmeasured %+v\nstored   %+v", what, kind, got, want)
		}
	}
}

const (
	fleetSize = 100
	steady    = 87 // rounds to the level 100
	raised    = 180
	lowered   = 44 // more than half of steady, because less is a mass drop
)

// The ticks at which the workloads change.
const (
	looksQuiet = 3
	raisesOne  = 5
	raisesMany = 8
	lowersMany = 11
	beginsCold = 13
	fleetEnds  = 14
)

// fleet is a trace of 100 workloads. At first they do not change. Then one workload
// rises, then 20, and then 60 start to wait for a lower level.
func fleet() *traces.Trace {
	t := &traces.Trace{Start: time.Date(2026, 3, 2, 20, 0, 0, 0, time.UTC), Length: fleetEnds * period}
	for i := range fleetSize {
		t.Workloads = append(t.Workloads, traces.Workload{
			ID:    workload.ID{Namespace: fmt.Sprintf("team-%d", i/10), Kind: workload.Deployment, Name: fmt.Sprintf("app-%d", i%10)},
			Story: "steady", Driver: workload.DrivenByHPA, Min: 2, Max: 1000, Target: 0.7, Manifest: 2,
		})
		changes := []traces.Change{{At: 0, State: pods(steady)}}
		then := func(tick int, n int32) {
			changes = append(changes, traces.Change{At: time.Duration(tick) * period, State: pods(n)})
		}
		switch {
		case i == 0:
			then(raisesOne, raised)
		case i <= 20:
			then(raisesMany, raised)
		case i <= 80:
			then(lowersMany, lowered)
		}
		t.Changes = append(t.Changes, changes)
	}
	return t
}

func pods(n int32) traces.State {
	return traces.State{Desired: n, Ready: n, Updated: n, Revision: 1}
}

// fleetKinds runs ticks over the fleet, and returns the requests of a tick of each
// kind.
func fleetKinds(m *measured) map[Kind]Asked {
	m.t.Helper()
	kinds := map[Kind]Asked{}
	keep := map[int]struct {
		as, is  Kind
		latches int
	}{
		looksQuiet:     {Quiet, Quiet, 0},
		raisesOne + 1:  {Crossing, Crossing, 1},
		raisesMany + 1: {Crossings, Crossings, 20},
		lowersMany:     {Timers, Timers, 60},
		beginsCold:     {Cold, Quiet, 0},
	}
	for i := range fleetEnds {
		if i == beginsCold {
			m.parts = m.open()
		}
		kind, asked := m.tick(time.Duration(i) * period)
		if k, ok := keep[i]; ok {
			if kind != k.is || asked.Latches != k.latches {
				m.t.Errorf("tick %d is %s with %d latches, want %s with %d", i, kind, asked.Latches, k.is, k.latches)
			}
			kinds[k.as] = asked
		}
	}
	return kinds
}

// recordedDay runs ticks for the day that the demo replays, after its warm-up. Each hour
// of the day gets a new environment, because Lambda environments do not live forever. It
// also gets a new sampler: one sampler sends at most 50 requests in a second of real time.
func recordedDay(t *testing.T, s *stands) Day {
	trace, err := traces.Day()
	if err != nil {
		t.Fatal(err)
	}
	m := measure(t, s, "day", onGit, trace)
	d := Day{Workloads: len(trace.Workloads), Ticks: map[Kind]int{}, Asked: map[Kind]Asked{}}
	for at := time.Duration(0); at < trace.Length; at += period {
		if at%time.Hour == 0 {
			m.parts = m.open()
		}
		kind, asked := m.tick(at)
		if at < trace.WarmUp {
			continue
		}
		d.Ticks[kind]++
		sum := d.Asked[kind]
		sum.add(asked)
		d.Asked[kind] = sum
	}
	return d
}

// The meter's capacity units of the stand-in equal DynamoDB's. They count the full
// item, rounded up to 1 KB for a write and to 4 KB for a read. A write counts the
// larger of the old and the new item.
func TestUnitsAreByTheWholeItem(t *testing.T) {
	t.Parallel()
	server := dynalite.Start(t)
	table := server.Table(t, "pk", "sk")
	m := &meter{}
	client := dynamodb.NewFromConfig(m.wrap(aws.Config{
		BaseEndpoint: &server.URL, Region: "eu-west-1", Credentials: credentials.NewStaticCredentialsProvider("AKIDEXAMPLE", "example", ""),
	}))
	key := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "site#a"}, "sk": &types.AttributeValueMemberS{Value: "head"}}
	for _, size := range []struct{ bytes, writes, reads int }{
		{100, 1, 1}, {1500, 2, 1}, {100, 2, 1}, {5000, 5, 2}, {9000, 9, 3},
	} {
		if _, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
			TableName: &table, Key: key, UpdateExpression: aws.String("SET body = :body"),
			ExpressionAttributeValues: map[string]types.AttributeValue{":body": &types.AttributeValueMemberB{Value: make([]byte, size.bytes)}},
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{
			TableName: &table, Key: key, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("sk"),
		}); err != nil {
			t.Fatal(err)
		}
		if asked := m.take(); asked.WriteUnits != float64(size.writes) || asked.ReadUnits != float64(size.reads) || asked.All("dynamodb") != 2 || asked.Latches != 0 {
			t.Errorf("%d bytes: %+v, want %d units written and %d read", size.bytes, asked, size.writes, size.reads)
		}
	}
}
