package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/atomicfile"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/tick"
)

// WriteTextfile writes a report's metrics to a file in Prometheus' text format, for a
// collector such as node_exporter's textfile collector. It replaces the file atomically.
//
// Gauges have the state at the last tick. Counters continue from the values in the
// existing file, because a scraper can read a tick several times or miss it. Without a
// file, they start at 0. The heartbeat is the time of the last completed tick. A constant
// 1 would hide that ticks have stopped.
//
// gitlatch_open_alerts has the number of open conditions for each kind of alert.
func WriteTextfile(path string, r tick.Report, now time.Time) error {
	return collect(path, func(t *text) {
		pull(t, Metrics(), r, r.Site, now)
		const name = "gitlatch_open_alerts"
		t.head(name, "gauge", "open alerts of each kind after the last tick")
		for _, k := range alert.Kinds() {
			open := lists.Count(r.Conditions, func(c alert.Condition) bool { return c.Kind == k })
			t.series(name, float64(open), dimension, r.Site, "kind", string(k), "severity", string(k.Severity()))
		}
	})
}

// collect replaces a file. write gets the text of the existing file.
func collect(path string, write func(*text)) error {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the metrics of the last tick: %w", err)
	}
	t := &text{before: before}
	write(t)
	if err := atomicfile.Write(path, t.Bytes()); err != nil {
		return fmt.Errorf("write metrics to %s: %w", path, err)
	}
	return nil
}

// pull writes a report's metrics.
func pull[R any](t *text, metrics []Metric[R], r R, site string, now time.Time) {
	for _, m := range metrics {
		if m.known != nil && !m.known(r) {
			continue // an unknown number is not 0
		}
		kind, value := "gauge", m.of(r)
		switch m.sense {
		case event:
			kind = "counter"
			value += t.was(m.Series, dimension, site)
		case sign:
			value = float64(now.UnixMilli()) / 1000
		}
		t.head(m.Series, kind, m.Help)
		t.series(m.Series, value, dimension, site)
	}
}

// A text is a new file in Prometheus' text format. before is the existing file.
type text struct {
	bytes.Buffer
	before []byte
}

func (t *text) head(name, kind, help string) {
	fmt.Fprintf(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

// series writes the value of a series. labels are pairs of a name and a value.
func (t *text) series(name string, value float64, labels ...string) {
	fmt.Fprintf(t, "%s %s\n", labelled(name, labels), strconv.FormatFloat(value, 'f', -1, 64))
}

func labelled(name string, labels []string) string {
	var pairs []string
	for pair := range slices.Chunk(labels, 2) {
		pairs = append(pairs, pair[0]+"="+strconv.Quote(pair[1]))
	}
	return name + "{" + strings.Join(pairs, ",") + "}"
}

// was returns the value of a series in the existing file, or 0 if the file has no valid
// value.
func (t *text) was(name string, labels ...string) float64 {
	for line := range strings.Lines(string(t.before)) {
		if said, ok := strings.CutPrefix(line, labelled(name, labels)+" "); ok {
			if value, err := strconv.ParseFloat(strings.TrimSpace(said), 64); err == nil && value >= 0 && !math.IsInf(value, 1) {
				return value
			}
		}
	}
	return 0
}
