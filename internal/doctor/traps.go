package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
)

// limits notes what keeps a workload from the count that it needs, and a floor
// that was made of a checkpoint.
func (e *examination) limits(s *subject) {
	level, top := s.entry.Replicas, s.entry.Max
	if need := max(level, s.Live); top > 0 && need > top {
		e.lowers(s, MaxUnderNeed, s.ID.Short(), fmt.Sprintf("git accepts at most %d, and %d are needed: raise its max in the record once you accept that", top, need))
	}
	for _, o := range e.Overlays {
		for _, a := range o.Autoscalers {
			if a.Target == s.ID && s.entry.Min > 0 && a.Min == level && a.Min > s.entry.Min {
				e.find(MinAsCheckpoint, s.ID.Short(), fmt.Sprintf("minReplicas of %s in %s is its checkpoint of %d, where %d was accepted: a floor acts on the live cluster, and what is sampled never falls below it again; put %[4]d back",
					a.Name, o.Dir, level, s.entry.Min))
			}
		}
	}
}

// namespaces notes quotas that are too small for the checkpoints together.
func (e *examination) namespaces() {
	sums := map[string]int64{}
	for id, entry := range e.Tree.Entries() {
		sums[id.Namespace] += int64(entry.Replicas)
	}
	for _, q := range e.Cluster.quotas {
		for _, resource := range []string{"pods", "count/pods"} {
			for name, hard := range q.Spec.Hard {
				if sum := sums[q.Namespace]; string(name) == resource && sum > hard.Value() {
					e.report.Room[q.Namespace] = least(e.report.Room, q.Namespace, hard.Value())
					e.find(Quota, q.Namespace, fmt.Sprintf("its checkpoints ask for %d pods together, and ResourceQuota %s allows %s %s: a rebuild stops there; raise it", sum, q.Name, hard.String(), resource))
				}
			}
		}
	}
}

// least is the lower of a number and the one that is there.
func least(of map[string]int64, key string, n int64) int64 {
	if there, ok := of[key]; ok {
		return min(there, n)
	}
	return n
}

// overlays notes what is wrong with the folders that are built.
func (e *examination) overlays() {
	for _, o := range e.Overlays {
		sites := map[string]bool{}
		for _, f := range o.Folders {
			if len(f.Replicas) > 0 {
				e.find(KustomizeReplicas, f.Dir, fmt.Sprintf("replicas: of %s goes by name alone, through all namespaces, and fails the build once a name is gone: use the Component", strings.Join(f.Replicas, ", ")))
			}
			for _, c := range f.Components {
				if part := strings.Split(c, "/"); len(part) > 2 && part[0] == "checkpoints" {
					sites[part[1]] = true
				}
			}
		}
		if len(sites) > 1 {
			e.find(TwoSites, o.Dir, fmt.Sprintf("it includes Components of %s: each cluster's overlay includes those of its own site alone", strings.Join(slices.Sorted(maps.Keys(sites)), " and ")))
		}
		switch records := checkpoint.Directory(e.Site); {
		case o.Err == nil:
		case o.Dir == records:
			e.find(BuildFails, o.Dir, fmt.Sprintf("%s applies it, and of what it holds a cluster takes */checkpoint.yaml alone: let spec.ignore of the GitRepository, or directory.include of the Application, leave out the rest (%v)", o.By, o.Err))
		case sites[e.Site] || o.By == ByPath:
			e.find(BuildFails, o.Dir, o.Err.Error())
		}
	}
}

// ByPath is the By of a folder that a person names.
const ByPath = "--path"
