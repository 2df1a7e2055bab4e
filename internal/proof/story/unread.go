package story

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// lose takes from a fleet what the sampler of internal/kube leaves out while a
// part of the cluster, as "deployments", is unread.
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
	// "replicasets of shop/web" are those of one workload.
	resource, of, _ := strings.Cut(part, " of ")
	forget, ok := forgets[resource]
	if !ok {
		return fmt.Errorf("no part of a cluster is called %q", part)
	}
	for i := range f.Samples {
		if s := &f.Samples[i]; of == "" || s.ID.Short() == of {
			forget(s, resource+" are unread")
		}
	}
	return nil
}

// listed is what a LIST of workloads is called where it is unread.
func listed(kinds workload.Kinds, kind workload.Kind) string {
	o, _ := kinds.Object(kind)
	if _, named := kinds[kind]; named {
		return o.FullResource()
	}
	return o.Resource
}

// forgets are the parts that say something of workloads listed elsewhere, and
// what is unknown of one without them.
var forgets = map[string]func(s *workload.Sample, why string){
	// They hold the bounds of a scale, and what drives it.
	"horizontalpodautoscalers": func(s *workload.Sample, why string) {
		if s.ID.Kind.Scales() && s.Unknown == "" {
			s.Scale, s.Unknown = nil, why
		}
	},
	// The HPA that KEDA made of a ScaledObject says the same, but for a floor of 0.
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

// templatesOf forgets the rollouts in flight of some kinds: others need no
// templates to be known.
func templatesOf(kinds ...workload.Kind) func(*workload.Sample, string) {
	return func(s *workload.Sample, why string) {
		if slices.Contains(kinds, s.ID.Kind) && s.Rollout != nil && s.Rollout.InFlight {
			s.Rollout, s.Unknown = nil, strings.Trim(s.Unknown+"; "+why, "; ")
		}
	}
}

// parts are what a story says cannot be read: each a part and why.
func parts(words []string) (parts []workload.Unread) {
	for _, w := range words {
		part, why, _ := strings.Cut(w, ": ")
		parts = append(parts, workload.Unread{Part: part, Why: why})
	}
	return parts
}
