package cli

import (
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/diff"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/report"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A diffDocument is a comparison for machines. Fields are added and never
// changed.
type diffDocument struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Site       string       `json:"site"`
	Cluster    string       `json:"cluster"` // UID of the kube-system namespace
	At         time.Time    `json:"at"`      // of the sample
	Against    string       `json:"against"` // the commit that was read, or the folder
	Mode       string       `json:"mode"`    // latch or observe
	Differs    bool         `json:"differs"`
	Proposal   string       `json:"proposal,omitempty"`
	Stop       *report.Stop `json:"stop,omitempty"`
	Unread     []string     `json:"unread"` // of either side
	Rows       []diffRow    `json:"rows"`
}

// A diffRow is one reading of one workload. Levels are pods, milestones percent;
// null is what is not known, or not declared.
type diffRow struct {
	Namespace string `json:"namespace"`
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Reading   string `json:"reading"` // scale or rollout

	State   string `json:"state"` // in-sync, bounds, pending, waiting, frozen, absent, unknown or not-latched
	Differs bool   `json:"differs"`
	Reason  string `json:"reason,omitempty"`
	Text    string `json:"text"`
	Policy  string `json:"policy,omitempty"`

	Live     *int32 `json:"live"`  // pods asked for; of a rollout those of its target that are available
	Ready    *int32 `json:"ready"` // null of a rollout
	Declared *int32 `json:"declared"`
	// Proposed and To are what a proposal would have git say, and what it would
	// come to if all lasted. Null is no level there; left out is no change.
	Proposed json.RawMessage `json:"proposed,omitempty"`
	To       json.RawMessage `json:"to,omitempty"`

	RaiseAbove *int32         `json:"raiseAbove,omitempty"` // pods; left out where nothing raises it
	LowerAt    int32          `json:"lowerAt,omitempty"`
	Mismatch   *report.Bounds `json:"liveBoundsDiffer,omitempty"`
	Capped     bool           `json:"cappedByGit,omitempty"`
	Unproven   bool           `json:"notKnownToBeInert,omitempty"`
}

func newDiffDocument(d difference) diffDocument {
	doc := diffDocument{
		APIVersion: report.Version, Kind: "DiffReport", Site: d.Site, Cluster: d.Fleet.Cluster, At: d.Fleet.At.UTC(),
		Against: d.against, Mode: "latch", Differs: d.Differs(), Proposal: d.proposal,
		Unread: workload.Texts(d.Fleet.Unread), Rows: []diffRow{},
	}
	if d.Observe {
		doc.Mode = "observe"
	}
	if d.Stop.Reason != policy.ReasonNone {
		doc.Stop = &report.Stop{All: d.Stop.All, Reason: string(d.Stop.Reason), Text: d.Stop.Text}
	}
	for _, namespace := range d.Broken() {
		doc.Unread = append(doc.Unread, d.Tree.Broken[namespace].Error())
	}
	if d.Tree.Unproven != nil {
		doc.Unread = append(doc.Unread, d.Tree.Unproven.Error())
	}
	for _, r := range d.Rows {
		doc.Rows = append(doc.Rows, newDiffRow(r))
	}
	return doc
}

func newDiffRow(r diff.Row) diffRow {
	row := diffRow{
		Namespace: r.ID.Namespace, Kind: string(r.ID.Kind), Name: r.ID.Name, Reading: "scale",
		State: string(r.State), Differs: r.Differs(), Reason: string(r.Reason), Text: r.Text, Policy: r.Policy,
		Declared: numberOf(r, r.Declared), LowerAt: r.LowerAt,
		Mismatch: (*report.Bounds)(r.Mismatch), Capped: r.Capped, Unproven: r.Unproven,
	}
	s := r.Sample
	switch {
	case r.Reading == policy.ReadingRollout:
		row.Reading = "rollout"
		if s.Rollout != nil && len(s.Rollout.Templates) > 0 {
			row.Live = &s.Rollout.Templates[0].Available
		}
	case s.Scale != nil:
		row.Live, row.Ready = &s.Scale.Desired, &s.Scale.Ready
	}
	if r.RaiseAbove > 0 && r.RaiseAbove < math.MaxInt32 {
		row.RaiseAbove = &r.RaiseAbove
	}
	if r.Proposes {
		row.Proposed = raw(numberOf(r, r.Proposed))
	}
	if waits := r.State == diff.Pending || r.State == diff.Waiting; waits && !r.To.IsZero() || r.State == diff.Pending && r.Reading == policy.ReadingRollout {
		row.To = raw(numberOf(r, r.To))
	}
	return row
}

func raw(n *int32) json.RawMessage {
	if n == nil {
		return json.RawMessage("null")
	}
	return strconv.AppendInt(nil, int64(*n), 10)
}

// numberOf is what an entry says of the reading of a row; nil is nothing.
func numberOf(r diff.Row, e checkpoint.Entry) *int32 {
	switch {
	case r.Reading == policy.ReadingScale && e.Replicas > 0:
		return &e.Replicas
	case r.Reading == policy.ReadingRollout && e.Rollout != checkpoint.Rollout{}:
		return &e.Rollout.Milestone
	}
	return nil
}

func diffJSON(out io.Writer, d difference, _ term.Style) error {
	return term.JSON(out, newDiffDocument(d))
}

func diffYAML(out io.Writer, d difference, _ term.Style) error {
	text, err := yaml.Marshal(newDiffDocument(d))
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}
