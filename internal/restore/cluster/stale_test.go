package cluster

import (
	"encoding/json"
	"maps"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/gitlatch/gitlatch/internal/restore/brake"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
)

// KEDA before 2.18.2 does not undo a released brake in the HPA of a ScaledObject, and KEDA
// before 2.18.0 does not apply a brake to it.
func TestAnHPAOfKEDAThatDiffersFromItsScaledObject(t *testing.T) {
	t.Parallel()
	const on = `"spec": {}}`
	const braked = `{"metadata": {"name": "mail", "namespace": "shop", "annotations": {"autoscaling.keda.sh/paused-scale-in": "true"}}}`
	const owned = `{"metadata": {"name": "keda-hpa-mail", "namespace": "shop", "ownerReferences": [{"kind": "ScaledObject", "name": "mail", "controller": true}]}, `
	const off = `"spec": {"behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}`
	for name, c := range map[string]struct {
		hpa, object string
		stale       bool
		ignored     bool
	}{
		"not braked by KEDA":       {owned + on, braked, false, true},
		"left by KEDA":             {owned + off, `{"metadata": {"name": "mail", "namespace": "shop"}}`, true, false},
		"undone by KEDA":           {owned + `"spec": {"behavior": {"scaleDown": {"selectPolicy": "Max"}}}}`, `{"metadata": {"name": "mail", "namespace": "shop"}}`, false, false},
		"without a behavior":       {owned + `"spec": {}}`, `{"metadata": {"name": "mail", "namespace": "shop"}}`, false, false},
		"still braked":             {owned + off, `{"metadata": {"name": "mail", "namespace": "shop", "annotations": {"autoscaling.keda.sh/paused-scale-in": "true"}}}`, false, false},
		"stated by a user":         {owned + off, `{"metadata": {"name": "mail", "namespace": "shop"}, "spec": {"advanced": {"horizontalPodAutoscalerConfig": {"behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}}}`, false, false},
		"of another namespace":     {owned + off, `{"metadata": {"name": "mail", "namespace": "pay"}}`, false, false},
		"an HPA of a user":         {`{"metadata": {"name": "mail", "namespace": "shop"}, ` + off, `{"metadata": {"name": "mail", "namespace": "shop"}}`, false, false},
		"an HPA of something else": {`{"metadata": {"name": "mail", "namespace": "shop", "ownerReferences": [{"kind": "Scaler", "name": "mail", "controller": true}]}, ` + off, `{"metadata": {"name": "mail", "namespace": "shop"}}`, false, false},
	} {
		hpa := autoscaler{kind: plan.HPA}
		object := autoscaler{kind: plan.ScaledObject}
		for text, into := range map[string]*autoscaler{c.hpa: &hpa, c.object: &object} {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				t.Fatal(err)
			}
		}
		want := map[string]string{}
		if c.stale {
			want["scaledobject shop/mail"] = "keda-hpa-mail"
		}
		if got := unlike([]autoscaler{hpa, object}, true); !maps.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := unlike([]autoscaler{hpa, object}, false); (got["scaledobject shop/mail"] == "keda-hpa-mail") != c.ignored || len(got) > 1 {
			t.Errorf("%s: without effect: %v, want %v", name, got, c.ignored)
		}
	}
}

// KEDA copies the annotations of a ScaledObject to its HPA, also the note of a brake. The
// note has the former text of an annotation, which an HPA does not have.
func TestABrakeOfAScaledObjectIsNotOneOfItsHPA(t *testing.T) {
	t.Parallel()
	annotations := map[string]string{brake.PausedScaleIn: "true", brake.Annotation: `{"until":"2026-11-20T13:00:00Z","replaced":"false"}`}
	object := autoscaler{kind: plan.ScaledObject, ObjectMeta: metav1.ObjectMeta{Name: "mail", Namespace: "shop", Annotations: annotations}}
	hpa := autoscaler{kind: plan.HPA, ObjectMeta: metav1.ObjectMeta{
		Name: "keda-hpa-mail", Namespace: "shop", Annotations: annotations,
		OwnerReferences: []metav1.OwnerReference{{Kind: "ScaledObject", Name: "mail", Controller: ptr.To(true)}},
	}}
	hpa.Spec.Behavior = json.RawMessage(`{"scaleDown": {"selectPolicy": "Disabled"}}`)
	found := brakes([]autoscaler{hpa, object})
	if len(found) != 1 || found[0].Scaler.Kind != plan.ScaledObject || !found[0].Holds || found[0].Err != nil {
		t.Errorf("brakes %+v", found)
	}
}
