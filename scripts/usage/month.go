package main

// A Line is one quantity of a month.
type Line struct {
	What     string
	Quantity float64
}

// A Part is a list of lines that belong together.
type Part struct {
	What  string
	Lines []Line // without lines of the quantity 0
}

// A Month has the quantities of one site. The first part is the site. The others are
// additions of a VPC, one for each alternative.
type Month struct {
	Usage     Usage
	Workloads int // of the site
	Ticks     float64
	Parts     []Part
}

// A month has the values that the lines are computed from.
type month struct {
	use   Usage
	ticks float64
	asked sums
}

// sums are the requests of all ticks of a month.
type sums struct{ reads, writes, publishes, logBytes float64 }

// quantified computes a line for a month.
type quantified struct {
	what     string
	quantity func(month) float64
}

var siteLines = []quantified{
	{"Lambda, requests", func(m month) float64 { return m.ticks }},
	{"Lambda, GB-seconds", func(m month) float64 { return m.ticks * m.use["lambda_seconds"] * m.use["lambda_memory_mb"] / 1024 }},
	{"Scheduler, invocations", func(m month) float64 { return m.ticks * m.use["schedules"] }},
	{"SQS, requests", func(m month) float64 { return m.ticks * m.use["queue_requests_per_tick"] }},
	{"DynamoDB, read units", func(m month) float64 { return m.asked.reads }},
	{"DynamoDB, write units", func(m month) float64 { return m.asked.writes }},
	{"DynamoDB, GB stored", func(m month) float64 { return m.use["state_gb"] }},
	{"DynamoDB, GB restorable", func(m month) float64 { return m.use["state_gb"] }},
	{"SNS, messages", func(m month) float64 { return m.asked.publishes }},
	{"Logs, GB", month.logs},
	{"Logs, GB kept", func(m month) float64 { return m.logs() * m.use["log_retention_days"] * 24 / m.use["hours"] }},
	{"Metrics", used("metrics")},
	{"Alarms", used("alarms")},
	{"Keys", used("keys")},
	{"Keys, requests", func(m month) float64 { return m.ticks * m.use["key_requests_per_tick"] }},
	{"Secrets", used("secrets")},
	{"Secrets, reads", func(m month) float64 { return m.use["secrets"] * m.use["cold_starts"] }},
	{"CodeCommit, users", used("codecommit_users")},
}

var endpointLines = []quantified{
	{"VPC endpoints, hours in all zones", func(m month) float64 { return m.use["endpoints"] * m.use["zones"] * m.use["hours"] }},
	{"VPC endpoints, GB", used("vpc_gb")},
}

var natLines = []quantified{
	{"NAT gateways, hours", func(m month) float64 { return m.use["nat_gateways"] * m.use["hours"] }},
	{"NAT gateways, GB", used("vpc_gb")},
	{"IP addresses of NAT gateways, hours", func(m month) float64 { return m.use["nat_gateways"] * m.use["hours"] }},
}

func used(name string) func(month) float64 {
	return func(m month) float64 { return m.use[name] }
}

func (m month) logs() float64 {
	return (m.asked.logBytes + m.ticks*m.use["lambda_log_bytes"]) / (1 << 30)
}

// NewMonth computes the quantities of a site if each day equals the measured day.
func NewMonth(use Usage, r Requests) Month {
	m := newMonth(use, r.Day)
	part := func(what string, lines []quantified) Part {
		p := Part{What: what}
		for _, l := range lines {
			if n := l.quantity(m); n > 0 {
				p.Lines = append(p.Lines, Line{l.what, n})
			}
		}
		return p
	}
	return Month{Usage: use, Workloads: r.Day.Workloads, Ticks: m.ticks, Parts: []Part{
		part("One site", siteLines),
		part("In addition, in a VPC with endpoints", endpointLines),
		part("In addition, in a VPC with a NAT gateway", natLines),
	}}
}

// newMonth extrapolates a measured day to a month. The commits and alerts in a day do
// not depend on the number of ticks; the other ticks keep their proportions.
func newMonth(use Usage, day Day) month {
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
