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

// A scalable is the part of a workload that a restore reads.
type scalable struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec   json.RawMessage `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// own reports whether a kind belongs to Kubernetes. Every cluster serves such a kind, and
// its API server sets default replicas. Another kind, or its controller, may not be
// installed yet.
func own(o workload.Object) bool { return o.Group == "apps" }

// workload converts an object of a kind. Kubernetes' own kinds have 1 replica by default.
// The replicas of another kind are unknown until they are set, and its scale subresource
// returns an error until then. The controller of Argo Rollouts sets them.
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
	w.Ready, _ = kube.Pods(s.Spec, s.Status, o.Ready) // unknown is taken as not ready
	return w
}

// priorityClass returns the PriorityClass of its pods, or "" if they name none.
func (s scalable) priorityClass() string {
	var spec struct {
		Template struct {
			Spec struct {
				PriorityClassName string `json:"priorityClassName"`
			} `json:"spec"`
		} `json:"template"`
	}
	_ = json.Unmarshal(s.Spec, &spec) // another kind may have another field there
	return spec.Template.Spec.PriorityClassName
}

// An autoscaler is the part of an HPA or a ScaledObject that a restore reads.
type autoscaler struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		ScaleTargetRef  kube.Reference  `json:"scaleTargetRef"`
		MaxReplicas     int32           `json:"maxReplicas"`
		MaxReplicaCount *int32          `json:"maxReplicaCount"`
		Behavior        json.RawMessage `json:"behavior"`
		Advanced        struct {
			HPA struct {
				Behavior json.RawMessage `json:"behavior"`
			} `json:"horizontalPodAutoscalerConfig"`
		} `json:"advanced"` // KEDA copies it to the HPA of a ScaledObject
	} `json:"spec"`

	kind plan.Kind
}

type priorityClass struct {
	metav1.ObjectMeta `json:"metadata"`

	Value         int32 `json:"value"`
	GlobalDefault bool  `json:"globalDefault"`
}

// scaled returns the kinds of workloads that a restore raises.
func (c *Client) scaled() []workload.Kind {
	return slices.DeleteFunc(c.Kinds.All(), func(k workload.Kind) bool { return !k.Scales() })
}

// Look reads everything that a restore depends on. It returns an error if a part cannot
// be read, because the restore could miss an autoscaler and set no brake on it.
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

// fleet combines the objects into workloads.
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

// promote gives each workload that Flagger promotes the scale of its primary. Git has the
// level of the target, and the primary has the pods. A target with 0 replicas is not
// suspended, and raising it would run the workload twice.
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

// values returns the priority of pods by the name of their PriorityClass.
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

// autoscalers lists HPAs and ScaledObjects.
func (c *Client) autoscalers(ctx context.Context) ([]autoscaler, error) {
	hpas, err := c.scalers(ctx, plan.HPA, false, kube.Selection{})
	if err != nil {
		return nil, err
	}
	scaled, err := c.scalers(ctx, plan.ScaledObject, true, kube.Selection{})
	return append(hpas, scaled...), err
}

// scalers lists one kind of autoscaler.
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

// scalersOf groups autoscalers by the workload that they scale. It skips HPAs that belong
// to KEDA.
func (c *Client) scalersOf(all []autoscaler) map[workload.ID][]plan.Scaler {
	by := map[workload.ID][]plan.Scaler{}
	for _, a := range all {
		if a.tool() != "" {
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

// tool returns the name of the ScaledObject that an HPA belongs to. It returns "" for
// other autoscalers.
func (a autoscaler) tool() string {
	owner := metav1.GetControllerOf(&a.ObjectMeta)
	if a.kind != plan.HPA || owner == nil || owner.Kind != "ScaledObject" {
		return ""
	}
	return owner.Name
}

func (a autoscaler) scaler() plan.Scaler {
	s := plan.Scaler{Kind: a.kind, Namespace: a.Namespace, Name: a.Name, Max: a.Spec.MaxReplicas, Owner: a.states()}
	if a.kind == plan.ScaledObject {
		s.Max, s.Fixed = ptr.Deref(a.Spec.MaxReplicaCount, kube.KEDAMax), kube.HeldAt(a.Annotations)
	}
	return s
}

// states returns another manager of the field that a brake sets. The API server records a
// manager, such as a GitOps tool, for each field that the manager applies.
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
