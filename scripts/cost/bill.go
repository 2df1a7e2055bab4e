package main

import "math"

// A Line is one quantity at one price.
type Line struct {
	What     string
	Quantity float64
	Price    float64 // of one
	Cents    int64   // rounded up, to show small amounts
}

// A Part is a list of lines that belong together.
type Part struct {
	What  string
	Lines []Line // without lines of the quantity 0
}

// Cents is the sum of the lines.
func (p Part) Cents() (sum int64) {
	for _, l := range p.Lines {
		sum += l.Cents
	}
	return sum
}

// A Bill is the monthly cost of one site.
type Bill struct {
	List      List
	Workloads int // of the site
	Ticks     float64
	Site      Part
	// Extra are the costs that a VPC would add, one part for each alternative.
	Extra []Part
}

// A month has the quantities that the lines of a bill are computed from.
type month struct {
	use   map[string]float64
	ticks float64
	asked sums
}

// sums are the priced requests of all ticks of a month.
type sums struct{ reads, writes, publishes, logBytes float64 }

// A charge computes a line of a bill for a month.
type charge struct {
	what, price string
	quantity    func(month) float64
}

var siteCharges = []charge{
	{"Lambda, requests", "lambda_request", func(m month) float64 { return m.ticks }},
	{"Lambda, GB-seconds", "lambda_gb_second", func(m month) float64 { return m.ticks * m.use["lambda_seconds"] * m.use["lambda_memory_mb"] / 1024 }},
	{"Scheduler, invocations", "scheduler_invocation", func(m month) float64 { return m.ticks * m.use["schedules"] }},
	{"SQS, requests", "sqs_request", func(m month) float64 { return m.ticks * m.use["queue_requests_per_tick"] }},
	{"DynamoDB, read units", "dynamodb_read_unit", func(m month) float64 { return m.asked.reads }},
	{"DynamoDB, write units", "dynamodb_write_unit", func(m month) float64 { return m.asked.writes }},
	{"DynamoDB, GB stored", "dynamodb_gb_month", func(m month) float64 { return m.use["state_gb"] }},
	{"DynamoDB, GB restorable", "dynamodb_recovery_gb_month", func(m month) float64 { return m.use["state_gb"] }},
	{"SNS, messages", "sns_publish", func(m month) float64 { return m.asked.publishes }},
	{"Logs, GB", "log_gb", month.logs},
	{"Logs, GB kept", "log_kept_gb_month", func(m month) float64 { return m.logs() * m.use["log_retention_days"] * 24 / m.use["hours"] }},
	{"Metrics", "metric_month", used("metrics")},
	{"Alarms", "alarm_month", used("alarms")},
	{"Dashboards", "dashboard_month", used("dashboards")},
	{"Keys", "key_month", used("keys")},
	{"Keys, requests", "key_request", func(m month) float64 { return m.ticks * m.use["key_requests_per_tick"] }},
	{"Secrets", "secret_month", used("secrets")},
	{"Secrets, reads", "secret_read", func(m month) float64 { return m.use["secrets"] * m.use["cold_starts"] }},
	{"CodeCommit, users", "codecommit_user_month", used("codecommit_users")},
}

var endpointCharges = []charge{
	{"VPC endpoints, hours in all zones", "endpoint_hour", func(m month) float64 { return m.use["endpoints"] * m.use["zones"] * m.use["hours"] }},
	{"VPC endpoints, GB", "endpoint_gb", used("vpc_gb")},
}

var natCharges = []charge{
	{"NAT gateways, hours", "nat_hour", func(m month) float64 { return m.use["nat_gateways"] * m.use["hours"] }},
	{"NAT gateways, GB", "nat_gb", used("vpc_gb")},
	{"IP addresses of NAT gateways, hours", "address_hour", func(m month) float64 { return m.use["nat_gateways"] * m.use["hours"] }},
}

func used(name string) func(month) float64 {
	return func(m month) float64 { return m.use[name] }
}

func (m month) logs() float64 {
	return (m.asked.logBytes + m.ticks*m.use["lambda_log_bytes"]) / (1 << 30)
}

// NewBill computes the cost of a site if each day equals the measured day.
func NewBill(l List, r Requests) Bill {
	m := newMonth(l.Usage, r.Day)
	part := func(what string, charges []charge) Part {
		p := Part{What: what}
		for _, c := range charges {
			if n := c.quantity(m); n > 0 {
				price := l.Prices[c.price]
				p.Lines = append(p.Lines, Line{c.what, n, price, cents(n * price)})
			}
		}
		return p
	}
	return Bill{
		List: l, Workloads: r.Day.Workloads, Ticks: m.ticks,
		Site: part("One site", siteCharges),
		Extra: []Part{
			part("Additional cost of a VPC with endpoints", endpointCharges),
			part("Additional cost of a VPC with a NAT gateway", natCharges),
		},
	}
}

// cents rounds up, except for a rounding error of the multiplication.
func cents(amount float64) int64 { return int64(math.Ceil(amount*100 - 1e-6)) }

// newMonth extrapolates a measured day to a month. The commits and alerts in a day do
// not depend on the number of ticks; the other ticks keep their proportions.
func newMonth(use map[string]float64, day Day) month {
	m := month{use: use, ticks: use["hours"] * 60 / use["period_minutes"]}
	days := use["hours"] / 24
	commits, others := 0, 0
	for kind, n := range day.Ticks {
		if kind.Commits() {
			commits += n
		} else {
			others += n
		}
	}
	committing := min(float64(commits)*days, m.ticks)
	for kind, asked := range day.Asked {
		share := (m.ticks - committing) / float64(others)
		if kind.Commits() {
			share = committing / float64(commits)
		}
		m.asked.reads += share * asked.ReadUnits
		m.asked.writes += share * asked.WriteUnits
		m.asked.logBytes += share * float64(asked.LogBytes)
		m.asked.publishes += days * float64(asked.Of("sns", "Publish"))
	}
	return m
}
