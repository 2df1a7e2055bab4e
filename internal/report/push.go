package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/tick"
)

const (
	// answersWithin is the longest time to wait for an answer of the Pushgateway.
	answersWithin = 10 * time.Second
	// largestAnswer is the largest answer of the Pushgateway that is read, in bytes.
	largestAnswer = 64 << 20

	// The jobs in the Pushgateway. A push replaces all metrics of its job and site, so a
	// metric that is unknown now does not keep its previous value.
	tickJob  = "gitlatch"
	drillJob = "gitlatch-drill"
)

// A Pushgateway is the URL of a Prometheus Pushgateway. Prometheus reads there the metrics
// of programs that end before a scrape.
// It is the value of a flag. "" is no Pushgateway.
type Pushgateway string

// Set sets the URL.
func (g *Pushgateway) Set(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errors.New("must be the URL of a Pushgateway, such as http://pushgateway:9091")
	}
	*g = Pushgateway(text)
	return nil
}

// String returns the URL.
func (g *Pushgateway) String() string { return string(*g) }

// Type returns the name of the type for the help.
func (g *Pushgateway) Type() string { return "URL" }

// Push replaces the metrics of the site's last tick.
//
// Gauges have the state at the last tick. Counters continue from the values in the
// Pushgateway, because Prometheus can read a tick several times or miss it. If the
// Pushgateway has no value, they start at 0. The heartbeat is the time of the last
// completed tick. A constant 1 would hide that ticks have stopped.
func (g Pushgateway) Push(ctx context.Context, r tick.Report, now time.Time) error {
	return g.push(ctx, tickJob, r.Site, func(t *text) { t.tick(r, now) })
}

// PushDrill replaces the metrics of the site's last drill. It omits unknown values.
func (g Pushgateway) PushDrill(ctx context.Context, d drill.Document, now time.Time) error {
	return g.push(ctx, drillJob, d.Site, func(t *text) { pull(t, DrillMetrics(), d, now) })
}

// push replaces the metrics of a job and a site. write writes the new metrics.
func (g Pushgateway) push(ctx context.Context, job, site string, write func(*text)) error {
	before, err := g.request(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return fmt.Errorf("read the counters from the Pushgateway: %w", err)
	}
	t := &text{job: job, site: site, before: string(before)}
	write(t)
	if _, err := g.request(ctx, http.MethodPut, "/metrics/job/"+job+"/site/"+url.PathEscape(site), t.Bytes()); err != nil {
		return fmt.Errorf("push metrics to the Pushgateway: %w", err)
	}
	return nil
}

// request sends a request and returns the body of the answer.
func (g Pushgateway) request(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answersWithin)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(string(g), "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // the body was read
	content, err := io.ReadAll(io.LimitReader(answer.Body, largestAnswer))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: it answers %s: %s", method, path, answer.Status, sanitize.Line(string(content)))
	}
	return content, nil
}

// A text is the new metrics of a job and a site in Prometheus' text format. before has
// the metrics that the Pushgateway shows.
type text struct {
	bytes.Buffer
	job, site string
	before    string
}

// tick writes the metrics of a tick.
func (t *text) tick(r tick.Report, now time.Time) {
	pull(t, Metrics(), r, now)
	const alerts = "gitlatch_open_alerts"
	t.head(alerts, "gauge", "open alerts of each kind after the last tick")
	for _, k := range alert.Kinds() {
		open := lists.Count(r.Conditions, func(c alert.Condition) bool { return c.Kind == k })
		t.series(alerts, float64(open), "kind", string(k), "severity", string(k.Severity()))
	}
	const levels = "gitlatch_level_pods"
	t.head(levels, "gauge", "level of the workload in git, in pods")
	for _, l := range r.Latches.Sorted() {
		if l.Declared.Replicas > 0 {
			t.series(levels, float64(l.Declared.Replicas), "namespace", l.ID.Namespace, "kind", string(l.ID.Kind), "name", l.ID.Name)
		}
	}
}

// pull writes a report's metrics.
func pull[R any](t *text, metrics []Metric[R], r R, now time.Time) {
	for _, m := range metrics {
		if m.known != nil && !m.known(r) {
			continue // an unknown number is not 0
		}
		kind, value := "gauge", m.of(r)
		switch m.sense {
		case event:
			kind = "counter"
			value += t.was(m.Series)
		case sign:
			value = float64(now.UnixMilli()) / 1000
		}
		t.head(m.Series, kind, m.Help)
		t.series(m.Series, value)
	}
}

func (t *text) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// series writes the value of a series of the site. labels are pairs of a name and a value.
func (t *text) series(name string, value float64, labels ...string) {
	labels = append([]string{dimension, t.site}, labels...)
	fmt.Fprintf(t, "%s %s\n", labelled(name, labels...), strconv.FormatFloat(value, 'f', -1, 64))
}

func labelled(name string, labels ...string) string {
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, pair[0]+"="+strconv.Quote(pair[1]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// was returns the value of the site's counter in the Pushgateway, or 0 if the Pushgateway
// has no valid value. The Pushgateway adds the labels instance and job, and sorts labels.
func (t *text) was(name string) float64 {
	series := labelled(name, "instance", "", "job", t.job, dimension, t.site) + " "
	for line := range strings.Lines(t.before) {
		if said, ok := strings.CutPrefix(line, series); ok {
			if value, err := strconv.ParseFloat(strings.TrimSpace(said), 64); err == nil && value >= 0 && !math.IsInf(value, 1) {
				return value
			}
		}
	}
	return 0
}
