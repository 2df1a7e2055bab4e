package doctor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A server answers each dry-run CREATE in the same way, and records the requests.
type server struct {
	err error

	sync.Mutex
	sent       []string
	open, most int
}

func (s *server) Create(_ context.Context, path string, object []byte) error {
	s.Lock()
	s.sent = append(s.sent, path+" "+string(object))
	s.open++
	s.most = max(s.most, s.open)
	s.Unlock()
	time.Sleep(time.Millisecond) // for others to be open at the same time
	defer func() {
		s.Lock()
		s.open--
		s.Unlock()
	}()
	return s.err
}

// status returns an error of the API server.
func status(code int32, message string, causes ...metav1.CauseType) error {
	s := metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message, Details: &metav1.StatusDetails{}}
	for _, c := range causes {
		s.Details.Causes = append(s.Details.Causes, metav1.StatusCause{Type: c})
	}
	return &apierrors.StatusError{ErrStatus: s}
}

// tried returns the report of a world whose API server answers each CREATE with err.
func tried(t *testing.T, w *world, err error) (doctor.Report, *server) {
	t.Helper()
	s := &server{err: err}
	c := w.read(t)
	c.Try(t.Context(), w, s)
	return doctor.Examine(c), s
}

// The texts are from the API server of Kubernetes 1.37.
func TestTheAnswerOfTheAPIServerDecides(t *testing.T) {
	t.Parallel()
	const quota = `deployments.apps "web" is forbidden: exceeded quota: full, requested: count/deployments.apps=1, used: count/deployments.apps=%s, limited: count/deployments.apps=%s`
	for name, c := range map[string]struct {
		err        error
		want, text string
	}{
		"admitted": {nil, "observed 50, without 1: ", "floor 50 (the API server admits it)"},
		"a policy": {status(422, `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 45 replicas`),
			"observed 0, without 1: admission-refuses", "the API server refuses the workload at its level: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 45 replicas"},
		"a webhook": {status(400, `admission webhook "limits.example.com" denied the request: at most 45 replicas`),
			"observed 0, without 1: admission-refuses", "at most 45 replicas"},
		"a validation": {status(422, `Deployment.apps "web" is invalid: spec.strategy: Required value`), "observed 0, without 1: admission-refuses", "its level: spec.strategy"},
		"a webhook without dry runs": {status(400, `admission webhook "notes.example.com" does not support dry run`),
			"unknown 0 to 50, without 1: admission-unknown", "the API server did not decide"},
		"a webhook that fails":     {status(500, `Internal error occurred: failed calling webhook "notes.example.com"`), "unknown 0 to 50, without 1: admission-unknown", "did not decide"},
		"no answer":                {errors.New("connection refused"), "unknown 0 to 50, without 1: admission-unknown", "did not decide: connection refused"},
		"a namespace that ends":    {status(403, `deployments.apps "web" is forbidden: unable to create new content in namespace shop because it is being terminated`, "NamespaceTerminating"), "unknown 0 to 50, without 1: admission-unknown", "being terminated"},
		"a full quota":             {status(403, fmt.Sprintf(quota, "1", "1")), "observed 50, without 1: ", "the API server admits it"},
		"a quota of thousands":     {status(403, fmt.Sprintf(quota, "900", "1k")), "observed 50, without 1: ", "the API server admits it"},
		"a quota that was lowered": {status(403, fmt.Sprintf(quota, "1k", "900")), "unknown 0 to 50, without 1: admission-unknown", "more objects than its quota allows"},
		"a missing right": {status(403, `deployments.apps is forbidden: User "jane" cannot create resource "deployments" in API group "apps" in the namespace "shop"`),
			"unknown 0 to 50, without 1: missing-rights", "your user may not create the workload"},
		"a webhook that cites a right": {status(403, `admission webhook "rights.example.com" denied the request: User "jane" cannot create resource "deployments"`), "observed 0, without 1: admission-refuses", "denied the request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, s := tried(t, newWorld(), c.err)
			if got := told(r); got != c.want || !strings.Contains(r.Workloads[0].Start.Text, c.text) || r.DryRuns != 1 || len(s.sent) != 1 {
				t.Errorf("got  %s: %s\nwant %s: %s\n%d requests, %q", got, r.Workloads[0].Start.Text, c.want, c.text, r.DryRuns, s.sent)
			}
			if r.Clean() != strings.HasPrefix(c.want, "observed 50") {
				t.Errorf("clean: %v", r.Clean())
			}
		})
	}
}

// A refusal counts only if the level reaches the workload.
func TestARefusalNeedsALevel(t *testing.T) {
	t.Parallel()
	denied := status(422, `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 45 replicas`)
	for name, c := range map[string]struct {
		make func(*world)
		want string
	}{
		"no order":            {func(w *world) { w.objects["apps"] = kustomization("apps", "", "True") }, "unknown 0 to 50, without 1: order-unknown admission-refuses"},
		"not applied":         {func(w *world) { w.change = lacking("shop") }, "observed 1, without 1: not-applied admission-refuses"},
		"Flux states a count": {func(w *world) { w.objects["web"] = deployment(fluxOwned, "", fluxStates) }, "observed 0, without 42: admission-refuses replicas-reset"},
		"nobody creates it":   {func(w *world) { w.objects["web"] = deployment("labels: {}", "", nobody); w.first() }, "unknown 0 to 50, without 0 to 1: no-owner admission-refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			c.make(w)
			r, _ := tried(t, w, denied)
			if got := told(r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// The request has the live object as a tool would create it, at the level.
func TestTheRequestIsTheWorkloadAtItsLevel(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.objects["web"] = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u1, resourceVersion: "7", generation: 3, creationTimestamp: "2026-11-20T08:00:00Z",
  labels: {app: web}, annotations: {team: shop, kubectl.kubernetes.io/last-applied-configuration: "{}"},
  ownerReferences: [{kind: Site, name: web, apiVersion: example.com/v1, uid: u2}], managedFields: [` + nobody + `]}
spec: {replicas: 42, template: {spec: {big: 9007199254740993}}}
status: {replicas: 42}
`
	w.objects["other"] = strings.ReplaceAll(deployment(fluxOwned, "", nobody), "name: web", "name: other")
	_, s := tried(t, w, nil)
	const want = `/apis/apps/v1/namespaces/shop/deployments {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","labels":{"app":"web"},"annotations":{"team":"shop"}},"spec":{"replicas":50,"template":{"spec":{"big":9007199254740993}}}}`
	if len(s.sent) != 1 || s.sent[0] != want {
		t.Errorf("sent %q\nwant %s", s.sent, want)
	}
}

// A kind of the policy has its replicas in another field, and its own path.
func TestAKindOfThePolicyIsTried(t *testing.T) {
	t.Parallel()
	id := workload.ID{Namespace: "shop", Kind: "worker", Name: "mail"}
	w := newWorld()
	w.objects = map[string]string{"mail": "kind: Worker\nmetadata: {name: mail, namespace: shop}\nspec: {}\n"}
	kinds := workload.Kinds{"worker": worker}
	s := &server{}
	c := doctor.Case{Site: "prod", Cluster: doctor.ReadCluster(t.Context(), w, kinds), Fleet: workload.Fleet{Kinds: kinds},
		Tree: checkpoint.Tree{Records: map[string]checkpoint.Record{"shop": {Namespace: "shop", Entries: map[workload.ID]checkpoint.Entry{id: {Replicas: 20}}}}}}
	c.Try(t.Context(), w, s)
	const want = `/apis/example.com/v1/namespaces/shop/workers {"apiVersion":"example.com/v1","kind":"Worker","metadata":{"name":"mail","namespace":"shop"},"spec":{"pool":{"size":20}}}`
	if len(s.sent) != 1 || s.sent[0] != want {
		t.Errorf("sent %q\nwant %s", s.sent, want)
	}
}

// A workload that the cluster does not have cannot be tried, so doctor sends no request.
func TestAWorkloadThatIsNotLiveIsNotTried(t *testing.T) {
	t.Parallel()
	w := newWorld()
	delete(w.objects, "web")
	r, s := tried(t, w, nil)
	if a := r.Workloads[0].Answers.Admitted; a.Basis() != doctor.Unknown || len(s.sent) > 0 || !strings.Contains(a.Text(), "does not have the workload") {
		t.Errorf("%+v, sent %q", a, s.sent)
	}
}

// If the workloads cannot be listed again, their answers are unknown.
func TestAFailedListTriesNothing(t *testing.T) {
	t.Parallel()
	w, s := newWorld(), &server{}
	c := w.read(t)
	w.fail = "Deployment"
	c.Try(t.Context(), w, s)
	r := doctor.Examine(c)
	if got := told(r); got != "unknown 0 to 50, without 1: admission-unknown" || len(s.sent) > 0 || r.DryRuns != 0 {
		t.Errorf("%s, sent %q, %d reported", got, s.sent, r.DryRuns)
	}
}

// Each workload is one request, and few of them are open at the same time. Equal refusals
// are one finding, and the missing right is one as well.
func TestManyWorkloadsAreTriedTogether(t *testing.T) {
	t.Parallel()
	const n = 60
	w := newWorld()
	w.change = func(c *doctor.Case) {
		for i := range n - 1 {
			c.Tree.Records["shop"].Entries[workload.ID{Namespace: "shop", Kind: workload.Deployment, Name: fmt.Sprintf("web-%d", i)}] = checkpoint.Entry{Replicas: int32(i + 1)}
		}
	}
	for i := range n - 1 {
		name := fmt.Sprintf("web-%d", i)
		w.objects[name] = strings.Replace(deployment(fluxOwned, "", nobody), "name: web", "name: "+name, 1)
		w.data["deployment."+name] = fmt.Sprint(i + 1)
	}
	c := w.read(t)
	s := &server{err: status(403, `deployments.apps is forbidden: User "jane" cannot create resource "deployments" in API group "apps" in the namespace "shop"`)}
	c.Try(t.Context(), w, s)
	r := doctor.Examine(c)
	if len(s.sent) != n || s.most > 10 || r.DryRuns != n {
		t.Errorf("%d requests, %d at once, %d reported", len(s.sent), s.most, r.DryRuns)
	}
	f := r.Findings[0]
	if len(r.Findings) != 1 || f.Trap != doctor.MissingRights || strings.Join(f.Subjects, " ") != "deployments.apps" || !strings.Contains(f.Manifest, `{apiGroups: ["apps"], resources: [deployments], verbs: [create]}`) || !strings.Contains(f.Manifest, "name: gitlatch-try-deployments}") {
		t.Errorf("%+v", r.Findings)
	}
	for id := range c.Tried {
		c.Tried[id] = status(422, fmt.Sprintf(`deployments.apps %q is forbidden: ValidatingAdmissionPolicy 'limits' with binding 'limits' denied request: at most 0 replicas`, id.Name))
	}
	r = doctor.Examine(c)
	if len(r.Findings) != 1 || len(r.Findings[0].Subjects) != n {
		t.Errorf("%d findings", len(r.Findings))
	}
	text, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(text), `"dryRuns":60`) {
		t.Errorf("%v", err)
	}
}
