package drill

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor/room"
	"github.com/gitlatch/gitlatch/internal/term"
)

// Kind is the kind of a Document.
const Kind = "Drill"

// A Document is the result of a drill. Its shape is stable: later versions add fields and
// never change existing ones. All times are RFC 3339 in UTC. Lists are never null.
// Replica counts are in pods; null means that the count is unknown or does not exist.
type Document struct {
	term.Document
	Site    string    `json:"site"`
	Cluster string    `json:"cluster"` // UID of the kube-system namespace; "" is unknown
	At      time.Time `json:"at"`      // time of the sample
	Mode    string    `json:"mode"`    // latch or observe; in observe mode, the drill writes nothing and scores git unchanged
	DryRun  bool      `json:"dryRun"`  // the drill wrote nothing and scored git unchanged

	Branch string `json:"branch"`
	Commit string `json:"commit"` // that was scored

	// MinCoverage is the coverage that the fleet requires to pass. A workload below it is
	// low. Passed is true if the proven coverage is at least MinCoverage, no need is
	// unknown, Unread is empty, MassDrop is false, and Fit is not "does not fit".
	MinCoverage float64 `json:"minCoverage"`
	Passed      bool    `json:"passed"`

	// MassDrop is true if many workloads halved at once and have not recovered. The need
	// then only covers the remaining pods, so the drill proves nothing.
	MassDrop bool `json:"massDrop"`
	// Notices are reasons to trust the coverage less. They include a mass drop.
	Notices []string `json:"notices"`

	Fleet Fleet `json:"fleet"`
	// Fit is the answer to the question whether the pods of a rebuild fit its limits. It is
	// null in documents of older versions.
	Fit *room.Report `json:"fit"`
	// Workloads are the workloads that the policy latches or that have a level in git.
	// They are sorted by missing pods, most first, and then by coverage, lowest first.
	// Workloads without a coverage come last.
	Workloads []Workload `json:"workloads"`
	// Cut is the number of workloads that a short answer leaves out. The saved document
	// lists all of them.
	Cut int `json:"cut,omitempty"`
	// LeftOut counts the live workloads that the drill does not score, by reason.
	LeftOut []LeftOut `json:"leftOut"`
	// Findings are the findings of doctor, the worst first.
	Findings []Finding `json:"findings"`

	Flush Flush `json:"flush"`
	// Marks counts the workloads that were created with their level. It is null unless the
	// cluster is another one than the site's, as after a rebuild.
	Marks *checkpoint.Marks `json:"marks"`

	// Last lists the changes since the last drill of the site. It is null if there was no
	// earlier drill.
	Last *Last `json:"last"`
	// Model explains how the seconds until full capacity are estimated.
	Model Model `json:"model"`

	// Links are the places where the report is saved.
	Links []Link `json:"links"`

	// Unread are the parts of the cluster and of the repository that could not be read.
	// Problems are errors for a user to fix. The drill continued despite both.
	Unread   []string `json:"unread"`
	Problems []string `json:"problems"`
}

// Fleet is the score of all workloads of the site.
type Fleet struct {
	// Coverage is the proven part of the known need that a rebuild starts with, 0 to 1. The
	// surplus of one workload does not offset the missing pods of another. AtMost is the
	// coverage if each unknown start is at its highest. Both are null if the need is unknown;
	// Nothing is then the reason.
	Coverage *float64 `json:"coverage"`
	AtMost   *float64 `json:"coverageAtMost"`
	Nothing  string   `json:"nothing,omitempty"`

	Workloads int `json:"workloads"` // workloads with a coverage
	Full      int `json:"full"`      // workloads with a coverage of 1
	Low       int `json:"low"`       // workloads below the threshold
	Unscored  int `json:"unscored"`  // listed workloads without a coverage
	// Unknown is the number of workloads with a coverage whose start is unknown. Stated is
	// the number of those whose start depends on a user's statement.
	Unknown int `json:"unknown"`
	Stated  int `json:"stated"`
	// NeedUnknown is the number of unscored workloads with an unknown need. The numbers
	// of pods do not include them.
	NeedUnknown int `json:"needUnknown"`
	Frozen      int `json:"frozen"`
	Rollouts    int `json:"rollouts"` // workloads with a rollout in flight or in git

	Need    int64 `json:"need"`    // pods
	Covered int64 `json:"covered"` // pods of Need that a rebuild provably starts with
	// CoveredAtMost is Covered if each unknown start is at its highest. BareAtLeast and
	// BareAtMost are the limits of the same number without gitlatch.
	CoveredAtMost int64 `json:"coveredAtMost"`
	BareAtLeast   int64 `json:"coveredWithoutGitlatchAtLeast"`
	BareAtMost    int64 `json:"coveredWithoutGitlatchAtMost"`

	Ready    int64 `json:"ready"`    // ready pods of the workloads with a coverage
	Declared int64 `json:"declared"` // pods in git of the workloads with a coverage
	Rebuilt  int64 `json:"rebuilt"`  // pods that a rebuild provably starts for the workloads with a coverage
	Live     int64 `json:"live"`     // desired pods now of the workloads with a coverage

	// Surplus is the number of pods of Rebuilt beyond the desired pods of their workload.
	// Autoscalers lower them after one scale-down window. SurplusStuck is the part of
	// Surplus in workloads without an autoscaler.
	Surplus      int64 `json:"surplus"`
	SurplusStuck int64 `json:"surplusStuck"`

	// With is the time until the last workload has all the pods that it needs, if each
	// unknown start is at its lowest. Without is the same time without gitlatch, if each
	// unknown start is at its highest. Both leave
	// out workloads that never get there without help; StuckWith and StuckWithout count
	// those.
	With         int64 `json:"withSeconds"`
	Without      int64 `json:"withoutSeconds"`
	StuckWith    int   `json:"stuckWith"`
	StuckWithout int   `json:"stuckWithout"`
}

// A Workload is the score of one workload.
type Workload struct {
	term.Named

	Live  *int32 `json:"live"`  // desired pods now
	Ready *int32 `json:"ready"` // ready pods now
	// Need is the number of pods that a rebuild should start with: the desired pods, or
	// with round: headroom the number of pods that carries the load at 100 %.
	Need     *int32 `json:"need"`
	Declared *int32 `json:"declared"`           // level in git at the scored commit
	Proposed *int32 `json:"proposed,omitempty"` // level in a pull request that is not merged
	// Start is the number of pods that a rebuild starts. Bare is the number without gitlatch.
	Start Start `json:"start"`
	Bare  Start `json:"startWithoutGitlatch"`

	// Coverage is the part of the need that a rebuild provably starts with, 0 to 1. It is null
	// if the need is unknown or 0, or if a user opted the workload out.
	Coverage *float64 `json:"coverage"`
	Low      bool     `json:"low"`     // below the threshold
	Missing  int32    `json:"missing"` // pods of the need that are not proven to start
	Surplus  int32    `json:"surplus"` // pods that a rebuild provably starts beyond the desired pods now
	// SurplusStuck is true if the workload has no autoscaler that lowers the surplus.
	SurplusStuck bool `json:"surplusStuck,omitempty"`
	// Unknown is the reason why the need is unknown, or "". It is also "" for a workload
	// that is not latched and not in git.
	Unknown string `json:"unknown,omitempty"`

	// Causes are the reasons for a coverage below 1 or for a missing coverage, the most
	// important first. The list may be empty.
	Causes []Cause `json:"causes"`

	// Checkpoint is the age of the level in git. It is null if git has no level, or if
	// the history could not be read.
	Checkpoint *Checkpoint `json:"checkpoint"`
	// Frozen is the reason why the latch is frozen; null if it is not frozen.
	Frozen *Frozen `json:"frozen"`
	// Rollout is a rollout that is in flight or in git; null if there is neither.
	Rollout *Rollout `json:"rollout"`
	// With is the estimated time until a rebuild has started all pods of the need.
	// Without is the same estimate without any checkpoint. Both are null if no estimate
	// is possible.
	With    *Estimate `json:"with"`
	Without *Estimate `json:"without"`

	Policy string `json:"policy,omitempty"` // name of the policy that applies
}

// A Start is a number of pods that a rebuild starts a workload with.
type Start struct {
	Basis   string `json:"basis"`   // observed, stated (by a user) or unknown
	AtLeast int32  `json:"atLeast"` // pods
	AtMost  int32  `json:"atMost"`  // pods; more than AtLeast only if Basis is unknown
	Text    string `json:"text"`    // the reason, such as "floor 50 (admission not tried)"
}

// Unknown is the basis of an unknown start, and Stated of one that a user states.
const (
	Unknown = "unknown"
	Stated  = "stated"
)

// String returns the number, or both limits: "50", "0 to 50".
func (s Start) String() string { return limits(int64(s.AtLeast), int64(s.AtMost)) }

// A Cause is a reason why a rebuild starts a workload with fewer pods than it needs.
type Cause struct {
	// Name is stable: a trap of doctor ("not-applied"), a reason of a decision
	// ("yield", "budget"), or one of the constants below.
	Name string `json:"name"`
	Text string `json:"text"`
	Fix  string `json:"fix,omitempty"` // the remedy; "" for no remedy
}

// The causes that are not a trap or a reason of a decision, and traps that other code
// refers to.
const (
	CauseProposed   = "not-merged"   // the level is in a pull request that is not merged
	CauseRounded    = "rounded-down" // the policy rounds to less than the need
	CauseUndeclared = "not-declared" // git has no level, and a rebuild starts fewer pods than the need
	CauseDeclared   = "declared-low" // the level in git is lower than the need
	CauseNotRunning = "not-running"  // git has a level, but the cluster does not have the workload
	CauseQuota      = "quota"        // a ResourceQuota limits a rebuild; doctor has a trap with this name
)

// cause returns the name of the first cause, or "" if the list is empty.
func (w Workload) cause() string {
	if len(w.Causes) == 0 {
		return ""
	}
	return w.Causes[0].Name
}

// Checkpoint is the age of a level in git.
type Checkpoint struct {
	Since time.Time `json:"since"`
	// OrBefore is true if the level may be older, because the history was not read
	// further.
	OrBefore   bool   `json:"orBefore,omitempty"`
	AgeSeconds int64  `json:"ageSeconds"`       // at the time of the drill
	Commit     string `json:"commit,omitempty"` // commit that set the level; "" if OrBefore
}

// Frozen is the reason why a latch is frozen.
type Frozen struct {
	Reason string    `json:"reason"` // stable, as in the report of a tick
	Text   string    `json:"text"`
	Since  time.Time `json:"since,omitzero"` // left out if unknown
}

// Rollout is a rollout that is in flight or in git.
type Rollout struct {
	InFlight  bool   `json:"inFlight"`
	Target    string `json:"target,omitempty"` // hash of the template that replaces the old one
	Available *int32 `json:"available"`        // available pods of the target
	Desired   *int32 `json:"desired"`          // desired pods of all templates
	Failure   string `json:"failure,omitempty"`
	Halted    string `json:"halted,omitempty"`

	// Milestone is the progress in git, in percent. It is null if git has no entry for
	// the rollout; a rebuild then starts with the template of the manifests.
	Milestone *int32 `json:"milestone"`
	Phase     string `json:"phase,omitempty"` // progressing, halted, failed or returning
	// Returns is the template that a rebuild should start with: "from" is the old one,
	// "to" the new one, and "manifests" the one in git's own manifests. Version is the
	// images of this template by container ("app=registry/web:v1"), or its hash; "" is
	// unknown. Text describes the same in a sentence.
	Returns string `json:"returns"`
	Version string `json:"version,omitempty"`
	Text    string `json:"text"`
	// ByItself is true if a rebuild starts with this template without help. If it is
	// false, a rebuild creates the template of git's own manifests.
	ByItself bool `json:"byItself"`
}

// The values of Rollout.Returns.
const (
	ReturnsFrom      = "from"
	ReturnsTo        = "to"
	ReturnsManifests = "manifests"
)

// An Estimate is the time that a rebuild takes to start all pods of a need, by the Model.
type Estimate struct {
	From    int32 `json:"from"`            // pods at the start, at least the autoscaler's minimum
	Rounds  int   `json:"rounds"`          // rounds in which the autoscaler adds pods
	Seconds int64 `json:"seconds"`         // 0 if Never
	Never   bool  `json:"never,omitempty"` // no autoscaler would add the missing pods
}

// A LeftOut is a reason why live workloads are not scored.
type LeftOut struct {
	Reason    string `json:"reason"` // stable, as in the report of a tick
	Text      string `json:"text"`
	Workloads int    `json:"workloads"`
}

// A Finding is a problem for a user to fix.
type Finding struct {
	Trap     string   `json:"trap"`     // stable
	Basis    string   `json:"basis"`    // observed or unknown
	Subjects []string `json:"subjects"` // workloads, namespaces or objects
	Text     string   `json:"text"`
	Fix      string   `json:"fix"` // the remedy
	// Manifest has the objects of the remedy; "" without objects.
	Manifest string `json:"manifest,omitempty"`
	// Workloads are the workloads whose coverage it lowers, as "namespace/kind/name".
	Workloads []string `json:"workloads"`
	Missing   int64    `json:"missing"` // missing pods of these workloads
}

// Flush is the result of the flush before the score.
type Flush struct {
	// Commit is the commit of the flush, or "" if the flush changed no level.
	Commit  string  `json:"commit,omitempty"`
	Subject string  `json:"subject,omitempty"` // of the commit or proposal
	Levels  []Level `json:"levels"`            // levels that the commit changed, or would change in a dry run
	// Proposal is the address of the pull request with the levels in Proposed. The pull
	// request is not merged, so its levels are not scored.
	Proposal string  `json:"proposal,omitempty"`
	Proposed []Level `json:"proposed"`
	// Withheld are the levels that the flush did not write, each with its reason.
	Withheld []Level `json:"withheld"`
}

// A Level is a level change in git.
type Level struct {
	term.Named
	From   *int32 `json:"from"`             // null if git had no level
	To     *int32 `json:"to"`               // null if the level is removed
	Reason string `json:"reason,omitempty"` // reason why the level was not written
	Text   string `json:"text"`
}

// Last compares the drill with the last drill of the site.
type Last struct {
	At       time.Time `json:"at"`
	Commit   string    `json:"commit"`
	Coverage *float64  `json:"coverage"` // coverage of the fleet at that time
	Passed   bool      `json:"passed"`
	// Fit is the answer at that time; left out if it was unknown.
	Fit room.Answer `json:"fit,omitzero"`
	// Nothing is the reason why the coverage was unknown at that time.
	Nothing string `json:"nothing,omitempty"`
	// Changes are the workloads that were added or removed since, and those whose
	// coverage, level or first cause changed. They also include workloads whose need
	// halved or doubled, or became known or unknown. The largest loss of coverage comes
	// first.
	Changes []Change `json:"changes"`
}

// A Change is the change of one workload since the last drill.
type Change struct {
	term.Named
	// What is "changed", "added" or "gone".
	What string `json:"what"`
	Then *Then  `json:"then"` // null if the workload was added
	Now  *Then  `json:"now"`  // null if the workload is gone
}

// Then is the state of a workload at the time of one drill.
type Then struct {
	Need     *int32   `json:"need"`
	Declared *int32   `json:"declared"`
	Start    Start    `json:"start"`
	Coverage *float64 `json:"coverage"`
	Cause    string   `json:"cause,omitempty"` // name of the first cause
}

// Model describes how an Estimate is made.
type Model struct {
	Text      string     `json:"text"` // the model in a few sentences
	Constants []Constant `json:"constants"`
}

// A Constant is one number of the Model.
type Constant struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Source string  `json:"source"`
}

// A Link is the place of one form of the report.
type Link struct {
	Form string `json:"form"` // json or html
	// URI is its place: "s3://bucket/key", or a path on disk. URL opens it for everyone
	// until Until; "" if there is no such address.
	URI   string    `json:"uri"`
	URL   string    `json:"url,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Problem returns the document with err added to its problems, unless err is nil.
func (d Document) Problem(err error) Document {
	if err != nil {
		d.Problems = append(append([]string{}, d.Problems...), err.Error())
	}
	return d
}
