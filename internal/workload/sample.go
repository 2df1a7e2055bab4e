package workload

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/each"
)

// A Sample is what was seen of one workload at one instant: two independent
// readings. A reading that is nil is unknown, which is neither zero nor what a
// template says.
type Sample struct {
	ID     ID
	Labels Labels // of the workload's object; policies choose by them

	// Policy is the configured policy that an annotation of the workload asks
	// for by name; "" leaves the choice to the policies' own rules.
	Policy string
	// OptOut is set where an annotation takes the workload out of latching.
	OptOut bool

	Scale   *Scale
	Rollout *Rollout

	// Unknown says, as a phrase, why a reading is nil that its kind has:
	// "generation 7 is not observed yet". "" where both are known.
	Unknown string

	// Terminating is true once the workload is being deleted, by itself or with
	// its namespace.
	Terminating bool
}

// Scale is how many pods a workload is asked to have, and by whom.
type Scale struct {
	Desired int32 // spec.replicas, in pods
	Ready   int32 // status.readyReplicas, in pods

	// Driver is what writes Desired.
	Driver Driver
	// Min and Max are the autoscaler's bounds in pods; 0 is no bound.
	Min, Max int32
	// Target is the utilisation that the autoscaler aims at, 0.75 for 75 %; 0
	// where it scales by something that has no such figure.
	Target float64
	// Unstated is true where nothing drives the workload and no manifest states
	// its count either: it is the 1 that Kubernetes puts in, and who may scale it
	// shows once it is another.
	Unstated bool
	// Applied is the manager that alone owns the count, by a server-side apply
	// that states it: "kustomize-controller". "" where there is none, or where
	// another wrote it since.
	Applied string
	// Writer is the manager that last wrote the count among those who own it,
	// "kube-controller-manager"; "" where nobody owns it.
	Writer string
	// Tolerance is the autoscaler's own tolerance on the way down, 0.1 for
	// 10 %; 0 where it is not stated.
	Tolerance float64
	// Load is the highest that any of the autoscaler's metrics is at, over its
	// target: 0.5 is half of what its pods are meant to do. 0 is unknown, as it is
	// where one of the metrics is not measured.
	Load float64
	// Demand is what is asked of the workload, in units of an outside measure such
	// as requests a second; nil is unknown.
	Demand *float64
	// Hand is the tool by which a person wrote the count that stands, "kubectl";
	// "" where something else wrote it, or who did is not known. Handed is when,
	// zero where that is not known.
	Hand   string
	Handed time.Time
	// Blind says, as a phrase, why the autoscaler cannot judge the need just
	// now ("ScalingActive is False: FailedGetResourceMetric"); "" where it can,
	// or where there is none.
	Blind string
	// Brake keeps the autoscaler from scaling down.
	Brake Brake
}

// BrakeAnnotation holds, on an autoscaler, the note of a brake: JSON whose "until"
// is its end.
const BrakeAnnotation = "gitlatch.dev/brake"

// A Brake is that of a restore on an autoscaler. The zero value is none.
type Brake struct {
	On    string    // the autoscaler, as "HPA web"
	Until time.Time // its end; zero where the note cannot be read
}

// String says what the brake does, and until when.
func (b Brake) String() string {
	if b.Until.IsZero() {
		return b.On + " does not scale down. The end of its brake is unknown, because its annotation " + BrakeAnnotation + " cannot be read"
	}
	return b.On + " does not scale down: a restore braked it until " + b.Until.UTC().Format(time.RFC3339)
}

// A Driver is what writes a workload's scale.
type Driver string

// The drivers. DrivenByScale is a count last written through the scale
// subresource by something that is neither autoscaler; DrivenByNothing is a
// count that only the manifest states.
const (
	DrivenByNothing Driver = ""
	DrivenByHPA     Driver = "hpa"
	DrivenByKEDA    Driver = "keda"
	DrivenByScale   Driver = "scale"
)

// Rollout is how far a workload is on its way from one template to another.
type Rollout struct {
	// InFlight is true while there are pods of more than one template, or none of
	// the template that is asked for since its controller took them back or has
	// not let them in, or somebody keeps them out, or only those, and its controller
	// has not said yet that the rollout is over. It never follows from availability
	// alone.
	InFlight bool
	// Desired is how many pods the workload is asked to have, of all templates:
	// what progress is measured against. For a DaemonSet its nodes decide.
	Desired int32
	// Templates are the pod templates that have or ask for pods, after the
	// target, which comes first even while it has none; until its pods are
	// asked for its Hash may be "", as is that of one of the others where it is
	// not known which it is. Where the target alone has pods left, what it replaced
	// follows without any. Empty where no rollout is in flight, or where only
	// InFlight is known.
	Templates []Template

	// Unjudged is true where no condition of the workload would say that the
	// rollout makes no progress: its kind has none, or it was given no deadline.
	Unjudged bool

	// Failure says, as a phrase, by which condition the rollout failed:
	// "ProgressDeadlineExceeded: ReplicaSet web-5f6 has timed out progressing.".
	// "" is a rollout that did not.
	Failure string
	// Halted says, as a phrase, what keeps the rollout where it is by somebody's
	// wish: "paused", "partition 3", "OnDelete"; "" where nothing does.
	Halted string

	// Traffic is the share of the traffic that the target gets, in percent, where
	// something other than the number of its pods decides that; nil where the pods
	// share it evenly, or it is not known.
	Traffic *int32
}

// Percent is the share of the desired pods that the target stands for, rounded down:
// that of its available pods, or its traffic where that is less. 0 where no pods are
// desired.
func (r Rollout) Percent() int32 {
	if len(r.Templates) == 0 || r.Desired <= 0 {
		return 0
	}
	percent := int32(100 * int64(r.Templates[0].Available) / int64(r.Desired))
	if r.Traffic != nil {
		percent = min(percent, *r.Traffic)
	}
	return percent
}

// Mixed reports whether there are, or may be, pods of more than one template, or
// are about to be. A rollout that failed, and whose controller took all pods back
// to one template, is in flight for as long as git asks for it, and not mixed; nor
// is one that has pods of the target alone, and waits for them, nor one that someone
// halted before its first pod.
func (r Rollout) Mixed() bool {
	if !r.InFlight || len(r.Templates) < 2 {
		return r.InFlight
	}
	with := each.Count(r.Templates, Template.Runs)
	begins := r.Failure == "" && r.Halted == "" && !r.Templates[0].Runs()
	return with != 1 || begins
}

// Template is one pod template of a rollout in flight.
type Template struct {
	Hash      string            // pod-template-hash or controller revision
	Images    map[string]string // by container, init containers among them; nil is unknown
	Desired   int32             // pods asked for
	Available int32             // pods available; at least so many, where only that is known
	// Since is when the cluster first saw the template; zero where that is not
	// known. A target that is older than what it replaces is a way back.
	Since time.Time
	// ImagesOnly is true where it and the target differ in the images of containers
	// and in nothing else; false where that is not known, and of the target itself.
	ImagesOnly bool
}

// Runs reports whether the template has or asks for pods.
func (t Template) Runs() bool { return t.Desired > 0 || t.Available > 0 }

// A Fleet is the samples of one site at one instant.
type Fleet struct {
	Site    string
	Cluster string // UID of the cluster's kube-system namespace; "" is unknown
	At      time.Time

	// Unread is what could not be read or was read in part. What is absent from
	// Samples while Unread is not empty may well exist.
	Unread []Unread

	// Unmeasured is what could not be measured of demand.
	Unmeasured []Unread

	// Kinds are those that were looked for. Nothing is known of another, and that
	// none of it is seen does not mean that there is none.
	Kinds Kinds

	Samples []Sample // in the order of Compare, each ID once
}

// Unread is a part of what is looked at that could not be read.
type Unread struct {
	Part string // as "deployments", named the same each time
	Why  string // on one line, in words that may differ each time; "" is not known
}

// String is the part and why, as in "deployments: forbidden".
func (u Unread) String() string {
	if u.Why == "" {
		return u.Part
	}
	return u.Part + ": " + u.Why
}

// Texts are parts as people read them; none is an empty list, not nil.
func Texts(parts []Unread) []string { return each.Of(parts, Unread.String) }

// An UnreadError says that a part of the cluster could not be read.
type UnreadError struct{ Unread }

// Error names the part and why.
func (e *UnreadError) Error() string { return "not read: " + e.String() }
