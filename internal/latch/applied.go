package latch

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
)

// An Applied is the memory of the hourly check that the cluster has the levels in git. The
// zero value is a site without a check.
type Applied struct {
	At time.Time `json:"at,omitzero"` // of the last check; zero before the first
	// Unsupported is true if the cluster had a version below Kubernetes 1.36. The other fields
	// are then zero.
	Unsupported bool `json:"unsupported,omitzero"`
	// Unknown are the reasons of the parts that the last check could not read, sorted. The
	// other fields then have the result of the last check that read these parts.
	Unknown []string `json:"unknown,omitzero"`
	// Other is the site whose identity the cluster has; "" if it is not another site.
	Other string `json:"other,omitzero"`
	// Oldest are the differences that lasted longest, at most MostDifferences. More is the
	// number of other differences.
	Oldest []Lasting `json:"oldest,omitzero"`
	More   int       `json:"more,omitzero"`
}

// MostDifferences is the maximum number of differences in an Applied. With it, the head of a
// site is small for any number of workloads, and a user sees enough of them to find the cause.
const MostDifferences = 20

// A Lasting is a difference and its age.
type Lasting struct {
	admission.Difference

	// GitSince is the instant of the first check in a row that found the difference with this
	// value in git, and ClusterSince with this value in the cluster.
	GitSince     time.Time `json:"gitSince"`
	ClusterSince time.Time `json:"clusterSince"`
	// Late is true if the difference lasted too long at the last check that read it.
	Late bool `json:"late,omitzero"`
}

// Since returns the earlier of both instants.
func (l Lasting) Since() time.Time {
	if l.ClusterSince.Before(l.GitSince) {
		return l.ClusterSince
	}
	return l.GitSince
}
