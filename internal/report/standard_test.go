package report_test

import (
	"bytes"
	stdlog "log"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/report"
)

// A line of Lambda's runtime is a line of JSON like all others. The standard logger
// belongs to the process, so the test is not parallel.
func TestTheStandardLoggersLinesTakeTheShapeOfOurs(t *testing.T) {
	var out bytes.Buffer
	at := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	report.TakeStandard(report.NewLogger(&out, func() time.Time { return at }))
	t.Cleanup(func() { stdlog.SetFlags(stdlog.LstdFlags); stdlog.SetOutput(os.Stderr) })
	stdlog.Println(`{"errorMessage":"lease is held","errorType":"errorString"}`)
	stdlog.Print("no \"address\"")
	want := strings.Join([]string{
		`{"level":"ERROR","answer":{"errorMessage":"lease is held","errorType":"errorString"},"timestamp":"2026-03-02T10:00:00Z","message":"failed"}`,
		`{"level":"ERROR","answer":"no \"address\"","timestamp":"2026-03-02T10:00:00Z","message":"failed"}`,
		"",
	}, "\n")
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
}
