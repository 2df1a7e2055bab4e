package cluster

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A scalable is what is read of a workload that has a scale.
type scalable struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// own reports whether a kind is Kubernetes' own, which every cluster serves and
// whose count it fills in. Of another there may be nothing yet, neither the kind
// nor its controller.
func own(o workload.Object) bool { return o.Group == "apps" }

// workload is one that lives, of a kind. A count that is left out of Kubernetes' own
// is 1. Of another it is not known, and its /scale is an error, until its controller
// writes one, as Argo Rollouts does.
func (s scalable) workload(kind workload.Kind, o workload.Object) plan.Workload {
	w := plan.Workload{
		ID:          workload.ID{Namespace: s.Namespace, Kind: kind, Name: s.Name},
		Version:     s.ResourceVersion,
		Terminating: s.DeletionTimestamp != nil,
		OptOut:      kube.OptsOut(s.Annotations),
	}
	var stated bool
	w.Replicas, stated = kube.Pods(s.Spec, s.Status, o.Replicas)
	switch {
	case !stated && own(o):
		w.Replicas = 1
	case !stated:
		w.Unknown = "has no number of pods at " + string(o.Replicas)
	}
	w.Ready, _ = kube.Pods(s.Spec, s.Status, o.Ready) // what is not known to be ready is not
	return w
}

// priorityClass is that of its pods, "" where it states none.
func (s scalable) priorityClass() string {
	var spec struct {
		Template struct {
			Spec struct {
				PriorityClassName string `json:"priorityClassName"`
			} `json:"spec"`
		} `json:"template"`
	}
	_ = json.Unmarshal(s.Spec, &spec) // a kind may have something else there
	return spec.Template.Spec.PriorityClassName
}

// An autoscaler is what is read of an HPA or a ScaledObject.
type autoscaler struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ScaleTargetRef  kube.Reference  `json:"scaleTargetRef"`
		MaxReplicas     int32           `json:"maxReplicas"`
		MaxReplicaCount *int32          `json:"maxReplicaCount"`
		Behavior        json.RawMessage `json:"behavior"`
	} `json:"spec"`

	kind plan.Kind
}

type priorityClass struct {
	metav1.ObjectMeta `json:"metadata"`

	Value         int32 `json:"value"`
	GlobalDefault bool  `json:"globalDefault"`
}

// scaled returns the kinds of workloads that are raised.
func (c *Client) scaled() []workload.Kind {
	return slices.DeleteFunc(c.Kinds.All(), func(k workload.Kind) bool { return !k.Scales() })
}

// Look reads all that a restore decides by. What cannot be read is an error: a
// brake that is not seen to be needed would be missing.
func (c *Client) Look(ctx context.Context) (map[workload.ID]plan.Workload, error) {
	priorities, err := list[priorityClass](ctx, c, priorityClasses, false, kube.Selection{})
	if err != nil {
		return nil, err
	}
	scalers, err := c.autoscalers(ctx)
	if err != nil {
		return nil, err
	}
	found := map[workload.Kind][]scalable{}
	for _, kind := range c.scaled() {
		o, _ := c.Kinds.Object(kind)
		if found[kind], err = list[scalable](ctx, c, resourceOf(o), !own(o), kube.Selection{}); err != nil {
			return nil, err
		}
	}
	return c.fleet(found, scalers, values(priorities)), nil
}

// fleet puts together what was read.
func (c *Client) fleet(
	found map[workload.Kind][]scalable, scalers []autoscaler, priority func(class string) int32,
) map[workload.ID]plan.Workload {
	by := c.scalersOf(scalers)
	live := map[workload.ID]plan.Workload{}
	var primaries []plan.Workload
	for kind, all := range found {
		o, _ := c.Kinds.Object(kind)
		for _, s := range all {
			w := s.workload(kind, o)
			w.Priority, w.Scalers = priority(s.priorityClass()), by[w.ID]
			live[w.ID] = w
			if kube.IsPrimary(&s.ObjectMeta) {
				primaries = append(primaries, w)
			}
		}
	}
	promote(live, primaries)
	return live
}

// promote has each workload that Flagger promotes be as its primary is: git
// declares the one, and the other runs. At zero it is not suspended, and to raise
// it would be to run a second fleet.
func promote(live map[workload.ID]plan.Workload, primaries []plan.Workload) {
	for _, p := range primaries {
		delete(live, p.ID)
		id := p.ID
		id.Name = strings.TrimSuffix(id.Name, kube.PrimarySuffix)
		if w, ok := live[id]; ok {
			p.ID, p.Primary = id, p.ID
			p.Priority, p.OptOut = w.Priority, w.OptOut
			p.Terminating = w.Terminating || p.Terminating
			p.Unknown = w.Unknown
			live[id] = p
		}
	}
}

// values returns the priority of pods by the name of their class.
func values(classes []priorityClass) func(name string) int32 {
	by := map[string]int32{}
	for _, p := range classes {
		by[p.Name] = p.Value
		if p.GlobalDefault {
			by[""] = p.Value
		}
	}
	return func(name string) int32 { return by[name] }
}

// autoscalers lists both kinds of them.
func (c *Client) autoscalers(ctx context.Context) ([]autoscaler, error) {
	hpas, err := c.scalers(ctx, plan.HPA, false, kube.Selection{})
	if err != nil {
		return nil, err
	}
	scaled, err := c.scalers(ctx, plan.ScaledObject, true, kube.Selection{})
	return append(hpas, scaled...), err
}

// scalers lists one kind of autoscalers.
func (c *Client) scalers(ctx context.Context, kind plan.Kind, optional bool, some kube.Selection) ([]autoscaler, error) {
	all, err := list[autoscaler](ctx, c, scalers[kind], optional, some)
	for i := range all {
		all[i].kind = kind
	}
	return all, err
}

var scalers = map[plan.Kind]resource{
	plan.HPA:          {"/apis/autoscaling/v2", "horizontalpodautoscalers"},
	plan.ScaledObject: {"/apis/keda.sh/v1alpha1", "scaledobjects"},
}

var priorityClasses = resource{"/apis/scheduling.k8s.io/v1", "priorityclasses"}

// scalersOf sorts autoscalers by what they scale. KEDA's own HPAs are left to
// KEDA.
func (c *Client) scalersOf(all []autoscaler) map[workload.ID][]plan.Scaler {
	by := map[workload.ID][]plan.Scaler{}
	for _, a := range all {
		owner := metav1.GetControllerOf(&a.ObjectMeta)
		if a.kind == plan.HPA && owner != nil && owner.Kind == "ScaledObject" {
			continue
		}
		ref := a.Spec.ScaleTargetRef
		if a.kind == plan.ScaledObject {
			ref = ref.OrDeployment()
		}
		if id := ref.Workload(c.Kinds, a.Namespace); id != (workload.ID{}) {
			by[id] = append(by[id], a.scaler())
		}
	}
	return by
}

func (a autoscaler) scaler() plan.Scaler {
	s := plan.Scaler{Kind: a.kind, Namespace: a.Namespace, Name: a.Name, Max: a.Spec.MaxReplicas, Owner: a.states()}
	if a.kind == plan.ScaledObject {
		s.Max, s.Fixed = ptr.Deref(a.Spec.MaxReplicaCount, kube.KEDAMax), kube.HeldAt(a.Annotations)
	}
	return s
}

// states returns who else wrote the very field that a brake sets. Who applies
// what git holds is noted for each field that git states.
func (a autoscaler) states() string {
	for _, entry := range a.ManagedFields {
		if entry.Manager == Manager || entry.Subresource != "" {
			continue
		}
		var owns struct {
			Metadata struct {
				Annotations map[string]any `json:"f:annotations"`
			} `json:"f:metadata"`
			Spec struct {
				Behavior struct {
					ScaleDown struct {
						SelectPolicy any `json:"f:selectPolicy"`
					} `json:"f:scaleDown"`
				} `json:"f:behavior"`
			} `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owns) != nil {
			continue
		}
		_, paused := owns.Metadata.Annotations["f:"+brake.PausedScaleIn]
		if a.kind == plan.HPA && owns.Spec.Behavior.ScaleDown.SelectPolicy != nil || a.kind == plan.ScaledObject && paused {
			return entry.Manager
		}
	}
	return ""
}

func (a autoscaler) object() brake.Object {
	return brake.Object{Kind: a.kind, Annotations: a.Annotations, Behavior: a.Spec.Behavior}
}
