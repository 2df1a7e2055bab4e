//go:build gitops

package rebuild

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/lists"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/load"
)

var (
	atSizes  = flag.String("pods", "", "measure rebuilds of so many pods each, 40,400, at Kubernetes' own pace, and print figures; takes minutes each")
	chosen   = flag.String("methods", "", "with -pods: run only these methods, absent,limit,admission, one after the other; all run at once by default")
	profiles = flag.String("profiles", "", "with -pods: write a CPU profile of the API server, for a minute from the first apply, to this folder")
	late     = flag.Duration("late", 0, "with -pods: measure traffic that comes so long after the rebuild, braked and unbraked, instead")
)

// A form is the size of the fleet, with the durations of its parts. README.md has the
// reason for each value.
type form struct {
	pods   int
	sync   time.Duration // the interval of an autoscaler
	start  time.Duration // time until a pod is ready
	window time.Duration // the interval of the samples of the pods' CPU
	// fails is the time after which an overloaded pod fails, and recovers is the time
	// until it is back.
	fails, recovers time.Duration
	calm            time.Duration // time for which replicas must be too high before they are lowered
	deadline        time.Duration // for all workloads to serve their full load
	every           time.Duration // the interval of the test's samples
	quick           bool          // not Kubernetes' own pace

	// late is the time from the first apply to the late traffic, and after is the time
	// until the second namespace appears. If they are zero, no time passes on purpose.
	late, after time.Duration
	within      time.Duration // time from the traffic until its coverage is measured
	recheck     time.Duration // time after which a restore reads its brakes again
}

// realForm is the form at Kubernetes' defaults. From 1 to thousands of pods takes
// more than ten rounds of a minute.
func realForm(pods int) form {
	deadline := 10 * time.Minute
	switch {
	case pods > 4000:
		deadline = 25 * time.Minute
	case pods > 1000:
		deadline = 15 * time.Minute
	}
	return form{
		pods: pods, sync: 15 * time.Second, start: 30 * time.Second, window: 15 * time.Second,
		fails: 30 * time.Second, recovers: 10 * time.Second, calm: 5 * time.Minute,
		deadline: deadline, every: 500 * time.Millisecond,
		late: *late, after: 4 * time.Minute, within: time.Minute, recheck: restore.Recheck,
	}
}

// quickForm is seven and a half times as fast. Its pods can be overloaded for twice as
// long, and replicas that are too high are lowered sooner, so the test ends within a
// minute or so.
func quickForm() form {
	return form{
		pods: 40, sync: 2 * time.Second, start: 4 * time.Second, window: 2 * time.Second,
		fails: 8 * time.Second, recovers: 1300 * time.Millisecond, calm: 12 * time.Second,
		deadline: 3 * time.Minute, every: 100 * time.Millisecond, recheck: time.Second, quick: true,
	}
}

// patient is the form in which pods never fail under an overload.
func (f form) patient() form {
	f.fails = time.Hour
	return f
}

// forms returns the forms that the flag selects.
func forms(t *testing.T) []form {
	if *atSizes == "" {
		return []form{quickForm()}
	}
	for _, name := range methods() {
		if !slices.ContainsFunc(slices.Concat(compared, ways), func(w way) bool { return w.name == name }) {
			t.Fatalf("-methods: no method is named %q", name)
		}
	}
	var all []form
	for text := range strings.SplitSeq(*atSizes, ",") {
		pods, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || pods < 40 || pods%40 != 0 {
			t.Fatalf("-pods: want multiples of 40, got %q", text)
		}
		all = append(all, realForm(pods))
	}
	return all
}

// methods returns the names of the methods that the flag selects; none means all.
func methods() []string {
	return strings.FieldsFunc(*chosen, func(r rune) bool { return r == ',' })
}

// selected returns the ways that the flag selects.
func selected(all []way) []way {
	names := methods()
	return lists.Filter(all, func(w way) bool { return len(names) == 0 || slices.Contains(names, w.name) })
}

// options returns the options of the form's control plane.
func (f form) options() controlplane.Options {
	o := controlplane.Options{PodStart: f.start, ControllerManagerFlags: []string{fmt.Sprintf("--horizontal-pod-autoscaler-sync-period=%s", f.sync)}}
	if f.quick {
		o.ControllerManagerFlags = append(o.ControllerManagerFlags,
			"--horizontal-pod-autoscaler-cpu-initialization-period=40s", "--horizontal-pod-autoscaler-initial-readiness-delay=4s")
	}
	return o
}

// behaviour returns the behavior of an autoscaler. At Kubernetes' own pace, it has the
// defaults.
func (f form) behaviour(m member) string {
	seconds, states := int(f.sync.Seconds()), ""
	if m.stated {
		states = ", selectPolicy: Max"
	}
	switch {
	case f.quick:
		return fmt.Sprintf(`
  behavior:
    scaleUp: {policies: [{type: Percent, value: 100, periodSeconds: %d}, {type: Pods, value: 4, periodSeconds: %d}]}
    scaleDown: {stabilizationWindowSeconds: %d, policies: [{type: Percent, value: 100, periodSeconds: %d}]%s}`,
			seconds, seconds, int(f.calm.Seconds()), seconds, states)
	case m.stated:
		return "\n  behavior: {scaleDown: {selectPolicy: Max}}"
	}
	return ""
}

// constants returns the constants of the form's load.
func (f form) constants() load.Constants {
	return load.Constants{Capacity: capacity, Fails: f.fails, Recovers: f.recovers, Window: f.window}
}
