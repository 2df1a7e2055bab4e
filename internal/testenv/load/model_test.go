package load

import (
	"fmt"
	"math"
	"testing"
	"time"
)

var constants = Constants{Capacity: 0.1, Fails: 30 * time.Second, Recovers: 10 * time.Second, Window: 15 * time.Second}

var midnight = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// A world shows a model its own wishes at once, step by step of a second.
type world struct {
	model *Model
	pods  map[string]Pod
	now   time.Time
}

func newWorld(load float64, pods int) *world {
	w := &world{model: NewModel(constants, map[string]float64{"shop/web": load}), pods: map[string]Pod{}, now: midnight}
	w.add(pods)
	return w
}

func (w *world) add(pods int) {
	for range pods {
		name := fmt.Sprintf("web-%d", len(w.pods))
		w.pods[name] = Pod{Name: name, Workload: "shop/web", Ready: true}
	}
}

func (w *world) run(seconds int) State {
	for range seconds {
		var seen []Pod
		for _, p := range w.pods {
			seen = append(seen, p)
		}
		for _, p := range w.model.Step(w.now, seen) {
			w.pods[p.Name] = p
		}
		w.now = w.now.Add(time.Second)
	}
	return w.model.States()["shop/web"]
}

func TestTheLoadIsSharedByReadyPods(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 20)
	if s := w.run(60); !s.Whole() || s.Ready != 20 || s.Pods != 20 {
		t.Errorf("state %+v", s)
	}
	for _, r := range w.model.Readings("shop/web") {
		if math.Abs(r.Cores-0.05) > 1e-9 || r.Window != 15*time.Second {
			t.Errorf("reading %+v, want a twentieth of the load", r)
		}
	}
	p := w.pods["web-0"]
	p.Ready = false
	w.pods["web-0"] = p
	// The model has seen it ready, so a cluster that shows it otherwise is wrong.
	if s := w.run(2); s.Ready != 20 {
		t.Errorf("state %+v", s)
	}
}

func TestAPodThatHasNotStartedDoesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(0.1, 1)
	w.pods["web-1"] = Pod{Name: "web-1", Workload: "shop/web"}
	if s := w.run(60); s.Pods != 2 || s.Ready != 1 || !s.Whole() {
		t.Errorf("state %+v", s)
	}
	if w.pods["web-1"].Ready {
		t.Error("the model made a pod ready that has not started")
	}
	for _, r := range w.model.Readings("shop/web") {
		want := map[string]float64{"web-0": 0.1, "web-1": 0}[r.Pod]
		if math.Abs(r.Cores-want) > 1e-6 {
			t.Errorf("reading %+v, want %v", r, want)
		}
	}
}

// A cluster takes a while to show the model's result. Until then Step returns the pod
// again, and the pod gets no work.
func TestAPodIsDownBeforeTheClusterShowsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 1)
	w.run(30)
	shown := []Pod{{Name: "web-0", Workload: "shop/web", Ready: true}}
	for range 2 {
		wrong := w.model.Step(w.now, shown)
		if s := w.model.States()["shop/web"]; s.Ready != 0 || len(wrong) != 1 || wrong[0].Ready {
			t.Errorf("state %+v, to be shown: %+v", s, wrong)
		}
		w.now = w.now.Add(time.Second)
	}
}

// One pod under the load of ten shows no more than it can use; it serves that
// for 30 seconds, and is down for the next 10.
func TestAPodWithTooMuchToDoGoesDownAndComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 1)
	var line string
	for range 16 {
		line += fmt.Sprint(w.run(5).Ready)
	}
	if want := "1111110011111100"; line != want {
		t.Errorf("ready every 5 seconds: %s, want %s", line, want)
	}
	for _, r := range w.model.Readings("shop/web") {
		if r.Cores > constants.Capacity+1e-9 {
			t.Errorf("reading %+v, over its limit", r)
		}
	}
	if s := w.model.States()["shop/web"]; s.Served != 0 {
		t.Errorf("served %v by no ready pod", s.Served)
	}
}

func TestPodsThatCanJustDoItStayUp(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 10)
	if s := w.run(300); s.Ready != 10 || !s.Whole() {
		t.Errorf("state %+v", s)
	}
	w = newWorld(1, 9)
	if s := w.run(20); s.Whole() || math.Abs(s.Served-0.9) > 1e-6 {
		t.Errorf("state %+v", s)
	}
}

// An autoscaler believes a reading only where all of its window lies after the
// pod was ready.
func TestAReadingIsOfAWholeWindow(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 20)
	measured := -1
	for second := range 60 {
		w.run(1)
		if w.model.Measured("shop/web") {
			measured = second
			break
		}
	}
	if measured != 15 {
		t.Errorf("measured after %d s, want 15", measured)
	}
	w.run(5)
	w.add(1)
	w.run(10)
	if len(w.model.Readings("shop/web")) != 20 {
		t.Errorf("%d readings: the first look at a pod tells nothing", len(w.model.Readings("shop/web")))
	}
	if w.run(3); w.model.Measured("shop/web") {
		t.Error("measured, with a pod that was not ready for a whole window")
	}
	if w.run(15); !w.model.Measured("shop/web") {
		t.Error("not measured after a whole window")
	}
}

func TestAPodThatBecomesReadyWithinAWindowIsNotMeasuredByIt(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 20)
	late := Pod{Name: "late", Workload: "shop/web"}
	w.pods["late"] = late
	w.run(40)
	late.Ready = true
	w.pods["late"] = late
	if w.run(10); len(w.model.Readings("shop/web")) != 21 || w.model.Measured("shop/web") {
		t.Error("measured by a window of which it was ready for a part")
	}
	if w.run(15); !w.model.Measured("shop/web") {
		t.Error("not measured after a whole window")
	}
}

func TestPodsThatAreGoneAreForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(1, 20)
	w.run(40)
	clear(w.pods)
	if s := w.run(1); s.Pods != 0 || s.Served != 0 || len(w.model.Readings("shop/web")) != 0 {
		t.Errorf("state %+v, %d readings", s, len(w.model.Readings("shop/web")))
	}
}
