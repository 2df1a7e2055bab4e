package run

import (
	"encoding/json"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/drill"
)

// Notice returns the message about a drill. Its document only has the worst workloads.
func Notice(d drill.Document) (alert.Notice, error) {
	document, err := json.Marshal(d.Shortened(drill.Worst))
	n := alert.Notice{
		ID: "drill-" + d.Site + "-" + d.At.UTC().Format(time.RFC3339), Site: d.Site, Kind: "drill", Severity: alert.Warning, State: "failed",
		Subject: d.Headline(), Thread: d.Headline(), Text: d.Text(), Document: document,
	}
	if d.Passed {
		n.Severity, n.State = alert.Info, "passed"
	}
	return n, err
}
