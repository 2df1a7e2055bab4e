package load

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

const (
	// patchers is how many conditions are written at a time.
	patchers = 16
	// container is the one of each pod that works.
	container = "main"
)

// A Look is the state of the workloads at an instant.
type Look struct {
	At     time.Time
	States map[string]State // by namespace and name
	Scales map[string]Scale // the same; the previous scale if it could not be read
	// Judged counts, by workload, how often its autoscaler requested the CPU and got
	// readings of all ready pods, for a window in which they were ready.
	Judged map[string]int
}

// A Load is one that workloads are under until the test ends. Its methods are
// safe for concurrent use.
type Load struct {
	client rest.Interface
	scales scales
	every  time.Duration

	mu      sync.Mutex
	model   *Model
	judged  map[string]int
	looks   []Look
	broken  error           // the last that went wrong with a condition
	writing map[string]bool // conditions that are being written, by namespace/workload/name
}

// Start puts workloads under a load from now on, in cores, by namespace and name. Their
// pods have the label "app", and their container "main" does the work. Load takes a
// sample every interval and stores it.
func Start(t testing.TB, cp *controlplane.ControlPlane, c Constants, every time.Duration, load map[string]float64) *Load {
	t.Helper()
	l := &Load{
		client: core(t, cp), scales: newScales(t, cp), every: every,
		model: NewModel(c, maps.Clone(load)), judged: map[string]int{}, writing: map[string]bool{},
	}
	store := watch(t, l.client)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(ctx, func() []Pod { return podsOf(store) })
	}()
	t.Cleanup(func() {
		stop()
		<-done
		if l.broken != nil && t.Failed() {
			t.Logf("the readiness of a pod could not be written: %v", l.broken)
		}
	})
	cp.ServeMetrics(t, l.uses)
	return l
}

// run steps the model and writes the results to the cluster.
func (l *Load) run(ctx context.Context, pods func() []Pod) {
	ticker := time.NewTicker(l.every)
	defer ticker.Stop()
	wrong := make(chan Pod)
	var writers sync.WaitGroup
	for range patchers {
		writers.Go(func() {
			for p := range wrong {
				l.write(ctx, p)
			}
		})
	}
	defer writers.Wait()
	defer close(wrong)
	var known map[string]Scale
	for {
		if now, err := l.scales.read(ctx); err == nil {
			known = now
		}
		for _, p := range l.step(time.Now(), pods(), known) {
			select {
			case wrong <- p:
			case <-ctx.Done():
				return
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// step makes one step of the model, stores a sample of it, and returns the pods to
// write.
func (l *Load) step(now time.Time, pods []Pod, scales map[string]Scale) []Pod {
	l.mu.Lock()
	defer l.mu.Unlock()
	var write []Pod
	for _, p := range l.model.Step(now, pods) {
		if key := p.Workload + "/" + p.Name; !l.writing[key] {
			l.writing[key] = true
			write = append(write, p)
		}
	}
	l.looks = append(l.looks, Look{At: now, States: l.model.States(), Scales: scales, Judged: maps.Clone(l.judged)})
	return write
}

// write sets a pod's readiness in the cluster, like its kubelet. The next step repeats
// a failed write.
func (l *Load) write(ctx context.Context, p Pod) {
	status, reason := "False", "Overloaded"
	if p.Ready {
		status, reason = "True", "Recovered"
	}
	now := time.Now().UTC().Format(time.RFC3339)
	condition := func(kind string) string {
		return fmt.Sprintf(`{"type":%q,"status":%q,"reason":%q,"lastTransitionTime":%q}`, kind, status, reason, now)
	}
	patch := fmt.Sprintf(`{"status":{"conditions":[%s,%s]}}`, condition("Ready"), condition("ContainersReady"))
	namespace, _, _ := strings.Cut(p.Workload, "/")
	answer := l.client.Patch(types.StrategicMergePatchType).Namespace(namespace).Resource("pods").Name(p.Name).
		SubResource("status").Body([]byte(patch)).Do(ctx)
	var code int
	answer.StatusCode(&code)

	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.writing, p.Workload+"/"+p.Name)
	if err := answer.Error(); err != nil && code != http.StatusNotFound && ctx.Err() == nil {
		l.broken = fmt.Errorf("%s/%s: %w", p.Workload, p.Name, err)
	}
}

// uses answers an autoscaler: it returns the CPU use of the pods with "app=<name>".
func (l *Load) uses(_ context.Context, namespace, selector string) ([]controlplane.Use, error) {
	app, ok := strings.CutPrefix(selector, AppLabel+"=")
	if !ok {
		return nil, fmt.Errorf("no workload is chosen by %q", selector)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	name := namespace + "/" + app
	var uses []controlplane.Use
	for _, r := range l.model.Readings(name) {
		uses = append(uses, controlplane.Use{
			Pod: r.Pod, Containers: []string{container}, CPU: fmt.Sprintf("%dn", int64(r.Cores*1e9)), At: r.At, Window: r.Window.Round(time.Millisecond),
		})
	}
	if l.model.Measured(name) {
		l.judged[name]++
	}
	return uses, nil
}

// Set changes the load of a workload, in cores.
func (l *Load) Set(workload string, cores float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.model.load[workload] = cores
}

// Last returns the last sample.
func (l *Load) Last() Look {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.looks) == 0 {
		return Look{}
	}
	return l.looks[len(l.looks)-1]
}

// Looks returns all samples since the start.
func (l *Load) Looks() []Look {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.looks[:len(l.looks):len(l.looks)]
}
