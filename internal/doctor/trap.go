package doctor

// A Finding is a problem that a user should fix.
type Finding struct {
	Trap    Trap   `json:"trap"`
	Subject string `json:"subject"` // a workload, a namespace, a folder or an object
	Text    string `json:"text"`    // the problem and its reason
	Fix     string `json:"fix"`     // the remedy, if possible a command or a field to paste
}

// A Trap is a stable name for a kind of finding.
type Trap string

// The traps, in four groups: the wrong cluster, so that the other findings may not apply
// to the site; a level can act on the live cluster; a rebuild does not start a workload
// at its level; other problems.
const (
	OtherCluster Trap = "other-cluster"

	PolicyOnUpdate   Trap = "policy-on-update"
	CountDropped     Trap = "count-dropped"
	NoRule           Trap = "no-ignore-rule"
	RuleWithoutGroup Trap = "rule-without-group"
	NotRespected     Trap = "not-respected"
	OptionNotRead    Trap = "option-not-read"
	RuleNarrowed     Trap = "rule-narrowed"
	SSA              Trap = "ssa"
	MinAsCheckpoint  Trap = "min-as-checkpoint"
	OtherDestination Trap = "other-destination"
	OtherRepository  Trap = "other-repository"
	OtherRevision    Trap = "other-revision"
	NotReconciling   Trap = "not-reconciling"
	NoApplier        Trap = "no-applier"

	FailsClosed      Trap = "policy-fails-closed"
	BuildFails       Trap = "build-fails"
	Paused           Trap = "paused"
	TwoSites         Trap = "two-sites"
	ListIgnored      Trap = "list-ignored"
	ListForeign      Trap = "list-not-updated"
	KindDiffers      Trap = "kind-differs"
	ComponentMissing Trap = "component-missing"
	RecordNotApplied Trap = "record-not-applied"
	PolicyNotInGit   Trap = "policy-not-in-git"
	NotBuilt         Trap = "not-built"
	PatchSkipped     Trap = "patch-matches-nothing"
	BeforePrefix     Trap = "matched-before-prefix"
	Overridden       Trap = "overridden"
	ReplicasReset    Trap = "replicas-reset"
	StatedCount      Trap = "stated-count"
	ChartGuard       Trap = "chart-guard"
	Quota            Trap = "quota"
	MaxUnderNeed     Trap = "max-under-need"

	BrakeOverwritten  Trap = "brake-overwritten"
	HelmConflict      Trap = "helm-conflict"
	StaleCounts       Trap = "stale-counts"
	KustomizeReplicas Trap = "kustomize-replicas"
	ReviewWithoutHost Trap = "review-without-host"
)

// worst lists all traps, the most severe first.
var worst = []Trap{
	OtherCluster,
	PolicyOnUpdate, CountDropped, NoRule, RuleWithoutGroup, NotRespected, OptionNotRead, RuleNarrowed, SSA, MinAsCheckpoint,
	OtherDestination, OtherRepository, OtherRevision, NotReconciling, NoApplier,
	FailsClosed, BuildFails, Paused, TwoSites, ListIgnored, ListForeign, KindDiffers, ComponentMissing, RecordNotApplied, PolicyNotInGit,
	NotBuilt, PatchSkipped, BeforePrefix,
	Overridden, ReplicasReset, StatedCount, ChartGuard, Quota, MaxUnderNeed,
	BrakeOverwritten, HelmConflict, StaleCounts, KustomizeReplicas, ReviewWithoutHost,
}
