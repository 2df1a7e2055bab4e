package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Head is the state of a site as a whole: what git held when last agreed with, the
// open proposal, and what the guards over the fleet remember. The zero value is a
// site that was never ticked.
type Head struct {
	Cluster Cluster `json:"cluster,omitzero"`
	// At is the instant of the last look that was settled; zero before the
	// first.
	At time.Time `json:"at,omitzero"`

	Agreed Agreed `json:"agreed,omitzero"`

	// Latches is the Checksum of the latches that were saved with this head. The stored
	// latches have another one if a save stopped before the head, or if one was lost.
	Latches int64 `json:"latches,omitzero"`

	// Proposal is what is proposed to people; nil is nothing.
	Proposal *Proposal `json:"proposal,omitzero"`
	// Declined are the repairs that people said no to, in the order of namespaces.
	Declined []Declined `json:"declined,omitzero"`

	Budget Budget `json:"budget,omitzero"`
	// Drop is the mass drop that stops all lowering; nil when there is none.
	Drop *Drop `json:"drop,omitzero"`

	// PausedUntil is the end of a user's pause of the site; zero if there is no pause.
	PausedUntil time.Time `json:"pausedUntil,omitzero"`

	// UnpublishedSince is since when a crossing could not be published; zero is no
	// such crossing.
	UnpublishedSince time.Time `json:"unpublishedSince,omitzero"`

	// Open are the conditions that people were alerted to. Outbox are the alerts that
	// are not known to have been sent.
	Open   []alert.Open  `json:"open,omitzero"`
	Outbox []alert.Alert `json:"outbox,omitzero"`
}

// Cluster is which cluster fills the site.
type Cluster struct {
	UID  string    `json:"uid,omitzero"`  // of the kube-system namespace; "" before the first look
	Seen time.Time `json:"seen,omitzero"` // when a tick last looked at it
	// Other is a cluster that ticked under the site's name without being
	// adopted, "" if none did.
	Other     string    `json:"other,omitzero"`
	OtherSeen time.Time `json:"otherSeen,omitzero"`
}

// Agreed is what git held when gitlatch and git last agreed. Object ids are
// the repository's own; "" is an object that was not there.
type Agreed struct {
	Tip       string `json:"tip,omitzero"`       // the commit of the branch
	Directory string `json:"directory,omitzero"` // checkpoints/<site>
	Policy    string `json:"policy,omitzero"`    // the policy file; its last version once it is gone
	// PolicyFile is the path of the policy file. A policy at another path was not agreed.
	PolicyFile string `json:"policyFile,omitzero"`
	// Sites is the tree that contains Directory, as git stores it, so that a tick on a
	// moved branch need not ask for it. Nil if it is unknown or too large.
	Sites []byte `json:"sites,omitzero"`
	// PolicySource is the policy file's content, so that a quiet tick reads
	// nothing. Nil where there was no file.
	PolicySource []byte `json:"policySource,omitzero"`
	// Evidence is what the directory says keeps checkpoints inert, so that a
	// quiet tick reads nothing.
	Evidence checkpoint.Evidence `json:"evidence,omitzero"`
	// Partly is true if part of Tip could not be read and agreed with. Tip is then
	// read again although the branch did not move.
	Partly bool `json:"partly,omitzero"`
	// Suspect is a tip that did not descend from Tip, seen on one tick. A second tick
	// that sees Suspect believes the branch.
	Suspect string `json:"suspect,omitzero"`
}

// A Proposal is a change that people are asked to merge: gitlatch's branch, and the
// host's pull request for the branch. The latches hold the proposed levels.
type Proposal struct {
	Branch string `json:"branch"`
	Head   string `json:"head"` // the commit that we pushed to it
	// Directory is the object id of the site's directory that the proposal was made on.
	Directory string `json:"directory,omitzero"`
	// Closing is Head once gitlatch itself is about to close the proposal; "" until then.
	Closing string `json:"closing,omitzero"`
	// ID and URL are the host's; "" until the host knows of it.
	ID  string `json:"id,omitzero"`
	URL string `json:"url,omitzero"`
	// Opened is when it was first pushed.
	Opened  time.Time `json:"opened"`
	Repairs []Repair  `json:"repairs,omitzero"`
	// Outdated is true if a file that is edited in place moved since: the proposal is to be
	// made again.
	Outdated bool `json:"outdated,omitzero"`
}

// A Repair makes a namespace's files follow its record. The Component is written anew
// from the record, and marked counts get the levels of their workloads.
type Repair struct {
	Namespace string `json:"namespace"`
	// Component is a hash of the Component's new bytes and of the marks' new counts. It
	// tells a new repair of a namespace from a repair that people declined.
	Component string `json:"component"`
}

// Declined is a repair that people said no to, and until when they are not asked
// again.
type Declined struct {
	Repair
	Until time.Time `json:"until"`
}

// Budget is the token bucket of a site's commits.
type Budget struct {
	Tokens float64   `json:"tokens,omitzero"` // as of At
	At     time.Time `json:"at,omitzero"`     // zero is a full bucket
}

// A Drop is a mass drop: many workloads halved at once. While it lasts, what is
// remembered of workloads is as it was before.
type Drop struct {
	Since     time.Time `json:"since,omitzero"`
	Workloads int       `json:"workloads,omitzero"` // that were seen to have halved
	Of        int       `json:"of,omitzero"`        // the workloads that were compared
	Worst     []Fall    `json:"worst,omitzero"`     // those that lost the most pods, at most MostFalls
}

// MostFalls is how many workloads a Drop names.
const MostFalls = 5

// A Fall is the loss of pods of one workload in a Drop.
type Fall struct {
	ID   workload.ID `json:"id"`
	From int32       `json:"from"`
	To   int32       `json:"to"`
}
