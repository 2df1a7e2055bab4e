package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stages returns the path of the file of kwok's stages: its own, in which a pod
// is ready at once, or those with the stages in its place of a pod that takes a
// while.
func (cp *ControlPlane) stages(t testing.TB, podStart time.Duration) string {
	t.Helper()
	own := filepath.Join(cp.bin, "stages.yaml")
	if podStart == 0 {
		return own
	}
	text, err := os.ReadFile(own)
	if err != nil {
		t.Fatalf("read the stages of kwok: %v", err)
	}
	changed := fmt.Sprintf(slowPod, podStart.Milliseconds())
	for stage := range strings.SplitSeq(string(text), "\n---\n") {
		if !strings.Contains(stage, "\n  name: pod-ready\n") {
			changed += "\n---\n" + stage
		}
	}
	path := filepath.Join(cp.dir, "stages.yaml")
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatalf("write the stages of kwok: %v", err)
	}
	return path
}

// slowPod is the status that a kubelet sets on a pod whose containers take the given
// milliseconds to become ready. A pod that others mark as unready has another reason,
// and stays unready until they mark it as ready.
const slowPod = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-start}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: .status.phase, operator: In, values: [Pending]}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Running
      startTime: {{ $now | Quote }}
      conditions:
      - {type: Initialized, status: "True", lastTransitionTime: {{ $now | Quote }}}
      - {type: Ready, status: "False", reason: Starting, lastTransitionTime: {{ $now | Quote }}}
      - {type: ContainersReady, status: "False", reason: Starting, lastTransitionTime: {{ $now | Quote }}}
      containerStatuses:
      {{ range .spec.containers }}
      - {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: false, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
      {{ end }}
---
apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata: {name: pod-ready}
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  selector:
    matchExpressions:
    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
    - {key: '.status.conditions.[] | select( .type == "Ready" ) | .reason', operator: In, values: [Starting]}
  delay: {durationMilliseconds: %d}
  next:
    statusTemplate: |
      {{ $now := Now }}
      conditions:
      - {type: Ready, status: "True", reason: Started, lastTransitionTime: {{ $now | Quote }}}
      - {type: ContainersReady, status: "True", reason: Started, lastTransitionTime: {{ $now | Quote }}}
      containerStatuses:
      {{ range .spec.containers }}
      - {image: {{ .image | Quote }}, name: {{ .name | Quote }}, ready: true, restartCount: 0, state: {running: {startedAt: {{ $now | Quote }}}}}
      {{ end }}
`
