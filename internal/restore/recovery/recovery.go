// Package recovery determines the step of a recovery: capacity, brake, traffic, release or
// adopt. It does no I/O.
package recovery

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/term"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// back is the part of its target that a metric has once the traffic is back.
const back = 0.5

// A Case is the state of a site and of its live cluster.
type Case struct {
	Tree    checkpoint.Tree // the levels in git
	Cluster string          // UID of the site's cluster; "" before the first tick
	Fleet   workload.Fleet  // a sample of the live cluster, with the measured demand
	// Usual is the usual number of pods for a unit of demand, by workload. It has no
	// entry, or 0, for a workload whose usual number is unknown.
	Usual map[workload.ID]float64
}

// A Recovery is the progress of a recovery.
type Recovery struct {
	Steps []Step `json:"steps,omitempty"` // in order; nil if Unknown is set
	Next  string `json:"next,omitempty"`  // the next action of a user; "" if Unknown is set
	// Marks counts the workloads that were created with their level. It is nil if the live
	// cluster is the site's cluster.
	Marks *checkpoint.Marks `json:"marks,omitempty"`
	// Unknown is the reason why gitlatch cannot determine whether a recovery runs; "" if
	// a recovery runs.
	Unknown string `json:"unknown,omitempty"`
}

// A Step is one of the five steps of a recovery.
type Step struct {
	Name  Name   `json:"name"`
	State State  `json:"state"`
	Done  int    `json:"done"` // number of workloads that are known to have passed the step
	Of    int    `json:"of"`   // number of workloads of the step; 0 for Released and Adopted
	Text  string `json:"text"` // the numbers and the names of workloads, as a phrase
}

// A Name is the name of a step.
type Name string

// The steps, in order.
const (
	Capacity Name = "capacity" // the workloads are at their level and ready
	Braked   Name = "braked"   // their autoscalers do not scale down
	Traffic  Name = "traffic"  // the traffic is back
	Released Name = "released" // no autoscaler has a brake
	Adopted  Name = "adopted"  // the live cluster is the site's cluster
)

// A State is the state of a step.
type State string

// The states. A step with an unknown part is never Done.
const (
	Done    State = "done"
	Pending State = "pending"
	Unknown State = "unknown"
)

// actions are the actions that complete each step.
var actions = map[Name]string{
	Capacity: "run gitlatch restore --wait --yes as soon as the workloads exist",
	Braked:   "run gitlatch restore --wait --yes",
	Traffic:  "move the traffic to this cluster, and wait until the autoscalers see it",
	Released: "run gitlatch restore --release --yes",
	Adopted:  "run gitlatch adopt",
}

// either is the action if no autoscaler has a brake, and the traffic seems to be back. This
// is the state after a release. It is also the state of a cluster without a restore that
// has a part of its traffic, or whose pods are busy with their start.
const either = "run gitlatch adopt if you released the brakes; otherwise run gitlatch restore --wait --yes"

// The function Of returns the progress of a recovery, or nil if no recovery runs. A recovery runs if
// the live cluster is not the site's cluster, or if an autoscaler has a brake.
func Of(c Case) *Recovery {
	changed := c.Cluster != "" && c.Fleet.Cluster != "" && c.Fleet.Cluster != c.Cluster
	brakes := c.brakes()
	if !changed && len(brakes) == 0 {
		if len(c.Fleet.Unread) == 0 {
			return nil
		}
		return &Recovery{Unknown: "could not read " + term.Among(workload.Texts(c.Fleet.Unread))}
	}
	r := c.steps(brakes)
	if changed {
		marks := c.Tree.Marks(c.Fleet.Samples)
		r.Marks = &marks
	}
	for _, s := range r.Steps {
		if s.State != Done {
			r.Next = actions[s.Name]
			break
		}
	}
	if r.Steps[3].State == Done {
		r.Next = either
	}
	return &r
}

func (c Case) brakes() (all []workload.Brake) {
	for _, s := range c.Fleet.Samples {
		if s.Scale != nil && s.Scale.Brake.On != "" {
			all = append(all, s.Scale.Brake)
		}
	}
	return all
}

func (c Case) steps(brakes []workload.Brake) Recovery {
	live, scales := map[workload.ID]plan.Workload{}, map[workload.ID]workload.Scale{}
	for _, s := range c.Fleet.Samples {
		live[s.ID] = workloadOf(s)
		if s.Scale != nil {
			scales[s.ID] = *s.Scale
		}
	}
	p := plan.Make(c.Tree.Entries(), live, plan.Options{Kinds: c.Fleet.Kinds})
	all := p.All()
	slices.SortFunc(all, func(a, b plan.Raise) int { return workload.Compare(a.ID, b.ID) })

	var capacity, braked, traffic tally
	for _, r := range all {
		capacity.place(r, live[r.ID])
		scale := scales[r.ID]
		if scale.Driver != workload.DrivenByHPA && scale.Driver != workload.DrivenByKEDA || scale.Paused {
			continue
		}
		name := r.ID.Short()
		if scale.Brake.Ignored != "" {
			name += " (" + scale.Brake.String() + ")"
		}
		braked.add(name, stateOf(scale.UpOnly))
		if r.To > scale.Min { // otherwise it never scales down to less than r.To, with or without traffic
			traffic.load(r, scale, c.Usual[r.ID])
		}
	}
	skipped := c.rest(p, &capacity, &braked, &traffic)
	steps := []Step{
		capacity.step(Capacity, "is ready at its level", "are ready at their level"),
		braked.step(Braked, "has scale-down disabled", "have scale-down disabled"),
		traffic.step(Traffic, fmt.Sprintf("has a metric at %.0f %% or more of its target", 100*back), fmt.Sprintf("have a metric at %.0f %% or more of its target", 100*back)),
	}
	steps[0].Text += skipped
	if braked.total() == 0 {
		steps[1].State, steps[1].Text = Done, "no workload with a level has an active autoscaler"
	}
	if len(brakes) == 0 && steps[2].State == Done { // released, or the traffic came first
		steps[1].State, steps[1].Text = Done, "no brake is set, and the traffic seems to be back"
	}
	return Recovery{Steps: append(steps, c.released(brakes, steps[2].State), c.adopted())}
}

// workloadOf converts a sample. A sample without a scale is a workload whose replicas are
// unknown.
func workloadOf(s workload.Sample) plan.Workload {
	w := plan.Workload{ID: s.ID, OptOut: s.OptOut, Terminating: s.Terminating}
	if s.Scale == nil {
		w.Unknown = "has unknown replicas"
		return w
	}
	w.Replicas, w.Ready = s.Scale.Desired, s.Scale.Ready
	w.Scalers = []plan.Scaler{{Max: s.Scale.Max, Fixed: s.Scale.Fixed}}
	return w
}

// rest adds the workloads that the plan skips. It returns a phrase about those that a
// restore leaves alone.
func (c Case) rest(p plan.Plan, capacity, braked, traffic *tally) string {
	var skipped []string
	for _, left := range p.Left {
		name := left.ID.Short()
		switch {
		case left.Reason == plan.Absent && len(c.Fleet.Unread) == 0:
			capacity.add(name+" (does not exist)", Pending)
			braked.add(name+" (does not exist)", Unknown)
		case left.Reason.Passes() || left.Reason == plan.NotRead:
			for _, t := range []*tally{capacity, braked, traffic} {
				t.add(name, Unknown)
			}
		case left.Skips():
			skipped = append(skipped, name)
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(c.Tree.Broken)) {
		for _, t := range []*tally{capacity, braked, traffic} {
			t.add("the checkpoint file of namespace "+namespace, Unknown)
		}
	}
	if len(skipped) == 0 {
		return ""
	}
	return ". A restore skips " + term.Among(skipped)
}

// A tally has the names of the workloads of a step, by the state of each.
type tally struct{ done, pending, unknown []string }

func (t *tally) add(name string, s State) {
	switch s {
	case Done:
		t.done = append(t.done, name)
	case Pending:
		t.pending = append(t.pending, name)
	default:
		t.unknown = append(t.unknown, name)
	}
}

func (t *tally) total() int { return len(t.done) + len(t.pending) + len(t.unknown) }

// place adds a workload with a level to the step capacity.
func (t *tally) place(r plan.Raise, w plan.Workload) {
	pods := min(w.Replicas, w.Ready)
	t.add(fmt.Sprintf("%s (%d of %d ready)", r.ID.Short(), pods, r.To), stateOf(pods >= r.To))
}

// load adds a workload with an autoscaler to the step traffic.
func (t *tally) load(r plan.Raise, s workload.Scale, usual float64) {
	demand := 0.0 // pods for the present demand
	if s.Demand != nil {
		demand = *s.Demand * usual
	}
	switch {
	case s.Load >= back || demand >= back*float64(r.To):
		t.add(r.ID.Short(), Done)
	case s.Load == 0:
		t.add(r.ID.Short(), Unknown)
	default:
		t.add(fmt.Sprintf("%s (%.0f %%)", r.ID.Short(), 100*s.Load), Pending)
	}
}

// step returns the step of a tally. one and several describe the workloads that are done. A
// tally without workloads is Unknown.
func (t *tally) step(name Name, one, several string) Step {
	s := Step{Name: name, State: Done, Done: len(t.done), Of: t.total()}
	switch {
	case len(t.pending) > 0:
		s.State = Pending
	case s.Of == 0 || len(t.unknown) > 0:
		s.State = Unknown
	}
	if s.Of == 0 {
		s.Text = "no workload can show it"
		return s
	}
	count := term.Count(s.Of, "workload")
	does := several
	if s.Of == 1 {
		does = one
	}
	switch {
	case len(t.unknown) == 0:
		s.Text = fmt.Sprintf("%s of %s (%d %%) %s", term.Number(int64(s.Done)), count, 100*s.Done/s.Of, does)
	case s.Of == 1:
		s.Text = fmt.Sprintf("it is unknown whether %s %s", count, does)
	default:
		s.Text = fmt.Sprintf("it is unknown how many of %s %s", count, does)
	}
	if len(t.pending) > 0 {
		s.Text += ". Not yet: " + term.Among(t.pending)
	}
	if len(t.unknown) > 0 {
		s.Text += ". Unknown: " + term.Among(t.unknown)
	}
	return s
}

// released returns the step Released. Without a brake, the step is done only if the
// traffic is back: before, no restore has set a brake yet.
func (c Case) released(brakes []workload.Brake, traffic State) Step {
	s := Step{Name: Released, State: Pending}
	switch {
	case len(brakes) == 0 && len(c.Fleet.Unread) > 0:
		s.State, s.Text = Unknown, "could not read "+term.Among(workload.Texts(c.Fleet.Unread))
	case len(brakes) == 0 && traffic == Done:
		s.State, s.Text = Done, "no autoscaler has a brake"
	case len(brakes) == 0:
		s.Text = "no restore has set a brake yet"
	default:
		until := "at an unknown time"
		first := slices.MinFunc(brakes, func(a, b workload.Brake) int { return a.Until.Compare(b.Until) }).Until
		if !first.IsZero() {
			until = "at " + first.UTC().Format(time.RFC3339)
		}
		s.Text = fmt.Sprintf("brakes in the cluster: %d. The first brake ends %s", len(brakes), until)
	}
	return s
}

func (c Case) adopted() Step {
	s := Step{Name: Adopted, State: Pending}
	switch {
	case c.Fleet.Cluster == "" || c.Cluster == "":
		s.State, s.Text = Unknown, "the UID of the live cluster or of the site's cluster is unknown"
	case c.Fleet.Cluster == c.Cluster:
		s.State, s.Text = Done, "the live cluster is the site's cluster"
	default:
		s.Text = fmt.Sprintf("the live cluster is %s, but the site's cluster is %s", c.Fleet.Cluster, c.Cluster)
	}
	return s
}

func stateOf(done bool) State {
	if done {
		return Done
	}
	return Pending
}
