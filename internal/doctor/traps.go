package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/gitops"
)

// limits reports a maximum that is too low for a workload, and a minimum that serves as a
// checkpoint.
func (e *examination) limits(s *subject) {
	level, top := s.entry.Replicas, s.entry.Max
	if need := max(level, s.Live); top > 0 && need > top {
		e.lowers(s, MaxUnderNeed, s.ID.String(), fmt.Sprintf("The maximum in git is %d replicas, but the workload needs %d replicas.", top, need),
			fmt.Sprintf("set %s.%s_max: \"%d\" in %s", s.ID.Kind, s.ID.Name, need, checkpoint.RecordPath(e.Site, s.ID.Namespace)))
	}
	for _, f := range e.floors(s) {
		if f.holds(level, s.entry.Min) {
			e.find(MinAsCheckpoint, s.ID.String(), fmt.Sprintf("%s is %d, the minimum in git is %d, and the level is %d. Because the minimum applies to the live cluster, the live replicas and the level never fall below %[2]d.",
				f.of, f.min, s.entry.Min, level),
				fmt.Sprintf("set the minimum of the autoscaler back to %d, or set %s.%s_min: \"%d\" in %s", s.entry.Min, s.ID.Kind, s.ID.Name, f.min, checkpoint.RecordPath(e.Site, s.ID.Namespace)))
		}
	}
}

// A floor is the minimum of an autoscaler, in pods.
type floor struct {
	of  string
	min int32
}

// floors returns the minimums of a workload's autoscalers in the builds, or else the live
// minimum.
func (e *examination) floors(s *subject) (all []floor) {
	for _, a := range e.scalers[s.ID] {
		field := "minReplicas"
		if a.ID.Kind == gitops.ScaledObject {
			field = "minReplicaCount"
		}
		if a.in != nil {
			all = append(all, floor{fmt.Sprintf("%s of %s in %s", field, a.ID.Name, a.in.Dir), a.Min})
		}
	}
	if len(all) == 0 && s.sample != nil && s.sample.Scale != nil {
		all = append(all, floor{"The live minimum of its autoscaler", s.sample.Scale.Min})
	}
	return all
}

// ordinary is a factor. A minimum below the level is a finding only if it is at least
// ordinary times the accepted minimum. Smaller minimums have ordinary reasons: three pods
// instead of one for three zones, or twice the pods for twice the traffic.
const ordinary = 4

// holds reports whether a minimum serves as a checkpoint. A minimum at the level or above
// does, because the workload cannot fall below the level. A lower minimum does if it is
// at least half the level and far above the accepted minimum (see ordinary).
func (f floor) holds(level, accepted int32) bool {
	if accepted == 0 || level == 0 || f.min <= accepted {
		return false
	}
	return f.min >= level || int64(f.min)*2 >= int64(level) && int64(f.min) >= int64(accepted)*ordinary
}

// overlays reports problems of the folders that doctor builds.
func (e *examination) overlays() {
	for _, o := range e.Overlays {
		for _, f := range o.Folders {
			if len(f.Replicas) > 0 {
				e.find(KustomizeReplicas, f.Dir, fmt.Sprintf("The replicas field of the kustomization sets the replicas of %s by name. The field matches workloads in all namespaces, and the build fails if no workload has the name.", strings.Join(f.Replicas, ", ")),
					"remove the replicas field from the kustomization in "+f.Dir+", and include the Component")
			}
		}
		if len(o.Sites) > 1 {
			e.find(TwoSites, o.Dir, fmt.Sprintf("The folder includes the checkpoint files or Components of more than one site: %s.", strings.Join(o.Sites, " and ")),
				"remove the files of every site except "+e.Site+" from resources and components of the kustomization in "+o.Dir)
		}
		records := o.Dir == checkpoint.Directory(e.Site)
		if records && o.Dropped {
			e.find(ListIgnored, o.Dir, fmt.Sprintf("%s applies this folder, but a rule of its source excludes kustomization.yaml. The tool therefore applies every checkpoint file, and fails if a user deletes a namespace.", o.By),
				fmt.Sprintf("include the file in %s, in spec.ignore of the GitRepository, or in directory.include of the Application", sourceIgnore))
			continue
		}
		switch {
		case o.Err == nil:
		case records && o.Generated:
			e.find(BuildFails, o.Dir, fmt.Sprintf("%s applies this folder, but the folder does not contain a kustomization.yaml (%v).", o.By, o.Err), "run \"gitlatch init\", which writes this file")
		case records, slices.Contains(o.Sites, e.Site), o.By == ByPath:
			e.find(BuildFails, o.Dir, o.Err.Error(), o.fix())
		}
	}
}

// fix returns the remedy for an overlay that does not build.
func (o Overlay) fix() string {
	return "correct the error, and check it with: kustomize build " + o.Dir
}

// ByPath is the By of a folder that a user names, by the flag or in the configuration.
const ByPath = "--path"
