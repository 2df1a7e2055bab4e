package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/whole"
)

// WriteTextfile writes a report's metrics to a file in Prometheus' text format,
// for a collector that reads it when it likes: node_exporter's, for one. The file
// is there whole or as it was before.
//
// A state is as the last tick found it. Events are counted on from the file that
// is there, since who pulls sees a tick many times or not at all; they begin at 0
// with a file that is not. The heartbeat is the time of the last tick that came
// to its end: a file that went on saying 1 would hide that nobody ticks.
func WriteTextfile(path string, r tick.Report, now time.Time) error {
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the metrics of the last tick: %w", err)
	}
	if err := whole.Write(path, textfile(r, now, before)); err != nil {
		return fmt.Errorf("write metrics to %s: %w", path, err)
	}
	return nil
}

// textfile is the text of a report's metrics, after the text of those before.
func textfile(r tick.Report, now time.Time, before []byte) []byte {
	var b bytes.Buffer
	for _, m := range Metrics() {
		name, kind := m.pulled()
		series := fmt.Sprintf(`%s{%s="%s"}`, name, dimension, labelEscapes.Replace(r.Site))
		value, help := m.of(r), m.Help
		switch m.sense {
		case event:
			value += valueOf(before, series)
		case sign:
			value, help = float64(now.UnixMilli())/1000, "when the last tick came to its end"
		}
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, helpEscapes.Replace(help), name, kind, series, strconv.FormatFloat(value, 'f', -1, 64))
	}
	return b.Bytes()
}

var (
	labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// pulled returns the name and the type of a metric as Prometheus has them.
func (m Metric) pulled() (name, kind string) {
	var b strings.Builder
	b.WriteString(Namespace)
	for _, c := range m.Name {
		if unicode.IsUpper(c) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	switch m.sense {
	case event:
		return b.String() + "_total", "counter"
	case sign:
		return b.String() + "_timestamp_seconds", "gauge"
	default:
		return b.String(), "gauge"
	}
}

// valueOf returns what a text of ours says of a series; 0 where it says nothing
// that could be counted on from.
func valueOf(text []byte, series string) float64 {
	for line := range strings.Lines(string(text)) {
		if said, ok := strings.CutPrefix(line, series+" "); ok {
			if value, err := strconv.ParseFloat(strings.TrimSpace(said), 64); err == nil && value >= 0 && !math.IsInf(value, 1) {
				return value
			}
		}
	}
	return 0
}
