package run

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
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

// crowded returns the condition of a rebuild that does not fit.
func crowded(r room.Report) alert.Condition {
	return alert.Condition{
		Kind: alert.DoesNotFit, Title: "a rebuild does not fit, " + strings.TrimSuffix(r.Limits[0].String(), "."),
		Text:   alert.Brief(strings.Join(r.Lines(), "\n")),
		Effect: "gitlatch continues to write levels. A rebuild leaves some pods pending", Fix: "raise the limit above the amount that a rebuild needs",
	}
}

// alert sends the alert about an event.
func (r *Run) alert(ctx context.Context, d drill.Document, c alert.Condition) drill.Document {
	_, alerts := alert.Advance(d.Site, nil, []alert.Condition{c}, r.Tick.Clock(), 0)
	for _, a := range alerts {
		notice, err := a.Notice()
		d = r.tell(ctx, d, notice, err)
	}
	return d
}
