package demand

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// queriesAtMost is CloudWatch's limit of queries per request.
const queriesAtMost = 500

// A Metric is one metric of CloudWatch.
type Metric struct {
	Namespace, Name string
	Dimensions      map[string]string
	Statistic       string // over each period: "Sum"
}

// period is the period of a metric. Basic monitoring of AWS has a value each five minutes,
// and load balancers have more.
const period = 5 * time.Minute

// MetricReader is the part of the SDK's client that this package uses.
type MetricReader interface {
	GetMetricData(context.Context, *cloudwatch.GetMetricDataInput, ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error)
}

// A CloudWatch is the CloudWatch service of one region.
type CloudWatch struct {
	Region  string
	Client  MetricReader
	Metrics map[workload.ID]Metric
}

// Name returns the name with the region.
func (c CloudWatch) Name() string { return "CloudWatch " + c.Region }

// Measure queries all metrics. Each value is of the latest completed period, because a
// period that is not over would show less demand. See Source.
func (c CloudWatch) Measure(ctx context.Context, at time.Time) (map[workload.ID]float64, error) {
	found := map[workload.ID]float64{}
	var missing []error
	for ids := range slices.Chunk(sorted(c.Metrics), queriesAtMost) {
		if err := c.ask(ctx, at, ids, found); err != nil {
			return found, errors.Join(append(missing, err)...)
		}
		for _, id := range ids {
			if _, known := found[id]; !known {
				missing = append(missing, none(id, "metric %s has no value. Check its name and dimensions", c.Metrics[id].Name))
			}
		}
	}
	return found, errors.Join(missing...)
}

// periods is the number of periods that a query covers. Metrics arrive some minutes late.
const periods = 3

// ask queries some metrics and adds their values to found.
func (c CloudWatch) ask(ctx context.Context, at time.Time, ids []workload.ID, found map[workload.ID]float64) error {
	begin := at.Truncate(period).Add(-periods * period)
	in := &cloudwatch.GetMetricDataInput{ScanBy: types.ScanByTimestampDescending, StartTime: aws.Time(begin), EndTime: aws.Time(at)}
	by := map[string]workload.ID{} // by their queries
	for i, id := range ids {
		query := fmt.Sprintf("q%d", i)
		by[query] = id
		in.MetricDataQueries = append(in.MetricDataQueries, c.Metrics[id].query(query))
	}
	for more := true; more; more = aws.ToString(in.NextToken) != "" {
		out, err := c.Client.GetMetricData(ctx, in)
		if err != nil {
			return explain(err)
		}
		for _, result := range out.MetricDataResults {
			if id, asked := by[aws.ToString(result.Id)]; asked {
				latest(found, id, result, at)
			}
		}
		in.NextToken = out.NextToken
	}
	return nil
}

// latest adds the value of the latest completed period to found.
func latest(found map[workload.ID]float64, id workload.ID, r types.MetricDataResult, at time.Time) {
	var of time.Time
	for i, began := range r.Timestamps {
		if i < len(r.Values) && !began.Add(period).After(at) && began.After(of) && r.Values[i] >= 0 {
			of, found[id] = began, r.Values[i]
		}
	}
}

func (m Metric) query(id string) types.MetricDataQuery {
	metric := &types.Metric{Namespace: aws.String(m.Namespace), MetricName: aws.String(m.Name)}
	metric.Dimensions = lists.Map(slices.Sorted(maps.Keys(m.Dimensions)), func(name string) types.Dimension {
		return types.Dimension{Name: aws.String(name), Value: aws.String(m.Dimensions[name])}
	})
	return types.MetricDataQuery{
		Id: aws.String(id),
		MetricStat: &types.MetricStat{
			Metric: metric, Period: aws.Int32(int32(period / time.Second)), Stat: aws.String(m.Statistic),
		},
		ReturnData: aws.Bool(true),
	}
}

// explain adds the missing permission to an error of CloudWatch.
func explain(err error) error {
	said, ok := errors.AsType[smithy.APIError](err)
	if ok && strings.HasPrefix(said.ErrorCode(), "AccessDenied") {
		return fmt.Errorf("the role may not read metrics. Allow cloudwatch:GetMetricData, or deploy the stack with DemandParameter (%w)", err)
	}
	return err
}

// sorted returns the workloads of a map, in the order of workload.Compare.
func sorted[T any](of map[workload.ID]T) []workload.ID {
	return slices.SortedFunc(maps.Keys(of), workload.Compare)
}
