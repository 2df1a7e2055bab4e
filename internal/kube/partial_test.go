package kube_test

import (
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// If a list fails in the middle, the fleet has no samples of its kind, not even from the
// pages before. The samples of the other kinds are complete.
func TestWhatFailsIsUnread(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trouble func(w http.ResponseWriter)
		want    string
	}{
		"forbidden": {func(w http.ResponseWriter) {
			refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "deployments.apps is forbidden: User \"latch\"\ncannot list\t\x1b[31m")
		}, `deployments: forbidden: deployments.apps is forbidden: User "latch" cannot list (31m`},
		"not found": {func(w http.ResponseWriter) {
			http.Error(w, "404 page not found", http.StatusNotFound)
		}, "deployments: not found: the server could not find the requested resource"},
		"broken": {func(w http.ResponseWriter) {
			refuse(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "etcd is away")
		}, "deployments: internal server error: etcd is away"},
		"cut off": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[`)
		}, "deployments: the answer was cut short: unexpected EOF"},
		"cut off, said to be whole": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"DeploymentList","apiVersion":"apps/v1","items":[`)
		}, "deployments: the response is cut short, or is not from the Kubernetes API. Check for a proxy in between"},
		"another kind": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"StatefulSetList","apiVersion":"apps/v1","items":[]}`)
		}, "deployments: the answer is *v1.StatefulSetList, want *v1.DeploymentList"},
		"a page of a proxy": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>Please log in</html>")
		}, "deployments: the response is cut short, or is not from the Kubernetes API. Check for a proxy in between"},
		"the same page again": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"continue":"500"},"items":[]}`)
		}, "deployments: the server returned the same page twice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, append(fleetOf(700), database())...)
			e.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Path != deployments || n == 1 {
					return false
				}
				c.trouble(w)
				return true
			}
			f := sample(t, e)
			if len(f.Unread) != 1 || !strings.HasPrefix(f.Unread[0].String(), c.want) {
				t.Errorf("unread %q, want %q", f.Unread, c.want)
			}
			if count(f, workload.Deployment) != 0 || count(f, workload.StatefulSet) != 1 {
				t.Errorf("%d deployments, %d statefulsets", count(f, workload.Deployment), count(f, workload.StatefulSet))
			}
		})
	}
}

// forbid refuses requests whose path is one of paths, or has the same last element.
func forbid(paths ...string) func(http.ResponseWriter, *http.Request, int) bool {
	return func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if !slices.ContainsFunc(paths, func(p string) bool {
			return r.URL.Path == p || path.Base(r.URL.Path) == path.Base(p)
		}) {
			return false
		}
		refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, "no")
		return true
	}
}

func TestWithoutHPAsNoScaleIsKnown(t *testing.T) {
	t.Parallel()
	agent := &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "agent"},
	}
	e := serve(t, append(rolling(1, fleetOf(2)), database(), agent)...)
	e.trouble = forbid(hpas)
	f := sample(t, e)
	if !slices.Equal(workload.Texts(f.Unread), []string{"horizontalpodautoscalers: forbidden: no"}) || len(f.Samples) != 4 {
		t.Fatalf("%d samples, unread %q", len(f.Samples), f.Unread)
	}
	for _, s := range f.Samples {
		want := "horizontalpodautoscalers could not be listed"
		if s.ID.Kind == workload.DaemonSet {
			want = "" // a DaemonSet has no scale
		}
		if s.Scale != nil || s.Rollout == nil || s.Unknown != want {
			t.Errorf("%s: %s", s.ID, show(s))
		}
	}
}

func TestWithoutScaledObjectsSamplesStay(t *testing.T) {
	t.Parallel()
	e := serve(t, fleetOf(2)...)
	e.trouble = forbid(scaledObjects)
	f := sample(t, e)
	if !slices.Equal(workload.Texts(f.Unread), []string{"scaledobjects: forbidden: no"}) {
		t.Errorf("unread %q", f.Unread)
	}
	if len(f.Samples) != 2 || f.Samples[0].Scale == nil {
		t.Errorf("samples %v", f.Samples)
	}
}

func TestWithoutTemplatesARolloutIsUnknown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		all       []runtime.Object
		flying    int
		resource  string
		want      string
		haveScale bool
	}{
		"one":        {rolling(1, fleetOf(40)), 1, "replicasets", "replicasets of shop/web-0000: forbidden: no", true},
		"some":       {rolling(3, fleetOf(40)), 3, "replicasets", "replicasets of shop/web-0000 and 2 more: forbidden: no", true},
		"many":       {rolling(30, fleetOf(40)), 30, "replicasets", "replicasets: forbidden: no", true},
		"agents":     {nodeAgents(40, 3), 3, "controllerrevisions", "controllerrevisions of shop/agent-0000 and 2 more: forbidden: no", false},
		"all agents": {nodeAgents(40, 30), 30, "controllerrevisions", "controllerrevisions: forbidden: no", false},
		"databases":  {databases(40, 3), 3, "controllerrevisions", "controllerrevisions of shop/db-0000 and 2 more: forbidden: no", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, c.all...)
			e.trouble = forbid(c.resource)
			f := sample(t, e)
			if !slices.Equal(workload.Texts(f.Unread), []string{c.want}) {
				t.Errorf("unread %q, want %q", f.Unread, c.want)
			}
			for i, s := range f.Samples {
				unknown := s.Rollout == nil && s.Unknown == c.resource+" could not be listed"
				if unknown != (i < c.flying) || c.haveScale != (s.Scale != nil) {
					t.Errorf("%s: %s", s.ID, show(s))
				}
			}
		})
	}
}
