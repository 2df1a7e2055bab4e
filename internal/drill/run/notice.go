package run

import (
	"encoding/json"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/drill"
)

// Notice is the summary of a drill as a message.
func Notice(s drill.Summary) (alert.Notice, error) {
	document, err := json.Marshal(s)
	n := alert.Notice{
		ID: "drill-" + s.Site + "-" + s.At.UTC().Format(time.RFC3339), Site: s.Site, Kind: "drill", Severity: alert.Warning, State: "failed",
		Subject: s.Headline(), Thread: s.Headline(), Text: s.Text(), Document: document,
	}
	if s.Passed {
		n.Severity, n.State = alert.Info, "passed"
	}
	return n, err
}
