package kube_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/audit"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// fleetOf returns n Deployments at rest.
func fleetOf(n int) (all []runtime.Object) {
	for i := range n {
		all = append(all, &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("web-%04d", i), UID: types.UID(fmt.Sprint(i))},
			Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": fmt.Sprint(i)}}},
		})
	}
	return all
}

// rolling starts a rollout of the first n Deployments.
func rolling(n int, all []runtime.Object) []runtime.Object {
	for _, o := range all[:n] {
		o.(*appsv1.Deployment).Status = appsv1.DeploymentStatus{Replicas: 2, UpdatedReplicas: 1}
	}
	return all
}

// databases returns n StatefulSets. Rollouts of the first few are half-way.
func databases(n, flying int) (all []runtime.Object) {
	for i := range n {
		s := database().(*appsv1.StatefulSet)
		s.Name, s.UID = fmt.Sprintf("db-%04d", i), types.UID(fmt.Sprint("db-", i))
		s.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": s.Name}}
		if i < flying {
			s.Status = appsv1.StatefulSetStatus{Replicas: 2, CurrentReplicas: 1, UpdatedReplicas: 1, CurrentRevision: "db-1", UpdateRevision: "db-2"}
		}
		all = append(all, s)
	}
	return all
}

// nodeAgents returns n DaemonSets. Rollouts of the first few are half-way.
func nodeAgents(n, flying int) (all []runtime.Object) {
	for i := range n {
		d := &appsv1.DaemonSet{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("agent-%04d", i), UID: types.UID(fmt.Sprint("agent-", i))},
		}
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": d.Name}}
		if i < flying {
			d.Status = appsv1.DaemonSetStatus{DesiredNumberScheduled: 2, CurrentNumberScheduled: 2, UpdatedNumberScheduled: 1}
		}
		all = append(all, d)
	}
	return all
}

func database() runtime.Object {
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "db"},
	}
}

func sample(t *testing.T, e *endpoint) workload.Fleet {
	t.Helper()
	fleet, err := sampler(t, e.config()).Sample(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return fleet
}

// count returns how many samples of a kind the fleet has.
func count(f workload.Fleet, kind workload.Kind) (n int) {
	for _, s := range f.Samples {
		if s.ID.Kind == kind {
			n++
		}
	}
	return n
}

func TestPagesAreReadToTheEnd(t *testing.T) {
	t.Parallel()
	e := serve(t, fleetOf(1234)...)
	slices.Reverse(e.held[deployments]) // the sampler does not rely on the order of the server
	fleet := sample(t, e)
	if len(fleet.Unread) > 0 || len(fleet.Samples) != 1234 {
		t.Fatalf("%d samples, unread %q", len(fleet.Samples), fleet.Unread)
	}
	for i, s := range fleet.Samples {
		if s.ID.Name != fmt.Sprintf("web-%04d", i) {
			t.Fatalf("sample %d is %s", i, s.ID)
		}
	}
	if e.counts[deployments] != 5 || e.protobuf < 5 || e.gzipped < 5 {
		t.Errorf("%d pages, %d answers in protobuf, %d compressed", e.counts[deployments], e.protobuf, e.gzipped)
	}
	plain := serve(t, fleetOf(1234)...)
	plain.jsonOnly = true
	if other := sample(t, plain); !reflect.DeepEqual(fleet, other) || plain.protobuf > 0 {
		t.Errorf("JSON and protobuf read differently")
	}
}

func TestAListThatExpiresIsBegunAnew(t *testing.T) {
	t.Parallel()
	gone := func(w http.ResponseWriter) bool {
		refuse(w, http.StatusGone, metav1.StatusReasonExpired, "The provided continue parameter is too old")
		return true
	}
	once := serve(t, fleetOf(700)...)
	once.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.URL.Path == deployments && n == 2 && gone(w)
	}
	if f := sample(t, once); len(f.Samples) != 700 || len(f.Unread) > 0 {
		t.Errorf("%d samples, unread %q", len(f.Samples), f.Unread)
	}

	always := serve(t, append(fleetOf(700), database())...)
	always.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
		return r.URL.Query().Has("continue") && gone(w)
	}
	f := sample(t, always)
	if want := []string{"deployments: gone: The provided continue parameter is too old"}; !slices.Equal(workload.Texts(f.Unread), want) {
		t.Errorf("unread %q, want %q", f.Unread, want)
	}
	if count(f, workload.Deployment) != 0 || count(f, workload.StatefulSet) != 1 {
		t.Errorf("samples %v", f.Samples)
	}
	if n := always.counts[deployments]; n != 8 {
		t.Errorf("%d requests, want 4 attempts of 2", n)
	}
}

// A tenant can create objects of a megabyte. A page of them does not fit a Lambda.
func TestPagesShrinkWhereObjectsAreLarge(t *testing.T) {
	t.Parallel()
	all := fleetOf(700)
	swollen := strings.Repeat("x", 1<<20)
	for _, o := range all[100:120] {
		o.(*appsv1.Deployment).Annotations = map[string]string{"note": swollen}
	}
	e := serve(t, all...)
	var sizes []string
	e.trouble = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == deployments {
			sizes = append(sizes, r.URL.Query().Get("limit"))
		}
		return false
	}
	if f := sample(t, e); len(f.Samples) != 700 || len(f.Unread) > 0 {
		t.Errorf("%d samples, unread %q", len(f.Samples), f.Unread)
	}
	if want := []string{"250", "125", "62", "124", "62", "31", "62", "31", "15", "7", "14", "7", "14", "7", "14", "28", "56", "112", "224", "250"}; !slices.Equal(sizes, want) {
		t.Errorf("asked for pages of %v, want %v", sizes, want)
	}

	one := serve(t, append(fleetOf(1), database())...)
	one.held[deployments][0].(*appsv1.Deployment).Annotations = map[string]string{"note": strings.Repeat(swollen, 9)}
	f := sample(t, one)
	if want := []string{"deployments: one object has more than 8 MiB"}; !slices.Equal(workload.Texts(f.Unread), want) || count(f, workload.StatefulSet) != 1 {
		t.Errorf("unread %q, want %q; samples %v", f.Unread, want, f.Samples)
	}
}

// The sampler lists templates only during a rollout: one request for each workload, by
// its labels, or one list of all templates if that is fewer requests. A workload at
// rest, of any kind, costs no request.
func TestTemplatesAreAskedForWhereNeeded(t *testing.T) {
	t.Parallel()
	web := func(n, flying int) []runtime.Object { return append(rolling(flying, fleetOf(n)), databases(9, 0)...) }
	db := func(n, flying int) []runtime.Object { return append(databases(n, flying), fleetOf(9)...) }
	agent := func(n, flying int) []runtime.Object { return append(nodeAgents(n, flying), fleetOf(9)...) }
	both := func(n, flying int) []runtime.Object {
		return append(databases(n/2, flying/2), nodeAgents(n-n/2, flying-flying/2)...)
	}
	for _, c := range []struct {
		of                               func(n, flying int) []runtime.Object
		resource                         string
		workloads, flying, selected, all int
	}{
		{web, "replicasets", 100, 0, 0, 0},
		{web, "replicasets", 100, 20, 20, 0},
		{web, "replicasets", 100, 21, 0, 1},
		{web, "replicasets", 900, 40, 40, 0},
		{web, "replicasets", 900, 41, 0, 1},
		{db, "controllerrevisions", 100, 0, 0, 0},
		{db, "controllerrevisions", 100, 1, 1, 0},
		{db, "controllerrevisions", 100, 20, 20, 0},
		{db, "controllerrevisions", 100, 21, 0, 1},
		{agent, "controllerrevisions", 100, 1, 1, 0},
		{both, "controllerrevisions", 100, 20, 20, 0},
		{both, "controllerrevisions", 100, 21, 0, 1},
		{both, "controllerrevisions", 900, 40, 40, 0},
	} {
		e := serve(t, c.of(c.workloads, c.flying)...)
		if f := sample(t, e); len(f.Unread) > 0 {
			t.Fatalf("unread %q", f.Unread)
		}
		selected, all := map[string]bool{}, 0
		for _, r := range e.seen {
			switch r.URL.Path {
			case "/apis/apps/v1/" + c.resource:
				all++
			case "/apis/apps/v1/namespaces/shop/" + c.resource:
				selected[r.URL.Query().Get("labelSelector")] = true
			}
		}
		if len(selected) != c.selected || all != c.all {
			t.Errorf("%s, %d of %d in flight: %d selected, %d of all; want %d, %d", c.resource, c.flying, c.workloads, len(selected), all, c.selected, c.all)
		}
		// The cluster, four kinds of workload, two kinds of autoscaler, and Canaries.
		pages := 8
		if c.workloads == 900 {
			pages += map[string]int{"replicasets": 3, "controllerrevisions": 2}[c.resource]
		}
		if want := pages + c.selected + c.all; len(e.seen) != want {
			t.Errorf("%s, %d of %d in flight: %d requests, want %d", c.resource, c.flying, c.workloads, len(e.seen), want)
		}
	}
}

func TestOneBadNameStopsNoOther(t *testing.T) {
	t.Parallel()
	all := fleetOf(3)
	all[1].(*appsv1.Deployment).Name = "../../.git/config\n"
	f := sample(t, serve(t, all...))
	if len(f.Samples) != 2 || len(f.Unread) != 1 || strings.Contains(f.Unread[0].String(), "\n") ||
		!strings.HasPrefix(f.Unread[0].String(), `deployments: workload "shop/deployment/../../.git/config\n"`) {
		t.Errorf("%d samples, unread %q", len(f.Samples), f.Unread)
	}
}

func TestClusterUnknown(t *testing.T) {
	t.Parallel()
	e := serve(t, fleetOf(1)...)
	e.trouble = forbid(kubeSystem)
	f := sample(t, e)
	if f.Cluster != "" || !slices.Equal(workload.Texts(f.Unread), []string{"namespace kube-system: forbidden: no"}) || len(f.Samples) != 1 {
		t.Errorf("cluster %q, unread %q, %d samples", f.Cluster, f.Unread, len(f.Samples))
	}
}

func TestNoFleetAtAll(t *testing.T) {
	t.Parallel()
	const secret = "k8s-aws-v1.secret"

	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		e := serve(t)
		e.Close()
		_, err := sampler(t, &rest.Config{Host: e.URL, BearerToken: secret}).Sample(t.Context(), nil)
		var failed *kube.ServerError
		if !errors.As(err, &failed) || failed.Server != e.URL || !errors.Is(err, kube.ErrUnreachable) || !strings.Contains(err.Error(), "connection refused") {
			t.Errorf("error %v", err)
		}
		if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "namespaces") {
			t.Errorf("error says too much: %v", err)
		}
	})
	for name, path := range map[string]string{"unknown to the server": kubeSystem, "expired on the way": hpas} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := serve(t, fleetOf(1)...)
			e.trouble = func(w http.ResponseWriter, r *http.Request, _ int) bool {
				if r.URL.Path == path {
					refuse(w, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
				}
				return r.URL.Path == path
			}
			_, err := sampler(t, &rest.Config{Host: e.URL, BearerToken: secret}).Sample(t.Context(), nil)
			if !errors.Is(err, kube.ErrUnauthorized) || err.Error() != "log in to the API server at "+e.URL+": unauthorized: Unauthorized" {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("nothing may be read", func(t *testing.T) {
		t.Parallel()
		e := serve(t, fleetOf(1)...)
		e.trouble = func(w http.ResponseWriter, _ *http.Request, _ int) bool {
			refuse(w, http.StatusForbidden, metav1.StatusReasonForbidden, `User "latch" cannot get`)
			return true
		}
		_, err := sampler(t, e.config()).Sample(t.Context(), nil)
		if !errors.Is(err, kube.ErrForbidden) || err.Error() != "read from the API server at "+e.URL+`: forbidden: User "latch" cannot get` {
			t.Errorf("error %v", err)
		}
	})
	t.Run("out of time", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		over := errors.New("the tick is over")
		e := serve(t, fleetOf(1)...)
		e.trouble = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
			if r.URL.Path == hpas {
				cancel(over)
				<-r.Context().Done()
			}
			return false
		}
		if _, err := sampler(t, e.config()).Sample(ctx, nil); !errors.Is(err, over) || !strings.HasSuffix(err.Error(), ": the tick is over") {
			t.Errorf("error %v", err)
		}
	})
}

// A sample and a reading of the levels use exactly the rights that the sampler has. The file
// of the admission policy grants the right to the levels.
func TestRequestsAreThoseOfTheRole(t *testing.T) {
	t.Parallel()
	e := serve(t, append(rolling(1, fleetOf(1)), nodeAgents(1, 1)...)...)
	sample(t, e)
	levels := newLevelsAPI()
	levels.readers(t)
	used := slices.Concat(e.asked(), levels.rights(t))
	slices.Sort(used)
	if granted := audit.Granted(t, roleFile); !slices.Equal(granted, slices.Compact(used)) {
		t.Errorf("granted %v\nused %v", granted, used)
	}
}
