package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Head is the state of a site: the content of git at the last agreement, the open
// proposal, and the memory of the guards over the site's workloads. The zero value is a
// site without a tick.
type Head struct {
	Cluster Cluster `json:"cluster,omitzero"`
	// At is the instant of the last sample that was saved; zero before the first.
	At time.Time `json:"at,omitzero"`

	Agreed Agreed `json:"agreed,omitzero"`

	// Latches is the Checksum of the latches that were saved with this head. The stored
	// latches have another one if a save stopped before the head, or if one was lost.
	Latches int64 `json:"latches,omitzero"`

	// Proposal is the open proposal; nil if there is none.
	Proposal *Proposal `json:"proposal,omitzero"`
	// Declined are the repairs that a user declined, in the order of namespaces.
	Declined []Declined `json:"declined,omitzero"`

	Budget Budget `json:"budget,omitzero"`
	// Drop is the mass drop that stops all lowering; nil if there is none.
	Drop *Drop `json:"drop,omitzero"`

	// PausedUntil is the end of a user's pause of the site; zero if the site is not
	// paused.
	PausedUntil time.Time `json:"pausedUntil,omitzero"`

	// UnpublishedSince is the instant since which a level change could not be published;
	// zero if no level change waits for that reason.
	UnpublishedSince time.Time `json:"unpublishedSince,omitzero"`

	// Applied is the memory of the check that the cluster has the levels in git.
	Applied Applied `json:"applied,omitzero"`

	// Open are the conditions with an alert that is not over. Outbox are the alerts that
	// the topic has not accepted yet.
	Open   []alert.Open  `json:"open,omitzero"`
	Outbox []alert.Alert `json:"outbox,omitzero"`
}

// Cluster identifies the cluster that fills the site.
type Cluster struct {
	UID  string    `json:"uid,omitzero"`  // of the kube-system namespace; "" before the first sample
	Seen time.Time `json:"seen,omitzero"` // when a tick last sampled it
	// Other is the UID of a cluster that ticked under the site's name without being
	// adopted; "" if there is no such cluster.
	Other     string    `json:"other,omitzero"`
	OtherSeen time.Time `json:"otherSeen,omitzero"`
}

// Agreed is the content of git when gitlatch and git last agreed. Object ids are the
// repository's own; "" is an object that did not exist.
type Agreed struct {
	Tip       string `json:"tip,omitzero"`       // the commit of the branch
	Directory string `json:"directory,omitzero"` // checkpoints/<site>
	Policy    string `json:"policy,omitzero"`    // the policy file; its last version once it is gone
	// PolicyFile is the path of the policy file. A policy at another path was not agreed.
	PolicyFile string `json:"policyFile,omitzero"`
	// Sites is the tree that contains Directory, as git stores it, so that a tick on a
	// branch with a new tip need not request it. Nil if it is unknown or too large.
	Sites []byte `json:"sites,omitzero"`
	// PolicySource is the content of the policy file, so that a quiet tick reads no file.
	// Nil if the file did not exist.
	PolicySource []byte `json:"policySource,omitzero"`
	// Reread is true if part of Tip could not be read and judged. The next tick then
	// reads Tip again, even if the branch did not move.
	Reread bool `json:"reread,omitzero"`
	// Suspect is a tip that did not descend from Tip in one tick. If a second tick sees
	// Suspect, it accepts the branch.
	Suspect string `json:"suspect,omitzero"`
}

// ReadAgain returns the agreement without a directory, so that the next tick reads and judges the
// directory at Tip, although the branch did not move.
func (a Agreed) ReadAgain() Agreed {
	a.Reread = true
	a.Directory = ""
	return a
}

// A Proposal is a change that a user is asked to merge: gitlatch's branch, and the host's
// pull request for the branch. The latches store the proposed levels.
type Proposal struct {
	Branch string `json:"branch"`
	Head   string `json:"head"` // the commit that gitlatch pushed to it
	// Directory is the object id of the site's directory in the base of the proposal.
	Directory string `json:"directory,omitzero"`
	// Closing is Head once gitlatch is about to close the proposal itself; "" before.
	Closing string `json:"closing,omitzero"`
	// ID and URL are the host's names for the pull request; "" before the host reports
	// it.
	ID  string `json:"id,omitzero"`
	URL string `json:"url,omitzero"`
	// Opened is the instant of the first push.
	Opened  time.Time `json:"opened"`
	Repairs []Repair  `json:"repairs,omitzero"`
}

// A Repair restores a namespace's checkpoint file to its canonical form. It changes no
// entry.
type Repair struct {
	Namespace string `json:"namespace"`
	// Text is a hash of the canonical bytes. It distinguishes a new repair of a namespace from
	// a declined one.
	Text string `json:"text"`
}

// Declined is a repair that a user declined, and the instant before which gitlatch does
// not propose it again.
type Declined struct {
	Repair
	Until time.Time `json:"until"`
}

// Budget is the token bucket of a site's commits.
type Budget struct {
	Tokens float64   `json:"tokens,omitzero"` // as of At
	At     time.Time `json:"at,omitzero"`     // zero is a full bucket
}

// A Drop is a mass drop: many workloads halved at once. While it lasts, the latches
// remember the scale from before the drop.
type Drop struct {
	Since     time.Time `json:"since,omitzero"`
	Workloads int       `json:"workloads,omitzero"` // number of workloads that halved
	Of        int       `json:"of,omitzero"`        // the workloads that were compared
	Worst     []Fall    `json:"worst,omitzero"`     // the workloads that lost the most pods, at most MostFalls
}

// MostFalls is the maximum number of workloads that a Drop names.
const MostFalls = 5

// A Fall is the loss of pods of one workload in a Drop.
type Fall struct {
	ID   workload.ID `json:"id"`
	From int32       `json:"from"`
	To   int32       `json:"to"`
}
