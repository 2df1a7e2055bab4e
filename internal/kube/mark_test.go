package kube_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
)

// A sample has the mark of the admission policy, in both encodings, without a further request.
func TestASampleHasTheMark(t *testing.T) {
	t.Parallel()
	for _, jsonOnly := range []bool{false, true} {
		without := serve(t, fleetOf(2)...)
		sample(t, without)
		all := fleetOf(2)
		all[1].(*appsv1.Deployment).Annotations = map[string]string{admission.Mark: "50", "team": "a"}
		e := serve(t, all...)
		e.jsonOnly = jsonOnly
		fleet := sample(t, e)
		if len(fleet.Samples) != 2 || fleet.Samples[0].Mark != "" || fleet.Samples[1].Mark != "50" {
			t.Errorf("%+v", fleet.Samples)
		}
		if len(e.asked()) != len(without.asked()) {
			t.Errorf("it asked %q, and without a mark %q", e.asked(), without.asked())
		}
	}
}
