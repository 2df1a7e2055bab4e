// Package brake stops an autoscaler from scaling down for a time, and then restores its
// former setting exactly. One patch sets the brake and the annotation with the replaced
// setting, so that neither exists without the other.
package brake

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Annotation is the annotation that stores the note of a brake.
const Annotation = workload.BrakeAnnotation

// PausedScaleIn is an annotation of KEDA. It is the brake of a ScaledObject, because KEDA
// owns the HPA.
const PausedScaleIn = "autoscaling.keda.sh/paused-scale-in"

// disabled is the selectPolicy of an HPA that does not scale down.
const disabled = "Disabled"

// Field is the field of an autoscaler that a brake sets.
func Field(kind plan.Kind) string {
	if kind == plan.ScaledObject {
		return "the annotation " + PausedScaleIn
	}
	return "spec.behavior.scaleDown.selectPolicy"
}

// An Object is the part of an autoscaler that a brake reads.
type Object struct {
	Kind        plan.Kind
	Annotations map[string]string
	// Behavior is spec.behavior of an HPA as JSON. It is empty if the HPA has no
	// behavior.
	Behavior json.RawMessage
}

// A note is the value of the annotation.
type note struct {
	Until    time.Time       `json:"until"`
	Replaced json.RawMessage `json:"replaced"` // was as JSON

	// was is the former selectPolicy of an HPA, or the former text of KEDA's annotation.
	// It is nil if the HPA had no behavior or the ScaledObject no annotation. It is "" if
	// the HPA had a behavior without a selectPolicy.
	was *string
}

// An Outcome is the outcome of a change of a brake.
type Outcome string

// The outcomes.
const (
	Set      Outcome = "set"      // the brake is new
	Extended Outcome = "extended" // the brake was there and expires later now
	Kept     Outcome = "kept"     // the brake was there and expires late enough
	Foreign  Outcome = "foreign"  // something else stops scaling down: there is nothing to set, and nothing to release
	Released Outcome = "released" // the replaced setting is back
	Changed  Outcome = "changed"  // someone changed the setting; the change stays, and only the annotation is removed
	None     Outcome = "none"     // the autoscaler has no brake
)

// A Patch is a JSON merge patch. Nil means that there is nothing to change.
type Patch map[string]any

// Put brakes an autoscaler for a span from now. It keeps a brake that expires in half of
// the span or later.
func Put(o Object, now time.Time, span time.Duration) (Patch, Outcome, error) {
	until := now.Add(span).UTC().Truncate(time.Second)
	n, noted, err := o.note()
	if err != nil {
		return nil, None, err
	}
	stops, err := o.stops()
	switch {
	case err != nil:
		return nil, None, err
	case noted && stops && n.Until.Sub(now) >= span/2:
		return nil, Kept, nil
	case noted && stops:
		n.Until = until
		return annotate(n, nil), Extended, nil
	case stops:
		return nil, Foreign, nil
	}
	n = note{Until: until}
	if o.Kind == plan.ScaledObject {
		if text, there := o.Annotations[PausedScaleIn]; there {
			n.was = &text
		}
		return annotate(n, map[string]any{PausedScaleIn: "true"}), Set, nil
	}
	if !empty(o.Behavior) {
		policy, err := policyOf(o.Behavior)
		if err != nil {
			return nil, None, err
		}
		n.was = &policy
	}
	p := annotate(n, nil)
	p["spec"] = selectPolicy(disabled)
	return p, Set, nil
}

// Release undoes a brake, whether or not it has expired.
func Release(o Object) (Patch, Outcome, error) {
	n, noted, err := o.note()
	if err != nil || !noted {
		return nil, None, err
	}
	annotations := map[string]any{Annotation: nil}
	p := Patch{"metadata": map[string]any{"annotations": annotations}}
	if o.Kind == plan.ScaledObject {
		if o.Annotations[PausedScaleIn] != "true" {
			return p, Changed, nil
		}
		annotations[PausedScaleIn] = n.was
		return p, Released, nil
	}
	stops, err := o.stops()
	if err != nil || !stops {
		return p, Changed, err
	}
	p["spec"], err = o.before(n)
	return p, Released, err
}

// before returns the patch of spec that restores an HPA's behavior. It keeps other fields
// that someone changed since.
func (o Object) before(n note) (map[string]any, error) {
	switch {
	case n.was != nil && *n.was == "":
		return selectPolicy(nil), nil
	case n.was != nil:
		return selectPolicy(*n.was), nil
	}
	var now, braked any
	if err := errors.Join(json.Unmarshal(o.Behavior, &now), json.Unmarshal([]byte(defaultsBraked), &braked)); err != nil {
		return nil, err
	}
	if reflect.DeepEqual(now, braked) {
		return map[string]any{"behavior": nil}, nil
	}
	return selectPolicy("Max"), nil // the default of an HPA without behavior
}

// defaultsBraked is the behavior that the API server stores if a behavior only contains
// the brake.
const defaultsBraked = `{
	"scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [
		{"type": "Pods", "value": 4, "periodSeconds": 15}, {"type": "Percent", "value": 100, "periodSeconds": 15}]},
	"scaleDown": {"selectPolicy": "Disabled", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
}`

// A Found is an autoscaler whose annotation has a note.
type Found struct {
	Scaler plan.Scaler
	Until  time.Time // when the brake expires; zero if Err is set
	Holds  bool      // the autoscaler still does not scale down
	// Ignored is the name of the HPA of a ScaledObject that scales down although the
	// ScaledObject has the brake; "" if the HPA follows. KEDA before 2.18.0 does not know
	// the annotation of the brake (kedacore/keda#6901).
	Ignored string
	Err     error // the note cannot be read
}

// Find returns the brake of an autoscaler. ok is false if the autoscaler has no brake.
func Find(s plan.Scaler, o Object) (f Found, ok bool) {
	n, ok, err := o.note()
	return Found{Scaler: s, Until: n.Until, Holds: o.Stops() && err == nil, Err: err}, ok
}

func (o Object) note() (n note, noted bool, err error) {
	text, noted := o.Annotations[Annotation]
	if !noted {
		return n, false, nil
	}
	err = json.Unmarshal([]byte(text), &n)
	if err == nil {
		err = json.Unmarshal(n.Replaced, &n.was)
	}
	known := o.Kind == plan.ScaledObject || n.was == nil || slices.Contains([]string{"", "Max", "Min", disabled}, *n.was)
	if err != nil || n.Until.IsZero() || !known {
		return note{}, true, fmt.Errorf("annotation %s cannot be parsed, so the behavior before the brake is unknown. Correct spec.behavior, and remove the annotation", Annotation)
	}
	return n, true, nil
}

// Stops reports whether scaling down is off, with or without a brake. It is false if the
// behavior cannot be read.
func (o Object) Stops() bool {
	stops, err := o.stops()
	return stops && err == nil
}

// stops reports whether scaling down is off, with or without a brake.
func (o Object) stops() (bool, error) {
	if o.Kind == plan.ScaledObject {
		text, there := o.Annotations[PausedScaleIn]
		on, err := strconv.ParseBool(text)
		return there && (err != nil || on), nil // as KEDA parses it
	}
	if empty(o.Behavior) {
		return false, nil
	}
	policy, err := policyOf(o.Behavior)
	return policy == disabled, err
}

func marshal(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // plain values
	}
	return text
}

func policyOf(behavior json.RawMessage) (string, error) {
	var b struct {
		ScaleDown struct {
			SelectPolicy string `json:"selectPolicy"`
		} `json:"scaleDown"`
	}
	err := json.Unmarshal(behavior, &b)
	return b.ScaleDown.SelectPolicy, err
}

func selectPolicy(to any) map[string]any {
	return map[string]any{"behavior": map[string]any{"scaleDown": map[string]any{"selectPolicy": to}}}
}

func annotate(n note, also map[string]any) Patch {
	n.Replaced = marshal(n.was)
	annotations := map[string]any{Annotation: string(marshal(n))}
	maps.Copy(annotations, also)
	return Patch{"metadata": map[string]any{"annotations": annotations}}
}

func empty(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }
