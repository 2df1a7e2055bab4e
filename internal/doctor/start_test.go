package doctor

import (
	"testing"

	"github.com/gitlatch/gitlatch/internal/workload"
)

// A manifest without replicas starts with 1 pod only if this is the default of its kind.
func TestOnlySomeKindsStartWithOne(t *testing.T) {
	t.Parallel()
	omits := manifest{basis: Observed, omits: true}
	for kind, want := range map[workload.Kind]string{
		workload.Deployment: "observed 1", workload.StatefulSet: "observed 1", workload.ArgoRollout: "observed 1",
		"worker": "unknown 0 to 40", workload.DaemonSet: "unknown 0 to 40",
	} {
		start := omits.without(kind, Shows("applied"), 40)
		if got := start.Basis.String() + " " + start.String(); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
