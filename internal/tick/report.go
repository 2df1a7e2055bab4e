package tick

import (
	"errors"
	"slices"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/tick/publish"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Report contains the sample, the decisions and the effects of a tick.
type Report struct {
	Site string
	// Fleet is the sample. Its instant is in UTC.
	workload.Fleet
	DryRun  bool
	Observe bool // the site's policy writes nothing to git

	// NotRun is the reason for a tick without a sample: another tick has the lease, or took
	// the turn. "" means that the tick ran.
	NotRun string

	// Set is the policy that decided. Decided has its decisions, and the state after the tick.
	Set policy.Set
	policy.Decided

	// Commit is the commit of this tick; nil without a commit. In a dry run it has no id.
	Commit *publish.Commit
	// Proposal is the proposal that this tick opened or updated; nil without a change.
	Proposal *publish.Asked

	notes.Notes
	// Alerts are the messages about the conditions, sent or not.
	Alerts []alert.Alert
}

// Err joins the problems and the parts of the cluster that could not be listed. It can be
// non-nil although the tick succeeded.
func (r Report) Err() error {
	unread := lists.Map(r.Unread, func(part workload.Unread) error { return &workload.UnreadError{Unread: part} })
	return errors.Join(slices.Concat(r.Problems, unread)...)
}
