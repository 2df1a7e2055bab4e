package restore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var errKilled = errors.New("killed")

// A world is a cluster in memory, with autoscalers that see idle pods. After the
// scale-down window, each sample lowers every workload without a brake to one pod.
type world struct {
	now     time.Time
	window  time.Time // the end of the scale-down window; the zero time is before any sample
	live    map[workload.ID]plan.Workload
	scalers map[string]*brake.Object
	writes  []string
	refuse  map[string]error  // by write
	look    func()            // called before each sample; may be nil
	ready   time.Time         // until then, the pods of reached are not ready
	stale   time.Time         // until then, KEDA leaves the HPA of mail at Disabled
	ignores bool              // KEDA does not apply the brakes of ScaledObjects
	braked  func(plan.Scaler) // called for each brake; may be nil
	seen    func(workload.ID) // called with each workload that was read for a raise; may be nil

	// killAt is the number of the write at which the process dies, before or after it;
	// 0 kills it never.
	killAt int
	after  bool
	dead   bool
}

func newWorld() *world {
	w := &world{now: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC), live: map[workload.ID]plan.Workload{}, scalers: map[string]*brake.Object{}}
	for i, name := range []string{"api", "web", "mail"} {
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
		s := plan.Scaler{Kind: plan.HPA, Namespace: "shop", Name: name, Max: 500}
		o := &brake.Object{Kind: plan.HPA, Annotations: map[string]string{}}
		switch name {
		case "web":
			o.Behavior = json.RawMessage(`{"scaleDown":{"selectPolicy":"Min","stabilizationWindowSeconds":7}}`)
		case "mail":
			s.Kind, o.Kind = plan.ScaledObject, plan.ScaledObject
		}
		w.scalers[s.String()] = o
		w.live[id] = plan.Workload{ID: id, Replicas: 1, Ready: 1, Priority: int32(10 * i), Scalers: []plan.Scaler{s}}
	}
	return w
}

// fullWorld is a world within its scale-down window. It also has workloads that a restore
// only brakes, and one without an autoscaler.
func fullWorld() *world {
	w := newWorld()
	w.window = w.now.Add(time.Hour)
	for name, c := range map[string]struct{ replicas, most int32 }{"reached": {100, 500}, "above": {120, 500}, "capped": {50, 50}, "manual": {1, 0}} {
		id := workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: name}
		one := plan.Workload{ID: id, Replicas: c.replicas, Ready: c.replicas}
		if c.most > 0 {
			one.Scalers = []plan.Scaler{{Kind: plan.HPA, Namespace: "shop", Name: name, Max: c.most}}
			w.scalers[one.Scalers[0].String()] = &brake.Object{Kind: plan.HPA, Annotations: map[string]string{}}
		}
		w.live[id] = one
	}
	return w
}

// target returns the replicas of a workload at the end of a restore.
func target(id workload.ID) int32 {
	if n, other := map[string]int32{"above": 120, "capped": 50}[id.Name]; other {
		return n
	}
	return 100
}

func (w *world) tree() checkpoint.Tree {
	r := checkpoint.Record{Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{}}
	for id := range w.live {
		r.Entries[id] = checkpoint.Entry{Replicas: 100}
	}
	return checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": r}}
}

func (w *world) restore() *restore.Restore {
	w.dead = false
	return &restore.Restore{
		Site: "prod-eu", Cluster: w,
		Clock: func() time.Time { return w.now },
		Wait:  func(_ context.Context, d time.Duration) { w.now = w.now.Add(d) },
		Pace:  plan.Pace{PerMinute: 600, Unready: 1000, Patience: time.Minute},
		Hold:  restore.Hold, Every: restore.Every, Recheck: restore.Recheck,
	}
}

func (w *world) UID(context.Context) (string, error) { return "uid", w.alive() }

func (w *world) alive() error {
	if w.dead {
		return context.Canceled
	}
	return nil
}

func (w *world) Look(context.Context) (map[workload.ID]plan.Workload, error) {
	if w.look != nil {
		w.look()
	}
	for id, one := range w.live {
		for _, s := range one.Scalers {
			braked, _ := brake.Find(s, *w.scalers[s.String()])
			if one.Replicas > 0 && !w.now.Before(w.window) && !braked.Holds {
				one.Replicas = 1
			}
		}
		one.Ready = one.Replicas
		if id == reachedID && w.now.Before(w.ready) {
			one.Ready = 7
		}
		w.live[id] = one
	}
	return maps.Clone(w.live), w.alive()
}

// write makes one write, unless the process dies first.
func (w *world) write(what string, do func()) error {
	if err := w.alive(); err != nil {
		return err
	}
	if err := w.refuse[what]; err != nil {
		return err
	}
	dies := len(w.writes)+1 == w.killAt
	if dies && !w.after {
		w.writes, w.dead = append(w.writes, "killed"), true
		return errKilled
	}
	do()
	w.writes = append(w.writes, what)
	if dies {
		w.dead = true
		return errKilled
	}
	return nil
}

func (w *world) See(_ context.Context, looked plan.Workload) (map[workload.ID]plan.Workload, error) {
	seen := map[workload.ID]plan.Workload{}
	if one, lives := w.live[looked.ID]; lives {
		seen[one.ID] = one
	}
	if w.seen != nil {
		w.seen(looked.ID)
	}
	return seen, w.alive()
}

func (w *world) Raise(_ context.Context, seen plan.Workload, to int32) error {
	one, lives := w.live[seen.ID]
	switch {
	case !lives:
		return apierrors.NewNotFound(deployments, seen.ID.Name)
	case one.Version != seen.Version:
		return apierrors.NewConflict(deployments, seen.ID.Name, errors.New("it was changed"))
	}
	one.Replicas = to
	return w.write("raise "+seen.Runs().Short(), func() { w.live[one.ID] = one })
}

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

func (w *world) Brakes(context.Context) (found []brake.Found, err error) {
	for _, name := range slices.Sorted(maps.Keys(w.scalers)) {
		o := *w.scalers[name]
		kind, short, _ := strings.Cut(name, " ")
		namespace, own, _ := strings.Cut(short, "/")
		if f, ok := brake.Find(plan.Scaler{Kind: plan.Kind(kind), Namespace: namespace, Name: own}, o); ok {
			if w.ignores && f.Scaler.Kind == plan.ScaledObject {
				f.Ignored = "keda-hpa-" + f.Scaler.Name
			}
			found = append(found, f)
		}
	}
	return found, w.alive()
}

func (w *world) Brake(_ context.Context, s plan.Scaler, now time.Time, span time.Duration) (brake.Outcome, error) {
	p, outcome, err := brake.Put(*w.scalers[s.String()], now, span)
	if err == nil && p != nil {
		err = w.write("brake "+s.String(), func() { w.patch(s, p) })
	}
	if w.braked != nil {
		w.braked(s)
	}
	return outcome, err
}

func (w *world) Release(_ context.Context, s plan.Scaler) (brake.Outcome, error) {
	p, outcome, err := brake.Release(*w.scalers[s.String()])
	if err == nil && p != nil {
		err = w.write("release "+s.String(), func() { w.patch(s, p) })
	}
	return outcome, err
}

func (w *world) Stale(context.Context) (map[string]string, error) {
	if w.now.Before(w.stale) {
		return map[string]string{"scaledobject shop/mail": "keda-hpa-mail"}, w.alive()
	}
	return nil, w.alive()
}

// patch applies a merge patch to an autoscaler, as an API server does.
func (w *world) patch(s plan.Scaler, p brake.Patch) {
	o := w.scalers[s.String()]
	text, _ := json.Marshal(p)
	var patch struct {
		Metadata struct{ Annotations map[string]*string }
		Spec     map[string]map[string]map[string]*string
	}
	if err := json.Unmarshal(text, &patch); err != nil {
		panic(err)
	}
	for name, value := range patch.Metadata.Annotations {
		delete(o.Annotations, name)
		if value != nil {
			o.Annotations[name] = *value
		}
	}
	behavior, changed := patch.Spec["behavior"]
	switch {
	case !changed:
	case behavior == nil:
		o.Behavior = nil
	case len(o.Behavior) == 0:
		o.Behavior = json.RawMessage(fmt.Sprintf(defaulted, *behavior["scaleDown"]["selectPolicy"]))
	default:
		var own struct {
			ScaleDown map[string]any `json:"scaleDown"`
		}
		_ = json.Unmarshal(o.Behavior, &own)
		own.ScaleDown["selectPolicy"] = *behavior["scaleDown"]["selectPolicy"]
		o.Behavior, _ = json.Marshal(own)
	}
}

const defaulted = `{"scaleUp":{"stabilizationWindowSeconds":0,"selectPolicy":"Max","policies":[{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]},"scaleDown":{"selectPolicy":%q,"policies":[{"type":"Percent","value":100,"periodSeconds":15}]}}`

// same reports whether autoscalers have not changed in meaning.
func same(a, b map[string]*brake.Object) bool {
	return slices.Equal(slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b))) && !slices.ContainsFunc(slices.Collect(maps.Keys(a)), func(name string) bool {
		var x, y any
		_, _ = json.Unmarshal(a[name].Behavior, &x), json.Unmarshal(b[name].Behavior, &y)
		return !reflect.DeepEqual(x, y) || !maps.Equal(a[name].Annotations, b[name].Annotations)
	})
}
