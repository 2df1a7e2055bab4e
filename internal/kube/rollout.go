package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/clean/sanitize"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// An argoRollout has the fields that gitlatch reads of a Rollout of Argo Rollouts.
type argoRollout struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas    *int32                `json:"replicas"`
		Selector    *metav1.LabelSelector `json:"selector"`
		Paused      bool                  `json:"paused"`
		WorkloadRef *workloadRef          `json:"workloadRef"`
		Strategy    struct {
			Canary    *argoCanary    `json:"canary"`
			BlueGreen *argoBlueGreen `json:"blueGreen"`
		} `json:"strategy"`
	} `json:"spec"`

	Status struct {
		ObservedGeneration         string `json:"observedGeneration"` // a number
		WorkloadObservedGeneration string `json:"workloadObservedGeneration"`
		ReadyReplicas              int32  `json:"readyReplicas"`
		CurrentPodHash             string `json:"currentPodHash"`
		StableRS                   string `json:"stableRS"` // the hash of the stable ReplicaSet
		CurrentStepIndex           *int32 `json:"currentStepIndex"`
		Abort                      bool   `json:"abort"`
		Phase                      string `json:"phase"`
		Message                    string `json:"message"`
		PauseConditions            []struct {
			Reason string `json:"reason"`
		} `json:"pauseConditions"`
		Canary struct {
			Weights *struct {
				Canary struct {
					Weight          int32  `json:"weight"`
					PodTemplateHash string `json:"podTemplateHash"`
				} `json:"canary"`
			} `json:"weights"`
		} `json:"canary"`
		BlueGreen struct {
			ActiveSelector string `json:"activeSelector"` // a hash
		} `json:"blueGreen"`
	} `json:"status"`
}

type workloadRef struct {
	Reference
	ScaleDown string `json:"scaleDown"`
}

type argoCanary struct {
	TrafficRouting *struct {
		MaxTrafficWeight *int32 `json:"maxTrafficWeight"` // default 100
	} `json:"trafficRouting"`
	Steps []struct {
		Pause *struct {
			Duration *any `json:"duration"` // a number of seconds, or a string
		} `json:"pause"`
	} `json:"steps"`
}

type argoBlueGreen struct {
	AutoPromotionSeconds int32 `json:"autoPromotionSeconds"`
}

const (
	// argoHashLabel is the label of ReplicaSets and pods with the hash of their template.
	argoHashLabel = "rollouts-pod-template-hash"
	// argoWorkload is the annotation of a Rollout with the generation of the Deployment
	// whose template it uses.
	argoWorkload = "rollout.argoproj.io/workload-generation"
	argoDegraded = "Degraded"
	// argoController is the manager name of Argo Rollouts in managed fields.
	argoController = "rollouts-controller"
)

// readArgoRollout reads a Rollout of Argo Rollouts. A rollout is in flight if the stable
// ReplicaSet is not the target. A rollback to the stable ReplicaSet is a single step, so
// it is not in flight. A new Rollout has no stable ReplicaSet yet.
func readArgoRollout(o *argoRollout) reading {
	r := readingOf(workload.ArgoRollout, &o.ObjectMeta, o.unobserved())
	r.stoodFor = o.standsFor()
	if r.sample.Unknown != "" {
		return r
	}
	r.scaled(workload.Replicas, &o.ObjectMeta, o.Spec.Replicas, o.Status.ReadyReplicas)
	if o.Status.StableRS == "" || o.Status.StableRS == o.Status.CurrentPodHash {
		return r
	}
	rollout := r.sample.Rollout
	rollout.InFlight = true
	rollout.Failure = o.failure()
	rollout.Halted = o.halted()
	rollout.Traffic = o.traffic()
	r.flight = &flight{uid: o.UID, selector: o.Spec.Selector, rollout: *rollout,
		hash: o.Status.CurrentPodHash, from: o.Status.StableRS}
	return r
}

// standsFor returns the Deployment whose template the Rollout uses, if Argo Rollouts
// scales it to zero. Otherwise it returns the zero ID.
func (o *argoRollout) standsFor() workload.ID {
	ref := o.Spec.WorkloadRef
	if ref == nil || ref.ScaleDown == "" || ref.ScaleDown == "never" {
		return workload.ID{}
	}
	return ref.Workload(nil, o.Namespace)
}

// unobserved is like the function for other kinds. The generations of a Rollout are
// strings, and it also has a generation of the Deployment whose template it uses.
func (o *argoRollout) unobserved() string {
	observed := o.Status.ObservedGeneration
	seen, err := strconv.ParseInt(observed, 10, 64)
	if err != nil && observed != "" {
		return fmt.Sprintf("observed generation %q is not a number: Argo Rollouts is older than 1.0", observed)
	}
	why := unobserved(&o.ObjectMeta, seen)
	if of := o.Annotations[argoWorkload]; why == "" && o.Spec.WorkloadRef != nil && of != "" && of != o.Status.WorkloadObservedGeneration {
		why = "generation " + of + " of its " + o.Spec.WorkloadRef.Kind + " is not observed yet"
	}
	return sanitize.Words(why)
}

func (o *argoRollout) failure() string {
	switch {
	case o.Status.Phase == argoDegraded:
		return sanitize.Words(cmp.Or(o.Status.Message, argoDegraded))
	case o.Status.Abort:
		return "aborted"
	}
	return ""
}

// halted returns the reason why the rollout waits for a user. A pause with a duration is
// not a reason.
func (o *argoRollout) halted() string {
	if o.Spec.Paused {
		return paused
	}
	for _, c := range o.Status.PauseConditions {
		switch c.Reason {
		case "CanaryPauseStep":
			if step, forever := o.pause(); forever {
				return fmt.Sprintf("paused at step %d", step+1)
			}
		case "BlueGreenPause":
			if o.Spec.Strategy.BlueGreen == nil || o.Spec.Strategy.BlueGreen.AutoPromotionSeconds == 0 {
				return "paused before its promotion"
			}
		default:
			return sanitize.Words(c.Reason)
		}
	}
	return ""
}

// pause returns the index of the current step, from 0, and whether that step is a pause
// without a duration.
func (o *argoRollout) pause() (step int32, forever bool) {
	step = ptr.Deref(o.Status.CurrentStepIndex, 0)
	c := o.Spec.Strategy.Canary
	if c == nil || step < 0 || int(step) >= len(c.Steps) || c.Steps[step].Pause == nil {
		return step, true
	}
	return step, c.Steps[step].Pause.Duration == nil
}

// traffic returns the target's share of the traffic in percent. With blue-green it is 0
// or 100. For a canary with a traffic router it is the router's weight. It is nil if the
// pods determine the share.
func (o *argoRollout) traffic() *int32 {
	var share int32
	c := o.Spec.Strategy.Canary
	switch {
	case o.Spec.Strategy.BlueGreen != nil:
		if o.Status.BlueGreen.ActiveSelector == o.Status.CurrentPodHash {
			share = 100
		}
	case c == nil || c.TrafficRouting == nil:
		return nil
	case o.Status.Canary.Weights != nil && o.Status.Canary.Weights.Canary.PodTemplateHash == o.Status.CurrentPodHash:
		whole := int32(100)
		if w := c.TrafficRouting.MaxTrafficWeight; w != nil && *w > 0 {
			whole = *w
		}
		share = percent(o.Status.Canary.Weights.Canary.Weight, whole)
	}
	return &share
}

// percent returns the ratio of its arguments in percent, limited to 0 to 100. The second
// must not be 0.
func percent(part, whole int32) int32 {
	return int32(min(100, max(0, int64(part)*100/int64(whole))))
}

// steppedOf returns the rollout of an Argo Rollout from the ReplicaSets that it owns. The
// status has the hashes of the target, which is the first, and of the stable ReplicaSet,
// which is the second. Other ReplicaSets with pods follow, the newest first.
func steppedOf(f *flight, owned []podTemplate) *workload.Rollout {
	target, stable := podTemplate{hash: f.hash}, podTemplate{hash: f.from}
	var others []podTemplate
	for _, s := range owned {
		switch {
		case s.hash == f.hash:
			target = s
		case s.hash == f.from:
			stable = s
		case s.desired > 0 || s.pods > 0:
			others = append(others, s)
		}
	}
	slices.SortFunc(others, newest)
	r := f.rollout
	r.Failure = cmp.Or(r.Failure, target.failure)
	r.Templates = []workload.Template{target.tell(nil), stable.tell(target.template())}
	for _, s := range others {
		r.Templates = append(r.Templates, s.tell(target.template()))
	}
	return &r
}
