package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// A Demand is the source of a measurement of the demand on one workload from outside:
// requests, users, orders. One of Prometheus and CloudWatch is set.
type Demand struct {
	Workload   workload.ID
	Prometheus Prometheus
	CloudWatch CloudWatch
}

// Prometheus is an instant query to a server with the HTTP API of Prometheus. It is not
// set if Query is empty.
type Prometheus struct {
	URL   string // without /api/v1/query
	Query string // with one number as its result
	Token Secret // a bearer token
}

// CloudWatch is a metric of Amazon CloudWatch. It is not set if Metric is empty.
type CloudWatch struct {
	Region     string // "" is the region in which the program runs
	Namespace  string
	Metric     string
	Dimensions map[string]string
	Statistic  string // over five minutes
}

func demandFields(d *Demand) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("workload", "workload whose demand gitlatch measures; use the form namespace/name for a Deployment, and namespace/kind/name for any other kind", workloadName(&d.Workload)),
		yamldoc.Optional("prometheus", "Prometheus instant query that measures the demand; you can use any server that supports the Prometheus query API", prometheusFields(&d.Prometheus)),
		yamldoc.Optional("cloudwatch", "Amazon CloudWatch metric that measures the demand", cloudwatchFields(&d.CloudWatch)),
	).With(yamldoc.OneOf("prometheus", "cloudwatch"))
}

func prometheusFields(p *Prometheus) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("url", "base URL of the Prometheus server, without the path /api/v1/query", yamldoc.Into(&p.URL, yamldoc.Text(`^https?://`, "an http or https URL"), wrongPrometheus)),
		yamldoc.Required("query", "PromQL query that returns one number, such as sum(rate(http_requests_total[5m]))", yamldoc.Into(&p.Query, anyText)),
		yamldoc.Optional("token", "location of the bearer token for Prometheus"+secretForms, secret(&p.Token)),
	).With(yamldoc.Rule{Check: p.encrypted})
}

// statistics are the CloudWatch statistics that can measure demand.
var statistics = []string{"Sum", "Average", "Maximum", "Minimum", "SampleCount"}

func cloudwatchFields(c *CloudWatch) yamldoc.Object {
	c.Statistic = "Sum"
	return yamldoc.Fields(
		yamldoc.Required("namespace", "namespace of the CloudWatch metric, such as AWS/ApplicationELB", yamldoc.Into(&c.Namespace, yamldoc.Text(`^[^:][ -~]{0,254}$`, "a namespace such as AWS/ApplicationELB"))),
		yamldoc.Required("metric", "name of the CloudWatch metric, such as RequestCount", yamldoc.Into(&c.Metric, yamldoc.Text(`^[ -~]{1,255}$`, "the name of a metric such as RequestCount"))),
		yamldoc.Optional("dimensions", "names and values of all dimensions of the CloudWatch metric", pairs(&c.Dimensions, anyText)),
		yamldoc.Optional("statistic", "statistic that CloudWatch computes for the metric over five minutes", yamldoc.Into(&c.Statistic, yamldoc.Word(statistics...))),
		regionField(&c.Region, "CloudWatch metric"),
	)
}

// wrongPrometheus returns an error if s is not the URL of a server. The error does not
// show the URL, which may contain a password.
func wrongPrometheus(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		return errors.New("must be a complete URL, such as https://prometheus.example.com")
	case u.User != nil:
		return errors.New("must not contain a password. Set token")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("must not have a query. Use the field query")
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/query"):
		return errors.New("must end before /api/v1/query")
	}
	return nil
}

// encrypted reports a token that would be sent without encryption.
func (p *Prometheus) encrypted(r *yamldoc.Reader, path string) {
	hasToken := r.Line(yamldoc.Child(path, "token")) > 0
	if u, err := url.Parse(p.URL); err == nil && u.Scheme == "http" && !repo.Loopback(u.Hostname()) && hasToken {
		r.Report(yamldoc.Child(path, "url"), "must be https, because token would be sent unencrypted")
	}
}

var workloadForm = yamldoc.Text(`^[-a-z0-9]+(/[-a-z0-9]+)?/[-a-z0-9.]+$`, "namespace/name of a Deployment, or namespace/kind/name, such as shop/web")

// workloadName binds the ID of a workload. Without a kind, it is a Deployment.
func workloadName(into *workload.ID) yamldoc.Scalar {
	return yamldoc.Parsed(into, workloadForm, "", func(text string) (workload.ID, error) {
		if namespace, name, _ := strings.Cut(text, "/"); !strings.Contains(name, "/") {
			text = workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: name}.String()
		}
		id, err := workload.ParseID(text)
		if err != nil {
			err = fmt.Errorf("must be %s: %w", workloadForm.Must, err)
		}
		return id, err
	})
}

// measurable reports workloads with two sources of demand, and workloads whose kind has
// no scale.
func (c *Config) measurable(r *yamldoc.Reader, _ string) {
	measured := firsts{}
	for i, d := range c.Demand {
		at := yamldoc.Index("demand", i) + ".workload"
		switch before, twice := measured.before(i, d.Workload); {
		case d.Workload == workload.ID{}:
		case !d.Workload.Kind.Scales():
			r.Report(at, "must be a workload that has a scale, got the kind %s", yamldoc.Quote(string(d.Workload.Kind)))
		case twice:
			r.Report(at, "must be unique, and demand[%d] has it. Add the two up in one query", before)
		}
	}
}
