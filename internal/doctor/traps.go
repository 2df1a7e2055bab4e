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
		e.lowers(s, MaxUnderNeed, s.ID.Short(), fmt.Sprintf("Git accepts at most %d replicas, and the workload needs %d.", top, need),
			fmt.Sprintf("set %s.%s_max: \"%d\" in %s", s.ID.Kind, s.ID.Name, need, checkpoint.RecordPath(e.Site, s.ID.Namespace)))
	}
	for _, f := range e.floors(s) {
		if f.holds(level, s.entry.Min) {
			e.find(MinAsCheckpoint, s.ID.Short(), fmt.Sprintf("%s is %d, but the accepted minimum is %d and the level is %d. A minimum acts on the live cluster, so the level never falls below it again.",
				f.of, f.min, s.entry.Min, level),
				fmt.Sprintf("set the minimum to %d again, or set %s.%s_min: \"%d\" in %s", s.entry.Min, s.ID.Kind, s.ID.Name, f.min, checkpoint.RecordPath(e.Site, s.ID.Namespace)))
		}
	}
}

// A floor is a min of an autoscaler, in pods.
type floor struct {
	of  string
	min int32
}

// floors are those that builds give a workload, or else the one that it has.
func (e *examination) floors(s *subject) (all []floor) {
	for _, o := range e.Overlays {
		for _, a := range o.Autoscalers {
			if a.Target == s.ID {
				all = append(all, floor{"minReplicas of " + a.Name + " in " + o.Dir, a.Min})
			}
		}
	}
	if len(all) == 0 && s.sample != nil && s.sample.Scale != nil {
		all = append(all, floor{"The live minimum of its autoscaler", s.sample.Scale.Min})
	}
	return all
}

// ordinary is how many times the accepted min a person may state without that it
// is taken for a checkpoint, as long as it is below the level: three pods instead
// of one are for three zones, and twice as many are for twice the traffic.
const ordinary = 4

// holds reports whether a floor does what a checkpoint is for. At the level or
// above it is no lower than what a rebuild would have. From half of the level on
// the next level down, at most, is left to fall to; that is taken for meant where
// the floor is far above the accepted one, too.
func (f floor) holds(level, accepted int32) bool {
	if accepted == 0 || level == 0 || f.min <= accepted {
		return false
	}
	return f.min >= level || int64(f.min)*2 >= int64(level) && int64(f.min) >= int64(accepted)*ordinary
}

// overlays notes what is wrong with the folders that are built.
func (e *examination) overlays() {
	for _, o := range e.Overlays {
		sites := map[string]bool{}
		for _, f := range o.Folders {
			if len(f.Replicas) > 0 {
				e.find(KustomizeReplicas, f.Dir, fmt.Sprintf("replicas: of %s matches names in all namespaces, and the build fails when a name is gone.", strings.Join(f.Replicas, ", ")),
					"remove replicas from its kustomization, and include the Component")
			}
			for _, c := range f.Components {
				if part := strings.Split(c, "/"); len(part) > 2 && part[0] == "checkpoints" {
					sites[part[1]] = true
				}
			}
		}
		if len(sites) > 1 {
			e.find(TwoSites, o.Dir, fmt.Sprintf("The overlay includes Components of %s.", strings.Join(slices.Sorted(maps.Keys(sites)), " and ")),
				"remove the Components of the other site from components")
		}
		switch records := checkpoint.Directory(e.Site); {
		case o.Err == nil:
		case o.Dir == records:
			e.find(BuildFails, o.Dir, fmt.Sprintf("%s applies this folder, and a cluster accepts only */checkpoint.yaml from it (%v).", o.By, o.Err),
				"exclude the other files with spec.ignore of the GitRepository, or set directory.include: \"*/checkpoint.yaml\" in the Application")
		case sites[e.Site] || o.By == ByPath:
			e.find(BuildFails, o.Dir, o.Err.Error(), o.fix())
		}
	}
}

// fix is the remedy for an overlay that does not build.
func (o Overlay) fix() string {
	return "correct the error, and check it with: kustomize build " + o.Dir
}

// ByPath is the By of a folder that a person names.
const ByPath = "--path"
