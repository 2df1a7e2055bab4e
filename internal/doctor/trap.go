package doctor

import (
	"slices"
)

// A Finding is a problem that a user should fix, or an unknown answer. Equal findings about
// several objects are one finding.
type Finding struct {
	Trap     Trap     `json:"trap"`
	Basis    Basis    `json:"basis"`
	Subjects []string `json:"subjects"`           // workloads, namespaces or objects, sorted
	Text     string   `json:"text"`               // the problem and its reason
	Fix      string   `json:"fix"`                // the remedy, if possible a command or a field to paste
	Manifest string   `json:"manifest,omitempty"` // the objects of the remedy, to be applied
}

// A Trap is a stable name for a kind of finding.
type Trap string

// The traps, in four groups: the reading itself; the way of a level into the cluster; the
// workload in a rebuild; other problems.
const (
	OtherCluster  Trap = "other-cluster"
	OtherSite     Trap = "other-site"
	MissingRights Trap = "missing-rights"
	NotRead       Trap = "not-read"

	TooOld         Trap = "kubernetes-too-old"
	PolicyDiffers  Trap = "policy-differs"
	BindingDiffers Trap = "binding-differs"
	KindNotCovered Trap = "kind-not-covered"
	NotApplied     Trap = "not-applied"
	NotFirst       Trap = "order-unknown"
	MarkMissing    Trap = "created-too-early"

	OwnerMissing     Trap = "owner-missing"
	OwnerSuspended   Trap = "owner-suspended"
	OwnerNotReady    Trap = "owner-not-ready"
	OwnerManual      Trap = "owner-syncs-manually"
	NoOwner          Trap = "no-owner"
	AdmissionRefuses Trap = "admission-refuses"
	AdmissionUnknown Trap = "admission-unknown"
	StatesZero       Trap = "manifest-states-zero"
	Paused           Trap = "paused"
	ReplicasReset    Trap = "replicas-reset"
	ManifestUnknown  Trap = "manifest-unknown"
	Quota            Trap = "quota"
	MaxUnderNeed     Trap = "max-under-need"

	KindDiffers       Trap = "kind-differs"
	ReviewWithoutHost Trap = "review-without-host"
)

// worst lists all traps, the most severe first.
var worst = []Trap{
	OtherCluster, OtherSite, MissingRights, NotRead,
	TooOld, PolicyDiffers, BindingDiffers, KindNotCovered, NotApplied, NotFirst, MarkMissing,
	OwnerMissing, OwnerSuspended, OwnerNotReady, OwnerManual, NoOwner,
	AdmissionRefuses, AdmissionUnknown, StatesZero, Paused, ReplicasReset, ManifestUnknown, Quota, MaxUnderNeed,
}

// merged adds a finding to a list. Findings that differ only in their subjects are one.
func merged(all []Finding, f Finding) []Finding {
	i := slices.IndexFunc(all, func(one Finding) bool { return one.Trap == f.Trap && one.Text == f.Text && one.Fix == f.Fix })
	if i < 0 {
		return append(all, f)
	}
	all[i].Subjects = slices.Compact(append(all[i].Subjects, f.Subjects...))
	return all
}
