package kube

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// The owner of the replicas is the same as after a full parse of the managed fields,
// also in the shortened message and in a message that states them twice.
func TestManagedFieldsAreReadAsParsed(t *testing.T) {
	t.Parallel()
	texts := []string{
		`{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:template":{"f:replicas":{}}}}`, `{"f:spec":{"f:template":{}},"f:replicas":{}}`,
		`{"f:metadata":{"f:spec":{"f:replicas":{}}}}`, `{"f:spec":{},"f:x":{"f:replicas":{}}}`, `{"f:spec":null,"f:x":{"f:replicas":{}}}`,
		`{"f:x":"f:spec","f:spec":{"f:replicas":null}}`, `{"k:{\"name\":\"f:spec\"}":{"f:replicas":{}}}`, `{"\\":{},"f:spec":{"f:replicas":{}}}`,
		`{"f:x":["f:spec",{"f:replicas":{}}],"f:spec":["f:replicas"]}`, " {\n \"f:spec\" : {\t\"f:replicas\" : {} } } ", `{}`, `null`, `"f:spec"`, ``,
	}
	for _, l := range laws()[:2] {
		list := l.empty()
		if err := list.(interface{ Unmarshal([]byte) error }).Unmarshal(raw(t, l.manifests(t, -1))); err != nil {
			t.Fatal(err)
		}
		_ = meta.EachListItem(list, func(o runtime.Object) error {
			m, _ := meta.Accessor(o)
			for _, e := range m.GetManagedFields() {
				texts = append(texts, string(e.FieldsV1.GetRawBytes()))
			}
			return nil
		})
	}
	owned := 0
	for _, text := range texts {
		var fields struct {
			Spec map[string]json.RawMessage `json:"f:spec"`
		}
		_ = json.Unmarshal([]byte(text), &fields)
		_, want := fields.Spec["f:replicas"]
		if got := owns(&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(text)}, workload.Replicas); got != want {
			t.Errorf("owned is %v, want %v: %s", got, want, text)
		}
		before, _ := (&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(texts[0])}).Marshal()
		message, _ := (&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(text)}).Marshal()
		for _, message := range [][]byte{message, append(before, message...)} {
			var all, part metav1.ManagedFieldsEntry
			short, err := described.in[managedFields].in.of(nil, message)
			if err := errors.Join(err, all.Unmarshal(message), part.Unmarshal(short)); err != nil {
				t.Fatal(err)
			}
			if got, want := owns(&part, workload.Replicas), owns(&all, workload.Replicas); got != want {
				t.Errorf("owned is %v of what is left, want %v: %s", got, want, text)
			}
		}
		if want {
			owned++
		}
	}
	if owned < 10 || owned == len(texts) {
		t.Errorf("%d of %d are owned, which proves little", owned, len(texts))
	}
}

// The shortened message has the full text before the end of the name, with length
// prefixes of any size.
func TestWhatIsLeftEndsWithTheName(t *testing.T) {
	t.Parallel()
	lengths := []int{0, 1, 100, 127, 128, 1 << 14, 1 << 21}
	for _, before := range lengths {
		for _, behind := range lengths {
			kept := `{"` + strings.Repeat("x", before) + `":{},"f:spec":{"f:replicas":`
			message, _ := (&metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(kept + strings.Repeat("y", behind))}).Marshal()
			short, err := described.in[managedFields].in.of(nil, message)
			var read metav1.ManagedFieldsEntry
			if err := errors.Join(err, read.Unmarshal(short)); err != nil || read.FieldsV1.GetRawString() != kept {
				t.Errorf("of %d bytes with %d behind them %d are left: %v", len(kept), behind, len(read.FieldsV1.GetRawBytes()), err)
			}
		}
	}
}

func raw(t *testing.T, body []byte) []byte {
	t.Helper()
	var unknown runtime.Unknown
	if err := unknown.Unmarshal(body[len(envelope):]); err != nil {
		t.Fatal(err)
	}
	return unknown.Raw
}
