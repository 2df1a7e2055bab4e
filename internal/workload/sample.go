package workload

import (
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
)

// A Sample describes one workload at one instant. It has two independent readings, Scale
// and Rollout. A nil reading is unknown. Unknown does not mean zero, and it does not mean
// the value in a template.
type Sample struct {
	ID     ID
	Labels Labels // the labels of the workload's object; policies select by them

	// Policy is the name of the configured policy that an annotation of the workload
	// requests. If it is "", the policies' own rules decide.
	Policy string
	// OptOut is true if an annotation opts the workload out of latching.
	OptOut bool

	Scale   *Scale
	Rollout *Rollout

	// Mark is the level of the workload when it was created, as the annotation of the
	// admission policy shows it. It is "" if the workload had no level then, or if a tool has
	// replaced the complete object since.
	Mark string

	// Unknown is the reason why a reading that the kind has is nil, as a phrase:
	// "generation 7 is not observed yet". It is "" if each such reading is present.
	Unknown string

	// Terminating is true if the workload or its namespace is being deleted.
	Terminating bool
}

// Scale describes how many pods a workload should have, and what sets that number.
type Scale struct {
	Desired int32 // spec.replicas, in pods
	Ready   int32 // status.readyReplicas, in pods

	// Driver identifies the writer of Desired.
	Driver Driver
	// Min and Max are the autoscaler's minimum and maximum replicas; 0 is unlimited.
	Min, Max int32
	// Target is the target utilisation of the autoscaler, 0.75 for 75 %. It is 0 if the
	// autoscaler scales by a metric without such a percentage.
	Target float64
	// Unstated is true if no autoscaler scales the workload and no manifest states its
	// replicas. Desired is then 1, the default of Kubernetes. The first other value shows
	// who scales the workload.
	Unstated bool
	// Tolerance is the autoscaler's own tolerance when it scales down, 0.1 for 10 %. It
	// is 0 if the autoscaler does not state one.
	Tolerance float64
	// Load is the highest ratio of a metric of the autoscaler to its target: 0.5 if the
	// pods do half of their target. It is 0 if unknown, also if only one of the metrics
	// is not measured.
	Load float64
	// Demand is the demand on the workload in units of an external measure, such as
	// requests per second. It is nil if unknown.
	Demand *float64
	// Hand is the user's tool that wrote the present replica count: "kubectl". It is ""
	// if something else wrote it, or if the writer is unknown. Handed is the time of
	// that write, zero if unknown.
	Hand   string
	Handed time.Time
	// Blind is the reason why the autoscaler cannot calculate the desired replicas at
	// present: "ScalingActive is False: FailedGetResourceMetric". It is "" if the
	// autoscaler can, or if the workload does not have one.
	Blind string
	// UpOnly is true if no autoscaler of the workload scales down, because of a brake or
	// the settings of the autoscaler.
	UpOnly bool
	// Brake is set if a restore prevents the autoscaler from scaling down.
	Brake Brake
	// Paused is true if KEDA does not scale the workload, because its ScaledObject is
	// paused. Fixed is the number of replicas to which KEDA then returns the workload, as
	// a phrase: "paused at \"3\" replicas". It is "" if KEDA does not.
	Paused bool
	Fixed  string
}

// Maximum returns the maximum replicas of a workload with several maxima, in pods: the
// smallest one, because each autoscaler lowers a workload above its own maximum. A maximum
// of 0 is unlimited.
func Maximum(all ...int32) (most int32) {
	for _, one := range all {
		if one > 0 && (most == 0 || one < most) {
			most = one
		}
	}
	return most
}

// BrakeAnnotation is the annotation of a braked autoscaler. Its value is JSON with the
// field "until", the end of the brake.
const BrakeAnnotation = "gitlatch.dev/brake"

// A Brake is the brake of a restore on an autoscaler. The zero value means that the
// autoscaler is not braked.
type Brake struct {
	On    string    // the autoscaler: "HPA web"
	Until time.Time // the end of the brake; zero if the annotation cannot be parsed
	// Ignored is the name of the HPA of a ScaledObject that scales down although the
	// ScaledObject has the brake; "" if the HPA follows. KEDA before 2.18.0 ignores brakes.
	Ignored string
}

// String describes the effect of the brake and its end.
func (b Brake) String() string {
	if b.Ignored != "" {
		return "KEDA does not apply the brake of " + b.On + " to its HPA " + b.Ignored
	}
	if b.Until.IsZero() {
		return b.On + " does not scale down. The end of its brake is unknown, because its annotation " + BrakeAnnotation + " cannot be read"
	}
	return b.On + " does not scale down: a restore braked it until " + b.Until.UTC().Format(time.RFC3339)
}

// A Driver identifies the writer of a workload's scale.
type Driver string

// The drivers. DrivenByScale means that something other than an autoscaler last wrote the
// replica count, through the scale subresource. DrivenByNothing means that only the
// manifest states the replica count.
const (
	DrivenByNothing Driver = ""
	DrivenByHPA     Driver = "hpa"
	DrivenByKEDA    Driver = "keda"
	DrivenByScale   Driver = "scale"
)

// Rollout is the progress of a workload from one pod template to another.
type Rollout struct {
	// InFlight is true in three cases:
	//
	//   - There are pods of more than one template.
	//   - The target template does not have pods: its controller removed them or did not
	//     create them, or someone prevents it from creating them.
	//   - Only the target template has pods, and the controller has not reported yet that
	//     the rollout is complete.
	//
	// InFlight never depends on the availability of pods alone.
	InFlight bool
	// Desired is the number of pods of all templates that the workload should have.
	// Progress is relative to it. For a DaemonSet the nodes determine it.
	Desired int32
	// Templates are the pod templates that have pods or should have pods. The target is
	// always the first, even if it has no pods yet. If only the target has pods, the
	// template that it replaced follows, without pods. Templates is empty if no rollout
	// is in flight, or if the templates are unknown.
	//
	// The Hash of the target may be "" until its first pods are requested. The Hash of
	// another template is "" if gitlatch cannot determine which template it is.
	Templates []Template

	// Unjudged is true if no condition of the workload would report a rollout without
	// progress: the kind has no such condition, or the rollout has no deadline.
	Unjudged bool

	// Failure is the condition that reports the failure of the rollout, as a phrase:
	// "ProgressDeadlineExceeded: ReplicaSet web-5f6 has timed out progressing.". It is ""
	// if the rollout has not failed.
	Failure string
	// Halted is the setting that stops the rollout on purpose, as a phrase: "paused",
	// "partition 3", "OnDelete". It is "" if the rollout is not stopped.
	Halted string

	// Traffic is the target's share of the traffic in percent, if it does not follow from
	// the number of pods. It is nil if the pods share the traffic evenly, or if the share
	// is unknown.
	Traffic *int32
}

// Percent returns how much of the rollout is done: the target's available pods as a share
// of the desired pods, rounded down, or its share of the traffic if that is lower. It is
// 0 if no pods are desired.
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

// Mixed reports whether the workload has, may have, or is about to have pods of more than
// one template. The following rollouts are in flight, but not mixed:
//
//   - It failed, and the controller moved all pods back to one template. Such a rollout is
//     in flight until git states another template.
//   - Only the target has pods, and the controller waits for them.
//   - Someone stopped it before the first pod of the target.
func (r Rollout) Mixed() bool {
	if !r.InFlight || len(r.Templates) < 2 {
		return r.InFlight
	}
	with := lists.Count(r.Templates, Template.Runs)
	begins := r.Failure == "" && r.Halted == "" && !r.Templates[0].Runs()
	return with != 1 || begins
}

// Template is one pod template of a rollout in flight.
type Template struct {
	Hash      string            // pod-template-hash or controller revision
	Images    map[string]string // by container, also of init containers; nil is unknown
	Desired   int32             // desired pods
	Available int32             // available pods, or the known minimum
	// Since is the time at which the cluster first saw the template; zero is unknown. If
	// the target is older than the template that it replaces, the rollout is a rollback.
	Since time.Time
	// ImagesOnly is true if the template differs from the target only in container
	// images. It is false for the target, and if the difference is unknown.
	ImagesOnly bool
}

// Runs reports whether the template has pods or should have pods.
func (t Template) Runs() bool { return t.Desired > 0 || t.Available > 0 }

// A Fleet is the samples of one site at one instant.
type Fleet struct {
	Site    string
	Cluster string // UID of the cluster's kube-system namespace; "" is unknown
	At      time.Time

	// Unread lists the parts of the cluster that could not be read, or were read only in
	// part. If it is not empty, a workload that Samples does not have may still exist.
	Unread []Unread

	// Unmeasured lists the sources of demand that could not be measured.
	Unmeasured []Unread

	// Kinds are the kinds that the sampler listed. Samples can have no workload of
	// another kind, whether or not the cluster has one.
	Kinds Kinds

	Samples []Sample // sorted by Compare, with unique IDs
}

// Unread is a part of the cluster that could not be read.
type Unread struct {
	Part string // such as "deployments"; the same each time
	Why  string // the reason on one line, whose words may vary; "" is unknown
}

// String returns the part and the reason, as in "deployments: forbidden".
func (u Unread) String() string {
	if u.Why == "" {
		return u.Part
	}
	return u.Part + ": " + u.Why
}

// Texts returns the parts as strings for users. The list is never nil.
func Texts(parts []Unread) []string { return lists.Map(parts, Unread.String) }

// An UnreadError reports a part of the cluster that could not be read.
type UnreadError struct{ Unread }

// Error returns the part and the reason.
func (e *UnreadError) Error() string { return "not read: " + e.String() }
