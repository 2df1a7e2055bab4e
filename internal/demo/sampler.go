package demo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
	"github.com/gitlatch/gitlatch/testdata/traces"
)

// sampler samples a trace, like the sampler of a cluster in the same state.
type sampler struct {
	trace *traces.Trace
	at    time.Duration // time of the next sample, since the start of the trace
}

// now returns the present time of the trace.
func (s *sampler) now() time.Time { return s.trace.Start.Add(s.at) }

// Sample returns a sample of every workload of the trace.
func (s *sampler) Sample(_ context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	fleet := workload.Fleet{Site: siteName, Cluster: clusterUID, At: s.now(), Kinds: kinds}
	for i := range s.trace.Workloads {
		fleet.Samples = append(fleet.Samples, s.sample(i))
	}
	return fleet, nil
}

// clusterUID is the UID of the demo's cluster.
const clusterUID = "88007f70-666d-4d81-a8d2-e5ca15851947"

func (s *sampler) sample(i int) workload.Sample {
	w, state := s.trace.Workloads[i], s.trace.At(i, s.at)
	sample := workload.Sample{ID: w.ID}
	if state.Note == traces.Unobserved {
		sample.Unknown = fmt.Sprintf("generation %d is not observed yet", s.trace.Generation(i, s.at))
		return sample
	}
	if w.ID.Kind.Scales() {
		sample.Scale = scaleOf(w, state)
	}
	sample.Rollout = rolloutOf(w.ID, state)
	return sample
}

func scaleOf(w traces.Workload, state traces.State) *workload.Scale {
	scale := &workload.Scale{
		Desired: state.Desired, Ready: state.Ready,
		Driver: w.Driver, Min: w.Min, Max: w.Max, Target: w.Target,
	}
	if w.Driver == workload.DrivenByHPA && state.Desired == 0 {
		scale.Blind = "ScalingActive is False: ScalingDisabled"
	}
	if state.Note == traces.Blind {
		scale.Blind = "ScalingActive is False: FailedGetResourceMetric"
	}
	return scale
}

func rolloutOf(id workload.ID, state traces.State) *workload.Rollout {
	rollout := &workload.Rollout{Desired: state.Desired}
	if !state.InFlight() {
		return rollout
	}
	rollout.InFlight = true
	if state.Note == traces.Stuck {
		rollout.Failure = "ProgressDeadlineExceeded"
	}
	oldReady := min(state.Old, state.Ready)
	rollout.Templates = []workload.Template{
		template(id, state.Revision, state.Updated, state.Ready-oldReady),
	}
	if state.Revision > 1 {
		old := template(id, state.Revision-1, state.Old, oldReady)
		old.ImagesOnly = true
		rollout.Templates = append(rollout.Templates, old)
	}
	return rollout
}

// template returns the pod template of a revision. Its hash is computed from its name, so
// every run commits the same hashes.
func template(id workload.ID, revision int, desired, available int32) workload.Template {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, revision))
	image := fmt.Sprintf("registry.example.com/%s/%s:v%d", id.Namespace, id.Name, revision)
	return workload.Template{
		Hash: fmt.Sprintf("%x", hash[:5]), Images: map[string]string{id.Name: image},
		Desired: desired, Available: available,
	}
}
