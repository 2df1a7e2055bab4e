package cli_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// preview needs only a kubeconfig. It sends only GET requests, and writes no file.
func TestAPreviewNeedsNoRepository(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.api.workloads["shop/deployment/cart"].noted = `{"spec": {"replicas": 3}}`
	next := w.api.Config.Handler
	var others atomic.Int32
	w.api.Config.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			others.Add(1)
		}
		next.ServeHTTP(answer, r)
	})
	before := w.hash(t)
	got := w.run("preview", "--kubeconfig", w.path("kubeconfig"))
	if got.status != 0 || got.err != "" {
		t.Errorf("%+v", got)
	}
	golden(t, "preview.txt", got.out)
	document := w.run("preview", "-o", "json", "--kubeconfig", w.path("kubeconfig"))
	var p struct{ Kind, Sentence string }
	if err := json.Unmarshal([]byte(document.out), &p); err != nil || p.Kind != "Preview" || !strings.HasPrefix(strings.Join(strings.Fields(got.out), " "), p.Sentence) {
		t.Errorf("%v: %+v", err, document)
	}
	if w.hash(t) != before || others.Load() != 0 {
		t.Errorf("it wrote, or sent %d requests other than GET", others.Load())
	}
}

// A preview without a cluster, or of a cluster without workloads, fails.
func TestAPreviewThatKnowsNothingFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	clear(w.api.workloads)
	for want, config := range map[string]string{
		"predict a rebuild: gitlatch writes no level for any of its workloads": w.path("kubeconfig"),
		"no such file": filepath.Join(w.dir, "none"),
	} {
		if got := w.run("preview", "--kubeconfig", config); got.status != 2 || !strings.Contains(got.err, want) {
			t.Errorf("%+v, want %q", got, want)
		}
	}
}
