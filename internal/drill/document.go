package drill

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/term"
)

// Kind is that of a Document.
const Kind = "Drill"

// A Document is what a drill found, in its stable shape: fields are added and
// never changed. All times are RFC 3339 in UTC. Lists are never null. Counts are
// pods; a count that is null is not known, or not there.
type Document struct {
	term.Document
	Site    string    `json:"site"`
	Cluster string    `json:"cluster"` // UID of the kube-system namespace; "" is unknown
	At      time.Time `json:"at"`      // of the sample
	Mode    string    `json:"mode"`    // latch or observe; observe writes nothing, and scores git as it is
	DryRun  bool      `json:"dryRun"`  // nothing was written, and git is scored as it is

	Branch string `json:"branch"`
	Commit string `json:"commit"` // that was scored

	// MinCoverage is what the fleet's coverage has to be at least, and the
	// threshold below which a workload is among the low ones. Passed is whether
	// the fleet's is, all could be read and is known, what a rebuild starts each at
	// too, and there is no MassDrop.
	MinCoverage float64 `json:"minCoverage"`
	Passed      bool    `json:"passed"`

	// MassDrop is true where the fleet lost much of its scale at once, and has not
	// recovered: the need is of what is left of it, which proves nothing.
	MassDrop bool `json:"massDrop"`
	// Notices say what else bears on how far the coverage is to be trusted.
	Notices []string `json:"notices"`

	Fleet Fleet `json:"fleet"`
	// Workloads are those that the policy latches and those that git declares, the
	// worst first: by coverage, then by the pods that would be missing. Those
	// without a coverage come last.
	Workloads []Workload `json:"workloads"`
	// Cut is how many of them an answer leaves out that would be too long; the
	// document that is kept has them all.
	Cut int `json:"cut,omitempty"`
	// LeftOut counts those that run and are in no way scored, by reason.
	LeftOut []LeftOut `json:"leftOut"`
	// Findings are all that doctor would have fixed, the worst first.
	Findings []Finding `json:"findings"`

	Flush Flush `json:"flush"`
	// Last is what changed since the last drill of the site; null is no earlier
	// one.
	Last *Last `json:"last"`
	// Model is how seconds to capacity are estimated.
	Model Model `json:"model"`

	// Links are where the report is kept.
	Links []Link `json:"links"`

	// Unread are the parts of cluster and repository that could not be read, and
	// Problems what a person must fix; the drill went on without them.
	Unread   []string `json:"unread"`
	Problems []string `json:"problems"`
}

// Fleet is the score of all workloads together.
type Fleet struct {
	// Coverage is the part of the pods needed that a rebuild starts with, 0 to 1,
	// of what is known of the need. A workload's surplus makes up for nothing. It
	// is null where Nothing says why it is not known.
	Coverage *float64 `json:"coverage"`
	Nothing  string   `json:"nothing,omitempty"`

	Workloads int `json:"workloads"` // that have a coverage
	Full      int `json:"full"`      // of these, with a coverage of 1
	Low       int `json:"low"`       // below the threshold
	Unscored  int `json:"unscored"`  // in the list of workloads, without a coverage
	// Unknown is the number of unscored workloads for which the replicas that a
	// rebuild starts them with are unknown. No other number contains them.
	Unknown int `json:"unknown"`
	// NeedUnknown is of how many of the unscored it is not known what they need;
	// they are in no other number.
	NeedUnknown int `json:"needUnknown"`
	Frozen      int `json:"frozen"`
	Rollouts    int `json:"rollouts"` // in flight, or declared as such

	Need     int64 `json:"need"`     // pods
	Covered  int64 `json:"covered"`  // of these, what a rebuild starts with
	Ready    int64 `json:"ready"`    // pods ready now, of workloads that have a coverage
	Declared int64 `json:"declared"` // pods that git declares of them
	Rebuilt  int64 `json:"rebuilt"`  // pods that a rebuild starts of them

	// With and Without are how long it would take until the last workload that
	// gets there by itself is at its need, with the checkpoints as they are and
	// without any; Stuck is how many would not get there by themselves.
	With         int64 `json:"withSeconds"`
	Without      int64 `json:"withoutSeconds"`
	StuckWith    int   `json:"stuckWith"`
	StuckWithout int   `json:"stuckWithout"`
}

// A Workload is the score of one workload.
type Workload struct {
	term.Named

	Live  *int32 `json:"live"`  // pods asked for now
	Ready *int32 `json:"ready"` // pods ready now
	// Need is what a rebuild should start with: the live count, or with rounding
	// by headroom as much of it as carries the load at 100 %.
	Need     *int32 `json:"need"`
	Declared *int32 `json:"declared"`           // by git, at the commit that was scored
	Proposed *int32 `json:"proposed,omitempty"` // by a pull request that nobody merged yet
	// RebuiltAt is what a rebuild starts it at, 0 where it is created paused, and
	// RebuiltBy the folder or policy that makes it so.
	RebuiltAt *int32 `json:"rebuiltAt"`
	RebuiltBy string `json:"rebuiltBy,omitempty"`

	// Coverage is the part of the need that a rebuild starts with, 0 to 1; null
	// where the need is unknown or none, where StartUnknown, or the workload is left
	// out by choice.
	Coverage *float64 `json:"coverage"`
	Low      bool     `json:"low"`     // below the threshold
	Missing  int32    `json:"missing"` // pods of the need that a rebuild does not start with
	// Unknown is why it is not known what it needs; "" where that is known, and
	// where nothing is asked of it.
	Unknown string `json:"unknown,omitempty"`

	// StartUnknown is true if the replicas that a rebuild starts it with are unknown.
	StartUnknown bool `json:"startUnknown,omitempty"`

	// Causes say why the coverage is below 1, or why there is none; the first is
	// the one that matters most. Empty where there is nothing to say.
	Causes []Cause `json:"causes"`

	// Checkpoint is since when git says the level that it declares; null where it
	// declares none, or where that could not be read.
	Checkpoint *Checkpoint `json:"checkpoint"`
	// Frozen is why the checkpoint does not follow the need; null is one that does.
	Frozen *Frozen `json:"frozen"`
	// Rollout is one in flight, or that git declares; null is none.
	Rollout *Rollout `json:"rollout"`
	// With and Without are how long a rebuild takes to its need, with what it
	// starts at and without any checkpoint; null where that cannot be said.
	With    *Estimate `json:"with"`
	Without *Estimate `json:"without"`

	Policy  string `json:"policy,omitempty"`  // name of the policy that decided
	InertBy string `json:"inertBy,omitempty"` // what keeps its checkpoint from acting on the live cluster
}

// A Cause is why a rebuild does not start a workload with what it needs.
type Cause struct {
	// Name is stable: a trap of doctor ("component-missing"), a reason of a
	// decision ("yield", "no-evidence"), or one of the causes below.
	Name string `json:"name"`
	Text string `json:"text"` // what is wrong, and what to do
}

// The causes that are neither a trap nor a reason of a decision, and the traps that
// are told apart.
const (
	CauseNotBuilt   = "not-built"    // nothing that could be built has the workload
	CauseProposed   = "not-merged"   // its level is in a pull request
	CauseRounded    = "rounded-down" // the policy rounds to less than the need
	CauseUndeclared = "not-declared" // git declares no level of it, and builds less
	CauseDeclared   = "declared-low" // git declares less than the need
	CauseBuiltLow   = "built-low"    // what is built has less than git declares
	CauseNotRunning = "not-running"  // git declares what does not run
	CauseQuota      = "quota"        // a ResourceQuota stops a rebuild; doctor's trap of that name
	CausePaused     = "paused"       // it is created paused, without pods; doctor's trap of that name
)

// cause is the name of the first, "" where there is none.
func (w Workload) cause() string {
	if len(w.Causes) == 0 {
		return ""
	}
	return w.Causes[0].Name
}

// Checkpoint is since when git says what it says.
type Checkpoint struct {
	Since time.Time `json:"since"`
	// OrBefore is true where it is older: the history was not read further.
	OrBefore   bool   `json:"orBefore,omitempty"`
	AgeSeconds int64  `json:"ageSeconds"`       // at the time of the drill
	Commit     string `json:"commit,omitempty"` // that set it; "" where OrBefore
}

// Frozen is why a latch stands still.
type Frozen struct {
	Reason string    `json:"reason"` // stable, as in a tick's report
	Text   string    `json:"text"`
	Since  time.Time `json:"since,omitzero"` // left out where it is not known
}

// Rollout is a rollout in flight, or one that git declares.
type Rollout struct {
	InFlight  bool   `json:"inFlight"`
	Target    string `json:"target,omitempty"` // hash of the template it is on its way to
	Available *int32 `json:"available"`        // pods of the target
	Desired   *int32 `json:"desired"`          // pods, of all templates
	Failure   string `json:"failure,omitempty"`
	Halted    string `json:"halted,omitempty"`

	// Milestone is what git declares of it, in percent; null where git declares
	// nothing of it, so that a rebuild begins with what the manifests say.
	Milestone *int32 `json:"milestone"`
	Phase     string `json:"phase,omitempty"` // progressing, halted, failed or returning
	// Returns is which template would return: "from", the one before, "to", the
	// new one, or "manifests", what git's own manifests say. Version is its images
	// by container ("app=registry/web:v1"), or its hash; "" is unknown. Text says
	// it in a sentence.
	Returns string `json:"returns"`
	Version string `json:"version,omitempty"`
	Text    string `json:"text"`
	// ByItself is true where a rebuild begins with it without anybody's doing; else
	// git's own manifests are what is created.
	ByItself bool `json:"byItself"`
}

// The values of Rollout.Returns.
const (
	ReturnsFrom      = "from"
	ReturnsTo        = "to"
	ReturnsManifests = "manifests"
)

// An Estimate is how long a rebuild takes to a need, by the Model.
type Estimate struct {
	From    int32 `json:"from"`            // pods it begins with, the autoscaler's min included
	Rounds  int   `json:"rounds"`          // of growth by the autoscaler
	Seconds int64 `json:"seconds"`         // 0 where Never
	Never   bool  `json:"never,omitempty"` // nothing would take it there by itself
}

// A LeftOut is why workloads that run are not scored.
type LeftOut struct {
	Reason    string `json:"reason"` // stable, as in a tick's report
	Text      string `json:"text"`
	Workloads int    `json:"workloads"`
}

// A Finding is one thing that a person should fix.
type Finding struct {
	Trap    string `json:"trap"`    // stable
	Subject string `json:"subject"` // a workload, a namespace, a folder or an object
	Text    string `json:"text"`
	// Workloads are those whose coverage it lowers, as "namespace/kind/name".
	Workloads []string `json:"workloads"`
	Missing   int64    `json:"missing"` // pods that these lack together
}

// Flush is what the drill wrote, before it scored.
type Flush struct {
	Exact bool `json:"exact"` // lowered too; else raised only
	// Commit is what was published, "" where there was nothing to say.
	Commit  string  `json:"commit,omitempty"`
	Subject string  `json:"subject,omitempty"` // of the commit or proposal
	Levels  []Level `json:"levels"`            // that the commit changed, or would have in a dry run
	// Proposal is the address of the pull request that the levels of Proposed went
	// into; it is not merged, and not scored.
	Proposal string  `json:"proposal,omitempty"`
	Proposed []Level `json:"proposed"`
	// Withheld are levels that the flush would have written but for a reason.
	Withheld []Level `json:"withheld"`
}

// A Level is a change of what git declares.
type Level struct {
	term.Named
	From   *int32 `json:"from"`             // null is no level
	To     *int32 `json:"to"`               // null is a retirement
	Reason string `json:"reason,omitempty"` // why it was withheld
	Text   string `json:"text"`
}

// Last compares with the last drill of the site.
type Last struct {
	At       time.Time `json:"at"`
	Commit   string    `json:"commit"`
	Coverage *float64  `json:"coverage"` // of the fleet, then
	Passed   bool      `json:"passed"`
	// Nothing is why no coverage was known then.
	Nothing string `json:"nothing,omitempty"`
	// Changes are the workloads whose coverage, level or first cause is another
	// now, those whose need halved or doubled or is known on one side only, those
	// that came and those that went; those that fell furthest first.
	Changes []Change `json:"changes"`
}

// A Change is what became of one workload since the last drill.
type Change struct {
	term.Named
	// What is "changed", "added" or "gone".
	What string `json:"what"`
	Then *Then  `json:"then"` // null where it was added
	Now  *Then  `json:"now"`  // null where it is gone
}

// Then is a workload at the time of one drill.
type Then struct {
	Need      *int32   `json:"need"`
	Declared  *int32   `json:"declared"`
	RebuiltAt *int32   `json:"rebuiltAt"`
	Coverage  *float64 `json:"coverage"`
	Cause     string   `json:"cause,omitempty"` // name of the first
}

// Model is what an Estimate is made by.
type Model struct {
	Text      string     `json:"text"` // in a few sentences
	Constants []Constant `json:"constants"`
}

// A Constant is one number of the Model.
type Constant struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

// A Link is where one form of the report is kept.
type Link struct {
	Form string `json:"form"` // json or html
	// URI is where it lies: "s3://bucket/key", or a path on disk. URL opens it
	// without rights of one's own until Until; "" is none.
	URI   string    `json:"uri"`
	URL   string    `json:"url,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Problem returns the document with a problem more; nil is none.
func (d Document) Problem(err error) Document {
	if err != nil {
		d.Problems = append(append([]string{}, d.Problems...), err.Error())
	}
	return d
}
