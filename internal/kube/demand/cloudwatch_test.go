package demand_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/kube/demand"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var requests = demand.Metric{
	Namespace: "Shop", Name: "requests", Dimensions: map[string]string{"app": "web", "zone": "a"}, Statistic: "Sum",
}

// A reader returns prepared answers of CloudWatch.
type reader struct {
	asked   []*cloudwatch.GetMetricDataInput
	answers []*cloudwatch.GetMetricDataOutput
	err     error
}

func (r *reader) GetMetricData(_ context.Context, in *cloudwatch.GetMetricDataInput, _ ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	copied := *in
	r.asked = append(r.asked, &copied)
	if r.err != nil {
		return nil, r.err
	}
	if len(r.answers) == 0 {
		return &cloudwatch.GetMetricDataOutput{}, nil
	}
	out := r.answers[0]
	r.answers = r.answers[1:]
	return out, nil
}

// The latest completed period counts, because a period that has just started would show
// less demand.
func TestCloudWatchGoesThroughPages(t *testing.T) {
	t.Parallel()
	began := noon.Truncate(5 * time.Minute)
	result := func(id string, values ...float64) types.MetricDataResult {
		r := types.MetricDataResult{Id: aws.String(id), Values: values}
		for i := range values {
			r.Timestamps = append(r.Timestamps, began.Add(-time.Duration(i)*5*time.Minute))
		}
		return r
	}
	r := &reader{answers: []*cloudwatch.GetMetricDataOutput{
		{NextToken: aws.String("more"), MetricDataResults: []types.MetricDataResult{result("q1", 2, 50), result("q9", 1)}},
		{MetricDataResults: []types.MetricDataResult{result("q0", 1, 40, 39)}},
	}}
	none := workload.ID{Namespace: "shop", Kind: workload.StatefulSet, Name: "zero"}
	c := demand.CloudWatch{Client: r, Metrics: map[workload.ID]demand.Metric{web: requests, api: requests, none: requests}}
	found, err := c.Measure(t.Context(), noon)
	if want := (map[workload.ID]float64{api: 40, web: 50}); !maps.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
	if err == nil || err.Error() != "of shop/zero: metric requests has no value. Check its name and dimensions" {
		t.Errorf("error %v", err)
	}
	q := r.asked[0].MetricDataQueries[1].MetricStat
	if *q.Metric.Namespace != "Shop" || *q.Stat != "Sum" || *q.Period != 300 || len(q.Metric.Dimensions) != 2 || *q.Metric.Dimensions[0].Name != "app" || *q.Metric.Dimensions[1].Value != "a" {
		t.Errorf("asked for %+v", q)
	}
	if len(r.asked) != 2 || r.asked[0].NextToken != nil || aws.ToString(r.asked[1].NextToken) != "more" ||
		!r.asked[0].StartTime.Equal(began.Add(-15*time.Minute)) || !r.asked[0].EndTime.Equal(noon) {
		t.Errorf("asked %+v", r.asked)
	}
}

func TestCloudWatchTakesFiveHundredAtOnce(t *testing.T) {
	t.Parallel()
	r, many := &reader{}, map[workload.ID]demand.Metric{}
	for i := range 501 {
		many[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%d", i)}] = requests
	}
	if _, err := (demand.CloudWatch{Client: r, Metrics: many}).Measure(t.Context(), noon); err == nil || len(r.asked) != 2 || len(r.asked[0].MetricDataQueries) != 500 {
		t.Errorf("error %v, %d requests", err, len(r.asked))
	}
}

func TestCloudWatchSaysWhichRightIsMissing(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"AccessDenied":          "Allow cloudwatch:GetMetricData",
		"AccessDeniedException": "Allow cloudwatch:GetMetricData",
		"Throttling":            "Throttling",
	} {
		r := &reader{err: &smithy.GenericAPIError{Code: code}}
		if _, err := (demand.CloudWatch{Client: r, Metrics: map[workload.ID]demand.Metric{web: requests}}).Measure(t.Context(), noon); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", code, err)
		}
	}
}
