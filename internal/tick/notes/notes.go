// Package notes has the messages of the steps of a tick for users: what happened in git, what
// a user must fix, and the conditions that alerts are about.
package notes

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/ledger"
	"github.com/gitlatch/gitlatch/internal/repo"
)

// Notes are the messages of a step for users, in the order in which the step found them. The
// zero value has no messages.
type Notes struct {
	Notices []Notice // the events in git, with gitlatch's reactions
	// Problems are the problems that a user must fix. The tick continued without the parts
	// that have them.
	Problems   []error
	Conditions []alert.Condition
}

// A Notice is one difference between git and the agreement.
type Notice struct {
	Kind    Kind   `json:"kind"`
	Subject string `json:"subject"` // a workload, a commit or a file
	Text    string `json:"text"`
}

// Kind is a stable name for a kind of notice.
type Kind string

// The notices.
const (
	Seeded    Kind = "seeded"          // the state was new or lost, and came from git
	Landed    Kind = "landed"          // the push of an earlier tick landed without a reply
	Cut       Kind = "cut"             // the window is truncated, so authors are unknown
	Reverted  Kind = "reverted"        // a user reverted gitlatch's change
	Adopted   Kind = "adopted"         // a user edited an entry
	OptedOut  Kind = "opted-out"       // a user deleted an entry
	Removed   Kind = "entries-removed" // a user's commit removed the entry with many others
	Rewritten Kind = "rewritten"       // the tip does not descend from the agreed tip
	Moved     Kind = "moved"           // an entry changed before the push
	Merged    Kind = "merged"          // users merged proposed changes
	Declined  Kind = "declined"        // users closed the proposal, or took over its branch
	Withdrawn Kind = "withdrawn"       // gitlatch closed the proposal
	Stale     Kind = "stale"           // a checkpoint file has text that gitlatch does not write
)

// And returns the notes of a step followed by the notes of a later step.
func (n Notes) And(later Notes) Notes {
	return Notes{
		Notices:    slices.Concat(n.Notices, later.Notices),
		Problems:   slices.Concat(n.Problems, later.Problems),
		Conditions: slices.Concat(n.Conditions, later.Conditions),
	}
}

// The effects of problems on the levels in git.
const (
	OldLevels  = "git has the old levels, so a rebuild starts with them"
	TriesAgain = OldLevels + ". gitlatch tries again with each tick"
	// UsesLast is the reaction of gitlatch to an invalid file that it accepted before.
	UsesLast = "gitlatch uses the last version that it accepted"
)

// Condition adds a condition. See alert.Condition for the texts.
func (n *Notes) Condition(kind alert.Kind, subject, text, effect, fix string) {
	c := alert.Condition{Kind: kind, Subject: subject, Text: alert.Brief(text), Effect: effect, Fix: fix}
	n.Conditions = append(n.Conditions, c)
}

// Problem adds a problem that a user must fix. The tick continues.
func (n *Notes) Problem(err error) { n.Problems = append(n.Problems, err) }

// Notice adds a notice about git, and returns its text.
func (n *Notes) Notice(kind Kind, subject, format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	n.Notices = append(n.Notices, Notice{kind, subject, text})
	return text
}

// Invalid adds a file on the branch that cannot be read, and the reaction of gitlatch.
func (n *Notes) Invalid(file string, err error, did string) {
	fix := "correct " + file + " on the branch"
	n.Problem(fmt.Errorf("%w\n%s; until then %s", err, fix, did))
	n.Condition(alert.Invalid, file, err.Error(), did, fix)
}

// PolicyGone adds that the branch has no policy file, and the reaction of gitlatch.
func (n *Notes) PolicyGone(file, text, did string) {
	fix := "restore " + file + " on the branch, or correct repository.policyFile in the configuration. To stop gitlatch, commit the file with mode: observe"
	n.Problem(fmt.Errorf("%s; %s; %s", text, did, fix))
	n.Condition(alert.Invalid, file, text, did, fix)
}

// NoteRefusal reports whether an error means that the host refuses the commit or the proposal,
// and adds it to the notes. problem is the format of an error that wraps it.
func (n *Notes) NoteRefusal(err error, problem, subject string) bool {
	var refused *repo.RefusedError
	if !errors.As(err, &refused) {
		return false
	}
	n.Problem(fmt.Errorf(problem, err))
	n.Condition(alert.Blocked, subject, err.Error(), TriesAgain, refused.Remedy())
	return true
}

// Surge adds that a commit of the site raised a level by a surge.
func (n *Notes) Surge(site string, s ledger.Surge, from, to int32) {
	n.Condition(alert.Surge, s.ID.String(),
		fmt.Sprintf("its level rose from %d to %d in one change, because it has %d pods", from, to, s.Need),
		fmt.Sprintf("a rebuild starts the workload with %d pods", to),
		fmt.Sprintf("if the load is real, no action is necessary. If not, correct the metric or the maximum of its autoscaler, and set %s.%s in %s to the correct level. gitlatch keeps that level for 24 hours",
			s.ID.Kind, s.ID.Name, checkpoint.RecordPath(site, s.ID.Namespace)))
}

// Time returns an instant as texts for users have it: RFC 3339 in UTC.
func Time(at time.Time) string { return at.UTC().Format(time.RFC3339) }
