package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A Head is the state of a site as a whole: what was agreed with git, what
// lies before people, and what the guards over the fleet remember. The zero
// value is a site that was never ticked.
type Head struct {
	Cluster Cluster `json:"cluster,omitzero"`
	// At is the instant of the last look that was settled; zero before the
	// first.
	At time.Time `json:"at,omitzero"`

	Agreed Agreed `json:"agreed,omitzero"`

	// Proposal is what is proposed to people; nil is nothing.
	Proposal *Proposal `json:"proposal,omitzero"`
	// Declined are the mends that people said no to, in the order of namespaces.
	Declined []Declined `json:"declined,omitzero"`
	// Edited are the levels that people set in place and that the record does not
	// say yet, in the order of workload.Compare.
	Edited []Edit `json:"edited,omitzero"`

	Budget Budget `json:"budget,omitzero"`
	// Drop is the mass drop that stops all lowering; nil when there is none.
	Drop *Drop `json:"drop,omitzero"`

	// HoldUntil is how long a person wants the whole site left alone; zero is
	// no hold.
	HoldUntil time.Time `json:"holdUntil,omitzero"`

	// Due is since when a crossing waits that could not be published; zero is
	// none.
	Due time.Time `json:"due,omitzero"`

	// Open are the conditions that people were alerted of, and Outbox the alerts
	// that are not known to have been sent.
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
	Policy    string `json:"policy,omitzero"`    // the policy file
	// PolicySource is the policy file's content, so that a quiet tick reads
	// nothing. Nil where there was no file.
	PolicySource []byte `json:"policySource,omitzero"`
	// Evidence is what the directory says keeps checkpoints inert, so that a
	// quiet tick reads nothing.
	Evidence checkpoint.Evidence `json:"evidence,omitzero"`
	// Files are those edited in place, by path. One that is not among them was
	// never read.
	Files map[string]File `json:"files,omitzero"`
	// Partly is true where not all that Tip holds was read and agreed, so that it
	// is read again although the branch did not move.
	Partly bool `json:"partly,omitzero"`
	// Suspect is a tip that did not descend from Tip, seen on one tick; a second
	// tick that sees it believes it.
	Suspect string `json:"suspect,omitzero"`
}

// A Proposal is what people are asked to make: a branch of ours, and what the host
// made of it. The latches keep the levels that it asks for.
type Proposal struct {
	Branch string `json:"branch"`
	Head   string `json:"head"` // the commit that we pushed to it
	// On is the id of the site's directory that it was made on.
	On string `json:"on,omitzero"`
	// Closing is Head once gitlatch itself is about to close it; "" until then.
	Closing string `json:"closing,omitzero"`
	// ID and URL are the host's; "" until the host knows of it.
	ID  string `json:"id,omitzero"`
	URL string `json:"url,omitzero"`
	// Opened is when it was first pushed.
	Opened time.Time `json:"opened"`
	Mends  []Mend    `json:"mends,omitzero"`
	// Files are those that it edits in place, by path, and the ids of what it was
	// made on.
	Files map[string]string `json:"files,omitzero"`
}

// A Mend is a namespace whose files are to follow its record: its Component is
// written anew from it, and what is marked for its workloads gets their levels.
type Mend struct {
	Namespace string `json:"namespace"`
	// Component is a hash of the bytes that the Component is to have, and of what
	// marks are to say, so that another question about the same namespace is told
	// from the same one.
	Component string `json:"component"`
}

// A File is one that is edited in place, as it was when it was last read.
type File struct {
	ID    string `json:"id,omitzero"` // of its object; "" has it read again once the branch moves
	Marks Marks  `json:"marks,omitzero"`
	// Refused is why the file, or some of its marks, are left as they are, by line.
	Refused []Refusal `json:"refused,omitzero"`
	// Kinds are those that the site named when the file was read, sorted: with
	// others it is read again, since another mark may be one.
	Kinds []workload.Kind `json:"kinds,omitzero"`
}

// Marks are what the marked scalars of a file say: by workload the counts, in
// pods and by line.
type Marks map[workload.ID][]int32

// A Refusal is why a mark, or a whole file, is not edited.
type Refusal struct {
	Line int         `json:"line,omitzero"` // from 1; 0 is no line's fault
	ID   workload.ID `json:"id,omitzero"`   // whose mark it is; zero bars all of the file
	Text string      `json:"text"`
}

// An Edit is a level that a person set in a file that is edited in place. It
// holds while the record says From; then it says To, or a person decided anew.
type Edit struct {
	ID   workload.ID `json:"id"`
	File string      `json:"file"`
	From int32       `json:"from"`
	To   int32       `json:"to"`
}

// Declined is a mend that people said no to, and until when they are not asked
// again.
type Declined struct {
	Mend
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
}
