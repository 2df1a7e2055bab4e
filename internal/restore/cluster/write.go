package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// tries is the number of times to repeat a write that conflicts with another one.
const tries = 5

// A scale is the scale subresource of a workload.
type scale struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Replicas int32 `json:"replicas"`
	} `json:"spec"`
}

// Raise sets the replicas through the scale subresource, if the workload has not changed
// since seen. If it has, the error is a conflict. Raise changes nothing if the workload
// has at least the given replicas.
func (c *Client) Raise(ctx context.Context, seen plan.Workload, to int32) error {
	id := seen.Runs()
	if !slices.Contains(c.scaled(), id.Kind) {
		return fmt.Errorf("raise %s: its kind has no scale subresource", id)
	}
	o, _ := c.Kinds.Object(id.Kind)
	at := resourceOf(o).in(id.Namespace) + "/" + id.Name + "/scale"
	return wrap("raise "+id.String(), c.raise(ctx, at, o, seen, to))
}

func (c *Client) raise(ctx context.Context, at string, o workload.Object, seen plan.Workload, to int32) error {
	var s scale
	err := c.read(ctx, c.client.Get().AbsPath(at), &s)
	switch {
	case err != nil:
		return err
	case s.ResourceVersion != seen.Version:
		return apierrors.NewConflict(schema.GroupResource{Group: o.Group, Resource: o.Resource}, seen.Runs().Name, errChanged)
	case s.Spec.Replicas != seen.Replicas:
		return fmt.Errorf("its scale subresource has %d replicas, but %s has %d. Correct replicas of its kind in kinds of the policy", s.Spec.Replicas, o.Replicas, seen.Replicas)
	case s.Spec.Replicas >= to:
		return nil
	}
	s.Spec.Replicas, s.ManagedFields = to, nil
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	// The resourceVersion in the body is the condition.
	return c.read(ctx, c.client.Put().AbsPath(at).Param("fieldManager", Manager).Body(body), &s)
}

var errChanged = errors.New("it changed after gitlatch read it")

// Brake stops an autoscaler from scaling down for a span from now.
func (c *Client) Brake(ctx context.Context, s plan.Scaler, now time.Time, span time.Duration) (brake.Outcome, error) {
	out, err := c.change(ctx, s, func(o brake.Object) (brake.Patch, brake.Outcome, error) { return brake.Put(o, now, span) })
	return out, wrap("brake "+s.String(), err)
}

// Release undoes the brake of an autoscaler.
func (c *Client) Release(ctx context.Context, s plan.Scaler) (brake.Outcome, error) {
	out, err := c.change(ctx, s, brake.Release)
	return out, wrap("release "+s.String(), err)
}

// change reads an autoscaler and patches it. If someone wrote it in between, change
// starts again.
func (c *Client) change(
	ctx context.Context, s plan.Scaler, by func(brake.Object) (brake.Patch, brake.Outcome, error),
) (out brake.Outcome, err error) {
	at := scalers[s.Kind].in(s.Namespace) + "/" + s.Name
	for range tries {
		a := autoscaler{kind: s.Kind}
		if err = c.read(ctx, c.client.Get().AbsPath(at), &a); err != nil {
			return brake.None, err
		}
		var p brake.Patch
		if p, out, err = by(a.object()); err != nil || p == nil {
			return out, err
		}
		p["metadata"].(map[string]any)["resourceVersion"] = a.ResourceVersion
		var body []byte
		if body, err = json.Marshal(p); err != nil {
			return brake.None, err
		}
		err = c.read(ctx, c.client.Patch(types.MergePatchType).AbsPath(at).Param("fieldManager", Manager).Body(body), &a)
		if !apierrors.IsConflict(err) {
			break
		}
	}
	if err != nil {
		return brake.None, err
	}
	return out, nil
}

// Brakes returns the brakes in the cluster. KEDA copies the annotations of a ScaledObject
// to its HPA, so the HPA of a braked ScaledObject has a copy of the note, and no brake.
func (c *Client) Brakes(ctx context.Context) ([]brake.Found, error) {
	all, err := c.autoscalers(ctx)
	if err != nil {
		return nil, err
	}
	return brakes(all), nil
}

func brakes(all []autoscaler) (found []brake.Found) {
	ignored := unlike(all, false)
	for _, a := range all {
		f, ok := brake.Find(a.scaler(), a.object())
		if ok && a.tool() == "" {
			f.Ignored = ignored[f.Scaler.String()]
			found = append(found, f)
		}
	}
	return found
}

// Stale returns the HPAs of KEDA that do not scale down although their ScaledObject
// allows it: the name of each one, by the String of its ScaledObject.
func (c *Client) Stale(ctx context.Context) (map[string]string, error) {
	all, err := c.autoscalers(ctx)
	return unlike(all, true), err
}

// unlike returns the HPAs of KEDA that differ from their ScaledObject: their scaling down
// is off as stops states, and the ScaledObject states the opposite. The keys are the
// Strings of the ScaledObjects, and the values the names of the HPAs.
func unlike(all []autoscaler, stops bool) map[string]string {
	hpas := map[string]string{}
	opposite := map[string]bool{}
	for _, a := range all {
		switch {
		case a.kind == plan.ScaledObject:
			hpa := brake.Object{Kind: plan.HPA, Behavior: a.Spec.Advanced.HPA.Behavior}
			opposite[a.scaler().String()] = (a.object().Stops() || hpa.Stops()) != stops
		case a.tool() != "" && a.object().Stops() == stops:
			of := plan.Scaler{Kind: plan.ScaledObject, Namespace: a.Namespace, Name: a.tool()}
			hpas[of.String()] = a.Name
		}
	}
	maps.DeleteFunc(hpas, func(of, _ string) bool { return !opposite[of] })
	return hpas
}
