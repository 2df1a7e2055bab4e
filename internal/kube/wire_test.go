package kube

import (
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/encoding/protowire"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A law compares the reading of a row with a reading of fully decoded objects.
type law struct {
	resource string
	empty    func() runtime.Object
	check    func(testing.TB, []byte)
	// gists returns the number of objects in an answer, read by their gist.
	gists func([]byte) (int, error)
}

func lawOf[L interface {
	runtime.Object
	metav1.ListInterface
}, T, R any](r row[R], empty func() L, items func(L) []T, read func(*T) R, wants ...func(*R) portion) law {
	gists := func(answer []byte) (int, error) {
		page, err := r.page(answer)
		if err != nil {
			return 0, err
		}
		read, err := page.read(nil, brief)
		return len(read), err
	}
	return law{r.resource, func() runtime.Object { return empty() }, func(t testing.TB, answer []byte) {
		t.Helper()
		list, err := decode[L](answer)
		if err != nil {
			return // the error may be in a field that the row does not read
		}
		page, err := r.page(answer)
		if err != nil || page.next != list.GetContinue() {
			t.Fatalf("%s: continues with %q, want %q: %v", r.resource, page.next, list.GetContinue(), err)
		}
		for i, want := range wants {
			plain, _ := decoded("", items(list), read).read(nil, want)
			got, err := page.read(nil, want)
			if err != nil || len(got)+len(plain) > 0 && !reflect.DeepEqual(got, plain) {
				t.Fatalf("%s, want %d: %v\ngot  %#v\nwant %#v", r.resource, i, err, got, plain)
			}
		}
	}, gists}
}

// laws returns a law for each kind in protobuf, with the parts that samples read.
func laws() []law {
	table := tableOf(workload.Kinds{})
	holding := func(all bool) func(*reading) portion {
		return func(r *reading) portion {
			if all || r.flight != nil {
				return entire
			}
			r.template = nil
			return gist
		}
	}
	some := func(uid types.UID) bool { return len(uid)%2 == 0 }
	return []law{
		lawOf(table.workloads[0], func() *appsv1.DeploymentList { return &appsv1.DeploymentList{} },
			func(l *appsv1.DeploymentList) []appsv1.Deployment { return l.Items }, readDeployment, holding(false), holding(true)),
		lawOf(table.workloads[1], func() *appsv1.StatefulSetList { return &appsv1.StatefulSetList{} },
			func(l *appsv1.StatefulSetList) []appsv1.StatefulSet { return l.Items }, readStatefulSet, holding(false), holding(true)),
		lawOf(table.workloads[2], func() *appsv1.DaemonSetList { return &appsv1.DaemonSetList{} },
			func(l *appsv1.DaemonSetList) []appsv1.DaemonSet { return l.Items }, readDaemonSet, holding(false), holding(true)),
		lawOf(table.autoscalers[0], func() *autoscalingv2.HorizontalPodAutoscalerList { return &autoscalingv2.HorizontalPodAutoscalerList{} },
			func(l *autoscalingv2.HorizontalPodAutoscalerList) []autoscalingv2.HorizontalPodAutoscaler {
				return l.Items
			}, func(h *autoscalingv2.HorizontalPodAutoscaler) autoscaler { return readHPA(h, workload.Kinds{}) }, brief[autoscaler]),
		lawOf(replicaSets, func() *appsv1.ReplicaSetList { return &appsv1.ReplicaSetList{} },
			func(l *appsv1.ReplicaSetList) []appsv1.ReplicaSet { return l.Items }, readReplicaSet, controlledBy(some)),
		lawOf(controllerRevisions, func() *appsv1.ControllerRevisionList { return &appsv1.ControllerRevisionList{} },
			func(l *appsv1.ControllerRevisionList) []appsv1.ControllerRevision { return l.Items }, readRevision, controlledBy(some)),
	}
}

// encoded returns a list in the encoding of the API server.
func encoded(t testing.TB, list runtime.Object) []byte {
	t.Helper()
	raw, err := list.(interface{ Marshal() ([]byte, error) }).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return answered(t, list, raw)
}

// answered adds the envelope to an encoded list.
func answered(t testing.TB, list runtime.Object, raw []byte) []byte {
	t.Helper()
	kinds, _, err := scheme.ObjectKinds(list)
	if err != nil {
		t.Fatal(err)
	}
	unknown := runtime.Unknown{Raw: raw}
	unknown.APIVersion, unknown.Kind = kinds[0].ToAPIVersionAndKind()
	body, err := unknown.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(envelope), body...)
}

// manifests returns the objects of a kind in testdata as one list, limited to most.
func (l law) manifests(t testing.TB, most int) []byte {
	t.Helper()
	list := l.empty()
	kinds, _, _ := scheme.ObjectKinds(list)
	kind := strings.TrimSuffix(kinds[0].Kind, "List")
	items, err := meta.GetItemsPtr(list)
	if err != nil {
		t.Fatal(err)
	}
	all := reflect.ValueOf(items).Elem()
	files, _ := filepath.Glob("../../testdata/manifests/*.txtar")
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(archive.Files[0].Data), "\n---\n") {
			one := reflect.New(all.Type().Elem())
			var stated metav1.TypeMeta
			if err := yaml.Unmarshal([]byte(document), &stated); err != nil || stated.Kind != kind || all.Len() == most {
				continue
			}
			if err := yaml.Unmarshal([]byte(document), one.Interface()); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all.Set(reflect.Append(all, one.Elem()))
		}
	}
	if all.Len() == 0 {
		t.Fatalf("no manifest is of a %s", kind)
	}
	list.(metav1.ListInterface).SetContinue("next")
	return encoded(t, list)
}

// In every manifest, readings do not use the fields that a row cuts.
func TestCutsReadManifestsAsTheTypesDo(t *testing.T) {
	t.Parallel()
	for _, l := range laws() {
		body := l.manifests(t, -1)
		if _, _, ok := parseWire(body, wireKind(t, l)); !ok {
			t.Fatalf("%s: the answer was not taken apart", l.resource)
		}
		l.check(t, body)
	}
}

func wireKind(t testing.TB, l law) schema.GroupVersionKind {
	t.Helper()
	kinds, _, err := scheme.ObjectKinds(l.empty())
	if err != nil {
		t.Fatal(err)
	}
	return kinds[0]
}

// Rows read objects from the remaining bytes, even if the types refuse the bytes that
// were cut. If a cut is not a message, the types read the full answer; no other law
// detects that.
func TestCutsAreReadThemselves(t *testing.T) {
	t.Parallel()
	for _, l := range laws() {
		_, objects, ok := parseWire(l.manifests(t, -1), wireKind(t, l))
		if !ok {
			t.Fatalf("%s: the answer was not taken apart", l.resource)
		}
		var raw []byte
		for _, object := range objects {
			finalizer := protowire.AppendVarint(protowire.AppendTag(nil, finalizers, protowire.VarintType), 1)
			object = protowire.AppendBytes(protowire.AppendTag(slices.Clone(object), metadata, protowire.BytesType), finalizer)
			raw = protowire.AppendBytes(protowire.AppendTag(raw, 2, protowire.BytesType), object)
		}
		answer := answered(t, l.empty(), append([]byte{1<<3 | 2, 0}, raw...))
		if read, err := l.gists(answer); err != nil || read != len(objects) {
			t.Errorf("%s: read %d of %d: %v", l.resource, read, len(objects), err)
		}
		if _, err := runtime.Decode(decoder, answer); err == nil {
			t.Errorf("%s: the types read it, which proves nothing", l.resource)
		}
	}
}

// A list of another kind is an error, because its objects may look valid.
func TestAnAnswerOfAnotherKindIsAnError(t *testing.T) {
	t.Parallel()
	all := laws()
	for i, l := range all {
		other := all[(i+1)%len(all)]
		if read, err := l.gists(other.manifests(t, 1)); err == nil {
			t.Errorf("%d of %s are read as %s", read, other.resource, l.resource)
		}
	}
}

// Like TestCutsReadManifestsAsTheTypesDo, for objects with random fields.
func TestCutsReadRandomObjectsAsTheTypesDo(t *testing.T) {
	t.Parallel()
	for _, l := range laws() {
		filler := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), serializer.NewCodecFactory(scheme)).NumElements(1, 4)
		for range 40 {
			list := l.empty()
			filler.Fill(list)
			l.check(t, encoded(t, list))
		}
	}
}

// FuzzWire reads random bytes as an answer. If the types decode it, rows read the same.
func FuzzWire(f *testing.F) {
	all := laws()
	for _, l := range all {
		f.Add(l.manifests(f, 1))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, l := range all {
			l.check(t, body)
		}
	})
}

// pages requests the next page while it reads a page.
func TestTheNextPageComesWhileOneIsRead(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 3)
	client, err := Connect(&rest.Config{Host: "http://example.com", QPS: -1, Transport: turn(func(r *http.Request) string {
		token := r.URL.Query().Get("continue")
		asked <- token
		next := map[string]string{"": "1", "1": "2"}[token]
		return fmt.Sprintf(`{"kind":"PageList","metadata":{"continue":%q},"items":[%q]}`, next, token)
	})}, "test", accept)
	if err != nil {
		t.Fatal(err)
	}
	coming := func() {
		select {
		case <-asked:
		case <-time.After(time.Minute):
			t.Error("a page is asked for once the one before it was read")
		}
	}
	var read []string
	r := row[string]{path: "/apis/x/v1", resource: "pages", page: custom("PageList", func(s *string) string { return *s })}
	all, err := list(t.Context(), client, r, Selection{}, func(s *string) portion {
		if len(read) == 0 {
			coming() // the first page
		}
		if len(read) < 2 {
			coming()
		}
		read = append(read, *s)
		return entire
	})
	if err != nil || !slices.Equal(all, []string{"", "1", "2"}) {
		t.Errorf("read %q, %v", all, err)
	}
}

// A turn is a transport that answers in JSON.
type turn func(*http.Request) string

func (f turn) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(f(r))), Header: http.Header{"Content-Type": {"application/json"}}}, nil
}
