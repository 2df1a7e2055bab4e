package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// lose removes from a fleet the parts that the sampler of internal/kube leaves out
// while it cannot list a part of the cluster, such as "deployments".
func lose(f *workload.Fleet, part string) error {
	if part == "namespace kube-system" {
		f.Cluster = ""
		return nil
	}
	for _, kind := range f.Kinds.All() {
		if part == listed(f.Kinds, kind) {
			f.Samples = slices.DeleteFunc(f.Samples, func(s workload.Sample) bool { return s.ID.Kind == kind })
			return nil
		}
	}
	// "replicasets of shop/web" are the ReplicaSets of one workload.
	resource, of, _ := strings.Cut(part, " of ")
	forget, ok := forgets[resource]
	if !ok {
		return fmt.Errorf("no part of a cluster is called %q", part)
	}
	for i := range f.Samples {
		if s := &f.Samples[i]; of == "" || s.ID.Short() == of {
			forget(s, resource+" could not be listed")
		}
	}
	return nil
}

// listed returns the name of a LIST of workloads that could not be listed.
func listed(kinds workload.Kinds, kind workload.Kind) string {
	o, _ := kinds.Object(kind)
	if _, named := kinds[kind]; named {
		return o.FullResource()
	}
	return o.Resource
}

// forgets are the parts with information about workloads in other lists. Each function
// removes the information that is unknown without the part.
var forgets = map[string]func(s *workload.Sample, why string){
	// They hold the bounds of a scale, and what drives it.
	"horizontalpodautoscalers": func(s *workload.Sample, why string) {
		if s.ID.Kind.Scales() && s.Unknown == "" {
			s.Scale, s.Unknown = nil, why
		}
	},
	// The HPA of KEDA for a ScaledObject has the same values, except for a floor of 0.
	"scaledobjects": func(s *workload.Sample, _ string) {
		if s.Scale != nil && s.Scale.Driver == workload.DrivenByKEDA {
			scale := *s.Scale
			scale.Min = max(1, scale.Min)
			s.Scale = &scale
		}
	},
	"replicasets":         templatesOf(workload.Deployment, workload.ArgoRollout),
	"controllerrevisions": templatesOf(workload.StatefulSet, workload.DaemonSet),
	// No story has a workload that Flagger promotes.
	"canaries": func(*workload.Sample, string) {},
}

// templatesOf forgets the rollouts in flight of some kinds. The rollouts of other kinds
// need no templates.
func templatesOf(kinds ...workload.Kind) func(*workload.Sample, string) {
	return func(s *workload.Sample, why string) {
		if slices.Contains(kinds, s.ID.Kind) && s.Rollout != nil && s.Rollout.InFlight {
			s.Rollout, s.Unknown = nil, strings.Trim(s.Unknown+"; "+why, "; ")
		}
	}
}

// parts returns the parts that could not be listed in a line of a story, each with its
// reason.
func parts(words []string) (parts []workload.Unread) {
	for _, w := range words {
		part, why, _ := strings.Cut(w, ": ")
		parts = append(parts, workload.Unread{Part: part, Why: why})
	}
	return parts
}
