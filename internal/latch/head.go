package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Head is the state of a site as a whole: what was agreed with git, what was
// about to be pushed, and what the guards over the fleet remember. The zero
// value is a site that was never ticked.
type Head struct {
	Cluster Cluster
	// At is the instant of the last look that was settled; zero before the
	// first.
	At time.Time

	Agreed Agreed
	// Intent is the push that was about to be made; nil when none was.
	Intent *Intent

	Budget Budget
	Recent Recent
	// Drop is the mass drop that stops all lowering; nil when there is none.
	Drop *Drop

	// HoldUntil is how long a person wants the whole site left alone; zero is
	// no hold.
	HoldUntil time.Time
}

// Cluster is which cluster fills the site.
type Cluster struct {
	UID  string    // of the kube-system namespace; "" before the first look
	Seen time.Time // when a tick last looked at it
	// Other is a cluster that ticked under the site's name without being
	// adopted, "" if none did.
	Other     string
	OtherSeen time.Time
}

// Agreed is what git held when gitlatch and git last agreed. Object ids are
// the repository's own; "" is an object that was not there.
type Agreed struct {
	Tip       string // the commit of the branch
	Directory string // checkpoints/<site>
	Policy    string // the policy file
	// PolicySource is the policy file's content, so that a quiet tick reads
	// nothing. Nil where there was no file.
	PolicySource []byte
	// Suspect is a tip that did not descend from Tip, seen on one tick; a second
	// tick that sees it believes it.
	Suspect string
}

// An Intent is written before a push, so that whoever finds it can tell whether
// the push landed.
type Intent struct {
	ID      string // the value of the commit's Gitlatch-Intent trailer
	Base    string // the tip that the push was to be made on
	At      time.Time
	Changes []checkpoint.Change // in the order of workload.Compare
}

// Budget is the token bucket of a site's commits.
type Budget struct {
	Tokens float64   // as of At
	At     time.Time // zero is a full bucket
}

// Recent remembers the scale of the fleet at a few instants, for the guard
// against a mass drop. Counts[id][i] is the scale at At[i], -1 where it was not
// known.
type Recent struct {
	At     []time.Time
	Counts map[workload.ID][]int32
}

// A Drop is a mass drop: many workloads halved at once.
type Drop struct {
	Since time.Time
	// Before is the scale that the dropped workloads had.
	Before map[workload.ID]int32
}
