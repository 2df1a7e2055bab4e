package brake_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
)

var now = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

const (
	span   = 4 * time.Hour
	paused = "autoscaling.keda.sh/paused-scale-in"

	// The API server's form of each behaviour, and of one that states only that scaling
	// down is off.
	own      = `{"scaleUp":{"selectPolicy":"Min"},"scaleDown":{"stabilizationWindowSeconds":60,"selectPolicy":"Min","policies":[{"type":"Pods","value":4,"periodSeconds":60}]}}`
	ownOff   = `{"scaleUp":{"selectPolicy":"Min"},"scaleDown":{"stabilizationWindowSeconds":60,"selectPolicy":"Disabled","policies":[{"type":"Pods","value":4,"periodSeconds":60}]}}`
	defaults = `{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]},"scaleDown":{"selectPolicy":"Disabled","policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}`
)

// patched returns the object after a merge patch.
func patched(t *testing.T, o brake.Object, p brake.Patch) brake.Object {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		t.Fatal(err)
	}
	before := map[string]any{"metadata": map[string]any{"annotations": map[string]any{}}, "spec": map[string]any{}}
	for name, value := range o.Annotations {
		before["metadata"].(map[string]any)["annotations"].(map[string]any)[name] = value
	}
	if len(o.Behavior) > 0 {
		before["spec"].(map[string]any)["behavior"] = tree(t, o.Behavior)
	}
	merged := merge(before, patch).(map[string]any)
	o.Annotations, o.Behavior = map[string]string{}, nil
	for name, value := range merged["metadata"].(map[string]any)["annotations"].(map[string]any) {
		o.Annotations[name] = value.(string)
	}
	if b := merged["spec"].(map[string]any)["behavior"]; b != nil {
		o.Behavior, _ = json.Marshal(b)
	}
	return o
}

// merge applies a merge patch as in RFC 7386.
func merge(to, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	m, ok := to.(map[string]any)
	if !ok {
		m = map[string]any{}
	}
	for name, value := range p {
		if value == nil {
			delete(m, name)
			continue
		}
		m[name] = merge(m[name], value)
	}
	return m
}

func tree(t *testing.T, raw []byte) (v any) {
	t.Helper()
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func TestWhatABrakeReplacedComesBack(t *testing.T) {
	t.Parallel()
	hpa := func(behavior string) brake.Object {
		return brake.Object{Kind: plan.HPA, Annotations: map[string]string{"mine": "1"}, Behavior: json.RawMessage(behavior)}
	}
	scaled := func(value ...string) brake.Object {
		o := brake.Object{Kind: plan.ScaledObject, Annotations: map[string]string{"mine": "1"}}
		for _, v := range value {
			o.Annotations[paused] = v
		}
		return o
	}
	for name, c := range map[string]struct {
		before brake.Object
		server string // the braked behaviour in the API server's form
	}{
		"an HPA without behaviour":           {hpa(""), defaults},
		"an HPA with its own behaviour":      {hpa(own), ownOff},
		"an HPA that says only how to go up": {hpa(`{"scaleUp":{"selectPolicy":"Min"}}`), ""},
		"a ScaledObject":                     {scaled(), ""},
		"a ScaledObject that says false":     {scaled("false"), ""},
	} {
		p, outcome, err := brake.Put(c.before, now, span)
		if err != nil || outcome != brake.Set {
			t.Fatalf("%s: %s %v", name, outcome, err)
		}
		during := patched(t, c.before, p)
		if c.server != "" {
			during.Behavior = json.RawMessage(c.server)
		}
		f, ok := brake.Find(plan.Scaler{}, during)
		if !f.Holds || during.Annotations["mine"] != "1" {
			t.Errorf("%s: it does not hold: %+v", name, during)
		}
		if !ok || f.Err != nil || !f.Until.Equal(now.Add(span)) {
			t.Errorf("%s: found %+v %v", name, f, ok)
		}
		if p, outcome, err := brake.Put(during, now.Add(time.Hour), span); p != nil || outcome != brake.Kept || err != nil {
			t.Errorf("%s: put again: %v %s %v", name, p, outcome, err)
		}
		p, outcome, err = brake.Put(during, now.Add(3*time.Hour), span)
		if outcome != brake.Extended || err != nil {
			t.Errorf("%s: put late: %s %v", name, outcome, err)
		}
		during = patched(t, during, p) // the note still has the replaced behaviour
		p, outcome, err = brake.Release(during)
		if outcome != brake.Released || err != nil {
			t.Fatalf("%s: release: %s %v", name, outcome, err)
		}
		after := patched(t, during, p)
		if !reflect.DeepEqual(after.Annotations, c.before.Annotations) || !reflect.DeepEqual(tree(t, after.Behavior), normal(tree(t, c.before.Behavior))) {
			t.Errorf("%s: came back as %+v %s", name, after.Annotations, after.Behavior)
		}
		if p, outcome, err := brake.Release(after); p != nil || outcome != brake.None || err != nil {
			t.Errorf("%s: release again: %v %s %v", name, p, outcome, err)
		}
	}
}

// normal adds the empty scaleDown that a merge patch removes and an API server would
// fill with defaults.
func normal(behavior any) any {
	if m, ok := behavior.(map[string]any); ok && m["scaleDown"] == nil {
		m["scaleDown"] = map[string]any{}
	}
	return behavior
}

func TestWhoChangesABrakeWins(t *testing.T) {
	t.Parallel()
	braked := func(o brake.Object, server string) brake.Object {
		p, _, err := brake.Put(o, now, span)
		if err != nil {
			t.Fatal(err)
		}
		o = patched(t, o, p)
		if server != "" {
			o.Behavior = json.RawMessage(server)
		}
		return o
	}
	none := brake.Object{Kind: plan.HPA}
	for name, c := range map[string]struct {
		o       brake.Object
		changed string // the behavior that someone wrote
		outcome brake.Outcome
		want    string
	}{
		"the behaviour is gone":             {braked(none, defaults), "", brake.Changed, ""},
		"scaling down is on again":          {braked(none, defaults), own, brake.Changed, own},
		"the way up changed, the stop not":  {braked(none, defaults), ownOff, brake.Released, strings.Replace(ownOff, "Disabled", "Max", 1)},
		"the window changed, the stop not":  {braked(brake.Object{Kind: plan.HPA, Behavior: json.RawMessage(own)}, ownOff), strings.Replace(ownOff, "60", "90", 1), brake.Released, strings.Replace(own, "60", "90", 1)},
		"scaling down is as before already": {braked(brake.Object{Kind: plan.HPA, Behavior: json.RawMessage(own)}, ownOff), own, brake.Changed, own},
	} {
		c.o.Behavior = json.RawMessage(c.changed)
		p, outcome, err := brake.Release(c.o)
		if outcome != c.outcome || err != nil {
			t.Errorf("%s: %s %v", name, outcome, err)
		}
		after := patched(t, c.o, p)
		if _, there := after.Annotations[brake.Annotation]; there || !reflect.DeepEqual(tree(t, after.Behavior), tree(t, []byte(c.want))) {
			t.Errorf("%s: %+v %s, want %s", name, after.Annotations, after.Behavior, c.want)
		}
	}
	for _, value := range []string{"false", ""} {
		o := braked(brake.Object{Kind: plan.ScaledObject}, "")
		if o.Annotations[paused] = value; value == "" {
			delete(o.Annotations, paused)
		}
		p, outcome, err := brake.Release(o)
		after := patched(t, o, p)
		if outcome != brake.Changed || err != nil || after.Annotations[paused] != value || after.Annotations[brake.Annotation] != "" {
			t.Errorf("ScaledObject %q: %s %v %+v", value, outcome, err, after.Annotations)
		}
	}
}

func TestAStopOfSomebodyElseIsLeft(t *testing.T) {
	t.Parallel()
	for _, o := range []brake.Object{
		{Kind: plan.HPA, Behavior: json.RawMessage(ownOff)},
		{Kind: plan.ScaledObject, Annotations: map[string]string{paused: "true"}},
		{Kind: plan.ScaledObject, Annotations: map[string]string{paused: "yes, please"}}, // KEDA stops in this case
	} {
		if p, outcome, err := brake.Put(o, now, span); p != nil || outcome != brake.Foreign || err != nil {
			t.Errorf("%+v: %v %s %v", o, p, outcome, err)
		}
		if p, outcome, err := brake.Release(o); p != nil || outcome != brake.None || err != nil {
			t.Errorf("%+v: %v %s %v", o, p, outcome, err)
		}
	}
}

func TestANoteThatCannotBeReadIsNotGuessed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "4h", "{}", `{"until":"soon"}`, `{"until":"2026-03-02T08:00:00Z"}`} {
		o := brake.Object{Kind: plan.HPA, Annotations: map[string]string{brake.Annotation: text}, Behavior: json.RawMessage(ownOff)}
		p, _, putting := brake.Put(o, now, span)
		q, _, releasing := brake.Release(o)
		if p != nil || q != nil || putting == nil || releasing == nil || !strings.Contains(releasing.Error(), "gitlatch.dev/brake cannot be parsed") {
			t.Errorf("%q: %v %v, %v %v", text, p, putting, q, releasing)
		}
	}
}
