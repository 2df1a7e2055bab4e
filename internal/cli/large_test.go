package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	many       = 500               // workloads of the large site
	mostHeap   = 100 << 20         // bytes
	perSpace   = many / namespaces // workloads in a namespace
	namespaces = 20
)

// large returns a site of 500 workloads in 20 namespaces. Flux applies their levels, which are
// in git, before them.
func large(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	clear(w.api.workloads)
	w.api.flux = true
	files := map[string]string{admission.Path: string(levels.Policy())}
	data := map[string]map[string]string{}
	changes := []checkpoint.Change{}
	for i := range many {
		id := workload.ID{Namespace: fmt.Sprintf("team-%d", i/perSpace), Kind: workload.Deployment, Name: fmt.Sprintf("web-%d", i)}
		w.api.workloads[id.String()] = &pods{desired: 42, ready: 42, least: 2, most: 100}
		if data[id.Namespace] == nil {
			data[id.Namespace] = map[string]string{}
		}
		data[id.Namespace]["deployment."+id.Name] = "50"
		changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: 50, Min: 2, Max: 100}})
	}
	made, _ := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: "prod-eu", Cluster: w.api.uid}, changes)
	for path, text := range made {
		files[path] = string(text)
	}
	w.origin.Push(t, "main", files, "levels")
	w.api.objects = levels.Objects("prod-eu", data)
	var nodes []string
	for i := range many / 10 {
		nodes = append(nodes, fmt.Sprintf(`{metadata: {name: n%[1]d, labels: {karpenter.sh/nodepool: default}}, status: {capacity: {cpu: "64", pods: "600"}, allocatable: {cpu: "64", pods: "600"}}}`, i))
	}
	w.api.objects["nodepools"] = "kind: NodePoolList\nitems: [{metadata: {name: default}, spec: {limits: {pods: 30000}}}]\n"
	w.api.objects["nodes"] = "kind: NodeList\nitems: [" + strings.Join(nodes, ", ") + "]\n"
	return w
}

// On a site of 500 workloads, the commands that read a cluster use at most 100 MiB of heap. They
// start no child process and make no temporary file: PATH is empty, and the folder for
// temporary files does not exist. The test prints the time.
func TestALargeSiteIsSmallWork(t *testing.T) {
	w := large(t)
	before := w.hash(t)
	next := w.api.Config.Handler
	var dry atomic.Int32
	w.api.Config.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			next.ServeHTTP(answer, r)
			return
		}
		if r.Method == http.MethodPost && r.URL.Query().Get("dryRun") == "All" {
			dry.Add(1)
		} else {
			t.Errorf("sent %s %s", r.Method, r.URL)
		}
		_, _ = io.Copy(io.Discard, r.Body)
		answer.Header().Set("Content-Type", "application/json")
		answer.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(answer, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 409, "reason": "AlreadyExists", "message": "exists"}`)
	})
	t.Setenv("PATH", "")
	t.Setenv("TMPDIR", filepath.Join(w.dir, "none"))
	for _, c := range []struct {
		args, says string
		dry        int32
	}{
		{"doctor", "A rebuild starts 500 of 500 workloads at their levels in git (basis: 500 observed, 0 stated by a user).", 0},
		{"doctor --try", "Sent 500 dry-run CREATE requests", many},
		{"drill", "For 500 workloads, a rebuild starts 21,000 of the 21,000 needed pods. Without gitlatch, it starts 500 pods", 0},
		{"preview --kubeconfig " + w.path("kubeconfig"), "would start 500 of the 21,000 needed pods", 0},
	} {
		dry.Store(0)
		peak := watchHeap()
		start := time.Now()
		got := w.run(strings.Fields(c.args)...)
		took, bytes := time.Since(start), peak()
		text := strings.Join(strings.Fields(got.out), " ")
		if got.status != 0 || !strings.Contains(text, c.says) || dry.Load() != c.dry {
			t.Errorf("%s: status %d, %d dry runs, %s\n%s", c.args, got.status, dry.Load(), got.err, text[max(0, len(text)-2000):])
		}
		if bytes > mostHeap {
			t.Errorf("%s: %d MiB of heap, and %d are allowed", c.args, bytes>>20, mostHeap>>20)
		}
		t.Logf("%s: %s, %d MiB", strings.Fields(c.args)[0], took.Round(time.Millisecond), bytes>>20)
	}
	if w.hash(t) != before {
		t.Error("a command wrote")
	}
}

// watchHeap observes the heap until the returned function is called, which returns its highest
// size in bytes.
func watchHeap() (peak func() uint64) {
	runtime.GC()
	var most uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for tick := time.NewTicker(time.Millisecond); ; {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return func() uint64 {
		close(stop)
		<-stopped
		return most
	}
}
