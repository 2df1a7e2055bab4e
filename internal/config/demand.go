package config

import (
	"net/url"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Demand is where it is measured how much is asked of one workload, from
// outside of it: requests, users, orders. One of Prometheus and CloudWatch is
// set.
type Demand struct {
	Workload   workload.ID
	Prometheus Prometheus
	CloudWatch CloudWatch
}

// Prometheus is an instant query to a server that speaks its HTTP API; without a
// Query it is none.
type Prometheus struct {
	URL   string // without /api/v1/query
	Query string // which gives one number
	Token Secret // a bearer token
}

// CloudWatch is a metric of Amazon CloudWatch; without a Metric it is none.
type CloudWatch struct {
	Region     string // "" is the region that the program runs in
	Namespace  string
	Metric     string
	Dimensions map[string]string
	Statistic  string        // over each Period
	Period     time.Duration // whole minutes
}

// Read returns the token, "" where none is configured.
func (p Prometheus) Read(getenv func(string) string) (token string, err error) {
	return p.Token.read("demand.prometheus.token", getenv)
}

// demandList is the list of a Config's demands.
func demandList(c *Config) list {
	return list{func() object {
		c.Demand = append(c.Demand, new(Demand))
		return demandFields(c.Demand[len(c.Demand)-1])
	}}
}

func demandFields(d *Demand) object {
	return object{
		fields: []field{
			{"workload", "the workload that is asked: namespace/name of a Deployment, or namespace/kind/name", true, workloadName{&d.Workload}},
			{"prometheus", "an instant query to Prometheus, or to what speaks its API", false, prometheusFields(&d.Prometheus)},
			{"cloudwatch", "a metric of Amazon CloudWatch", false, cloudwatchFields(&d.CloudWatch)},
		},
		rules: []rule{choice{[]string{"prometheus", "cloudwatch"}, true}},
	}
}

func prometheusFields(p *Prometheus) object {
	const literal = "must not stand in this file: put the token into an environment variable and its name into tokenEnv, or into a file and its path into tokenFile"
	return object{
		fields: []field{
			{"url", "the server's URL, without /api/v1/query", true, text{into: &p.URL, pattern: `^https?://`, must: "an http or https URL", check: wrongPrometheus}},
			{"query", "a query that gives one number, such as sum(rate(http_requests_total[5m]))", true, text{into: &p.Query}},
			{"tokenEnv", "the environment variable that holds the bearer token", false, variable{&p.Token.Env}},
			{"tokenFile", "the file that holds the bearer token", false, file{&p.Token.File}},
			{"token", "", false, refused(literal)},
		},
		rules: []rule{choice{[]string{"tokenEnv", "tokenFile"}, false}, encrypted{&p.URL}},
	}
}

// statistics are those of CloudWatch that measure how much is asked.
var statistics = []string{"Sum", "Average", "Maximum", "Minimum", "SampleCount"}

func cloudwatchFields(c *CloudWatch) object {
	c.Statistic, c.Period = "Sum", 5*time.Minute
	return object{fields: []field{
		{"namespace", "the metric's namespace, such as AWS/ApplicationELB", true, text{into: &c.Namespace, pattern: `^[^:][ -~]{0,254}$`, must: "a namespace such as AWS/ApplicationELB"}},
		{"metric", "the metric's name, such as RequestCount", true, text{into: &c.Metric, pattern: `^[ -~]{1,255}$`, must: "the name of a metric such as RequestCount"}},
		{"dimensions", "the dimensions by which the metric is kept, all of them", false, pairs{&c.Dimensions, func(s *string) value { return text{into: s} }}},
		{"statistic", "what is made of the values of a period", false, word[string]{&c.Statistic, statistics}},
		{"period", "the time of one value, in whole minutes", false, span{into: &c.Period, least: time.Minute}},
		regionField(&c.Region),
	}, rules: []rule{minutes{&c.Period}}}
}

// wrongPrometheus says what is wrong with a server's URL, which may hold a
// password and so is not shown.
func wrongPrometheus(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Host == "":
		return "must be a whole URL, such as https://prometheus.example.com"
	case u.User != nil:
		return "must not hold a password: name a token in tokenEnv or tokenFile"
	case u.RawQuery != "" || u.Fragment != "":
		return "must not have a query: that goes into query"
	case strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/query"):
		return "must end before /api/v1/query"
	}
	return ""
}

// An encrypted rule keeps a token from being sent in clear.
type encrypted struct{ url *string }

func (e encrypted) check(r *reader, path string) {
	tokens := r.standing(path, []string{"tokenEnv", "tokenFile"})
	if u, err := url.Parse(*e.url); err == nil && u.Scheme == "http" && !loopback(u.Hostname()) && len(tokens) > 0 {
		r.report(child(path, "url"), "must be https: %s would be sent in clear", tokens[0])
	}
}

func (e encrypted) schema() schema { return schema{} }

// A workloadName is the ID of a workload; one without a kind is a Deployment.
type workloadName struct{ into *workload.ID }

const workloadShape = `^[-a-z0-9]+(/[-a-z0-9]+)?/[-a-z0-9.]+$`

func (w workloadName) read(r *reader, path string, n *yaml.Node) {
	const want = "namespace/name of a Deployment, or namespace/kind/name, such as shop/web"
	written := ""
	text{into: &written, pattern: workloadShape, must: want}.read(r, path, n)
	if written == "" {
		return
	}
	if strings.Count(written, "/") == 1 {
		written = strings.Replace(written, "/", "/"+string(workload.Deployment)+"/", 1)
	}
	id, err := workload.ParseID(written)
	if err != nil {
		r.report(path, "must be %s: %s", want, err)
		return
	}
	*w.into = id
}

func (w workloadName) schema() schema { return schema{"type": "string", "pattern": workloadShape} }

// minutes keeps a period to what CloudWatch has.
type minutes struct{ period *time.Duration }

func (m minutes) check(r *reader, path string) {
	if *m.period%time.Minute != 0 {
		r.report(child(path, "period"), "must be whole minutes, got %s", *m.period)
	}
}

func (m minutes) schema() schema { return schema{} }

// checkDemand reports workloads whose demand is measured twice, and those of a kind
// that has no scale.
func checkDemand(r *reader, c Config) {
	first := map[workload.ID]int{}
	for i, d := range c.Demand {
		before, twice := first[d.Workload]
		_, known := c.Cluster.Kinds.Object(d.Workload.Kind)
		switch {
		case d.Workload == workload.ID{}:
		case !d.Workload.Kind.Scales(), !known && !r.failedBelow("cluster.kinds"):
			r.report(index("demand", i)+".workload", "must be a workload that has a scale, got the kind %s", quote(string(d.Workload.Kind)))
		case twice:
			r.report(index("demand", i)+".workload", "must stand once, and demand[%d] has it: add the two up in one query", before)
		default:
			first[d.Workload] = i
		}
	}
}
