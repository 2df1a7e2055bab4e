package kube_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/kube"
)

const (
	versionPath    = "/version"
	policyPath     = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/gitlatch-levels"
	bindingsPath   = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings"
	configMapsPath = "/api/v1/namespaces/gitlatch-levels/configmaps"
)

// levelsAPI answers like an API server of 1.37 that has the objects of gitlatch.
type levelsAPI struct {
	answers  map[string]string // by path
	refused  map[string]int    // status codes by path
	mu       sync.Mutex
	requests []string
}

func newLevelsAPI() *levelsAPI {
	return &levelsAPI{refused: map[string]int{}, answers: map[string]string{
		versionPath:  `{"major": "1", "minor": "37+"}`,
		policyPath:   `{"kind": "MutatingAdmissionPolicy", "metadata": {"name": "gitlatch-levels"}}`,
		bindingsPath: `{"kind": "MutatingAdmissionPolicyBindingList", "metadata": {}, "items": [{"metadata": {"name": "gitlatch-levels.shop"}, "spec": {"policyName": "gitlatch-levels"}}]}`,
		configMapsPath: `{"kind": "ConfigMapList", "metadata": {"continue": "more"}, "items": [{"metadata": {"name": "shop", "labels": {"a": "b"},
			"annotations": {"c": "d", "kubectl.kubernetes.io/last-applied-configuration": "long"},
			"managedFields": [{"manager": "flux", "operation": "Apply", "time": "2026-03-02T08:00:00Z"}, {"manager": "kubectl", "operation": "Update"}]},
			"data": {"deployment.web": "200"}}]}`,
		configMapsPath + "?more": `{"kind": "ConfigMapList", "metadata": {}, "items": [{"metadata": {"name": "gitlatch.site"}, "data": {"name": "prod-eu"}}]}`,
	}}
}

func (a *levelsAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path := r.URL.Path
	if next := r.URL.Query().Get("continue"); next != "" {
		path += "?" + next
	}
	a.requests = append(a.requests, path)
	w.Header().Set("Content-Type", "application/json")
	code := a.refused[r.URL.Path]
	if code != 0 {
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind": "Status", "status": "Failure", "code": %d, "message": "no %s", "reason": %q}`, code, path, strings.ReplaceAll(http.StatusText(code), " ", ""))
		return
	}
	if r.Header.Get("Accept") != "application/json" {
		w.WriteHeader(http.StatusNotAcceptable)
	}
	_, _ = w.Write([]byte(a.answers[path]))
}

// readers returns the levels as each reader reads them.
func (a *levelsAPI) readers(t *testing.T) map[string]admission.Levels {
	t.Helper()
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, QPS: -1}
	objects, err := kube.NewObjects(config)
	if err != nil {
		t.Fatal(err)
	}
	sampler, err := kube.New(config, kube.Options{Site: "prod-eu", Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]admission.Levels{}
	for name, read := range map[string]func(context.Context) admission.Levels{"objects": objects.ReadLevels, "sampler": sampler.ReadLevels} {
		a.requests = nil
		all[name] = read(t.Context())
	}
	return all
}

// rights returns the rights that a ClusterRole grants and that the last reading used.
func (a *levelsAPI) rights(t *testing.T) (used []string) {
	t.Helper()
	group := ".admissionregistration.k8s.io"
	for _, path := range a.requests {
		right, known := map[string]string{
			policyPath:   "get mutatingadmissionpolicies" + group,
			bindingsPath: "list mutatingadmissionpolicybindings" + group,
			versionPath:  "", configMapsPath: "", configMapsPath + "?more": "",
		}[path]
		if !known {
			t.Errorf("a request for %s", path)
		}
		if right != "" {
			used = append(used, right)
		}
	}
	return used
}

func TestReadLevels(t *testing.T) {
	t.Parallel()
	api := newLevelsAPI()
	for name, l := range api.readers(t) {
		minor, read := l.Version.Value()
		if minor != 37 || !read {
			t.Errorf("%s: minor %d, read %t: %s", name, minor, read, l.Version.Why())
		}
		maps, read := l.ConfigMaps.Value()
		if !read || len(maps) != 2 {
			t.Fatalf("%s: %v: %s", name, maps, l.ConfigMaps.Why())
		}
		shop := fmt.Sprint(maps[0])
		want := "{shop map[deployment.web:200] map[a:b] map[c:d] [{flux Apply 2026-03-02 08:00:00 +0000 UTC} {kubectl Update 0001-01-01 00:00:00 +0000 UTC}]}"
		if shop != want {
			t.Errorf("%s: got  %s\nwant %s", name, shop, want)
		}
		site, read := l.Site().Value()
		if site != "prod-eu" || !read {
			t.Errorf("%s: site %q, read %t", name, site, read)
		}
		for namespace, want := range map[string]admission.State{"shop": admission.Differs, "pay": admission.Absent} {
			answer := admission.CompareBinding(namespace, l.Binding(namespace))
			if answer.State != want {
				t.Errorf("%s: binding of %s: %s, want %s", name, namespace, answer, want)
			}
		}
	}
	if len(api.requests) != 5 {
		t.Errorf("requests: %q", api.requests)
	}
}

// A part that could not be read has a reason, and if a right is missing, the right. The other
// parts are read.
func TestReadLevelsInPart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		path string
		code int
		want string // the reason; "" is an absent object
		of   func(admission.Levels) string
	}{
		{configMapsPath, http.StatusForbidden, "configmaps could not be read: forbidden: no " + configMapsPath + `. Grant get and list on configmaps in namespace gitlatch-levels: run "kubectl apply --server-side -f checkpoints/admission"`, configMapsWhy},
		{configMapsPath, http.StatusInternalServerError, "configmaps could not be read: internal server error: no " + configMapsPath, configMapsWhy},
		{bindingsPath, http.StatusForbidden, "mutatingadmissionpolicybindings could not be read: forbidden: no " + bindingsPath + `. Grant list on mutatingadmissionpolicybindings: run "kubectl apply -k infra/rbac"`, bindingsWhy},
		{policyPath, http.StatusForbidden, "unknown: mutatingadmissionpolicies could not be read: forbidden: no " + policyPath + `. Grant get on mutatingadmissionpolicies "gitlatch-levels": run "kubectl apply -k infra/rbac"`, policyAnswer},
		{policyPath, http.StatusNotFound, "absent", policyAnswer},
		{versionPath, http.StatusForbidden, "the version of Kubernetes could not be read: forbidden: no /version", func(l admission.Levels) string { return l.Version.Why() }},
	} {
		api := newLevelsAPI()
		api.refused[test.path] = test.code
		for name, l := range api.readers(t) {
			if got := test.of(l); got != test.want {
				t.Errorf("%s: %s: %d:\ngot  %s\nwant %s", name, test.path, test.code, got, test.want)
			}
			unread := 0
			for _, why := range []string{configMapsWhy(l), bindingsWhy(l)} {
				if why != "" {
					unread++
				}
			}
			want := map[string]int{configMapsPath: 1, bindingsPath: 1, policyPath: 0, versionPath: 2}[test.path]
			if unread != want {
				t.Errorf("%s: %s: %d lists could not be read, want %d", name, test.path, unread, want)
			}
		}
	}
}

func configMapsWhy(l admission.Levels) string { return l.ConfigMaps.Why() }
func bindingsWhy(l admission.Levels) string   { return l.Bindings.Why() }
func policyAnswer(l admission.Levels) string  { return admission.CompareBinding("", l.Policy).String() }

// Below 1.36, only the version is read.
func TestReadLevelsBelow136(t *testing.T) {
	t.Parallel()
	api := newLevelsAPI()
	api.answers[versionPath] = `{"major": "1", "minor": "35"}`
	for name, l := range api.readers(t) {
		minor, read := l.Version.Value()
		if minor != 35 || !read || l.ConfigMaps.Why() != "Kubernetes 1.35 does not serve the admission policy of gitlatch" || l.ConfigMaps.Why() != l.Bindings.Why() {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if !slices.Equal(api.requests, []string{versionPath}) {
		t.Errorf("requests: %q", api.requests)
	}
}

// If the server does not answer, each part has the reason.
func TestReadLevelsWithoutServer(t *testing.T) {
	t.Parallel()
	objects, err := kube.NewObjects(&rest.Config{Host: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	l := objects.ReadLevels(t.Context())
	reasons := map[string]bool{l.Version.Why(): true, configMapsWhy(l): true, bindingsWhy(l): true, policyAnswer(l): true}
	if reasons[""] || !strings.Contains(l.Version.Why(), "connection refused") {
		t.Errorf("%q", slices.Sorted(maps.Keys(reasons)))
	}
}
