//go:build gitops

package ways_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// scalers state the fields that the brake of a restore sets.
const scalers = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: braked, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: braked}
  maxReplicas: 9
  behavior: {scaleDown: {selectPolicy: Max}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: braked, namespace: shop, annotations: {autoscaling.keda.sh/paused-scale-in: "false"}}
spec: {scaleTargetRef: {name: other}}
`

// brakes checks that the tool resets a brake if git states its field, and that it keeps
// the brake with the rules that doctor prints. Rules is a JSON patch that adds the rules
// to the tool's object.
func (l *live) brakes(t *testing.T, object, rules string) {
	t.Helper()
	l.Define(t, controlplane.ScaledObject)
	all := "apps/shop/kustomization.yaml"
	l.Applied(t, example.Name, l.push(t, map[string]string{all: string(l.files[all]) + "- scalers.yaml\n", "apps/shop/scalers.yaml": scalers}))
	l.brake(t)
	l.Reconcile(t, example.Name)
	l.brakeIs(t, "Max false")
	l.Kubectl(t, "", append(strings.Fields("patch --type=json "+object), "-p", rules)...)
	l.brake(t)
	l.Reconcile(t, example.Name)
	l.brakeIs(t, "Disabled true")
	l.Applied(t, example.Name, l.push(t, map[string]string{"apps/shop/scalers.yaml": strings.Replace(scalers, "maxReplicas: 9", "maxReplicas: 8", 1)}))
	l.brakeIs(t, "Disabled true")
	if got := l.Kubectl(t, "", "get", "-n", "shop", "hpa/braked", "-o", "jsonpath={.spec.maxReplicas}"); got != "8" {
		t.Errorf("the maximum is %s, want 8", got)
	}
}

// brake brakes both autoscalers as a restore does.
func (l *live) brake(t *testing.T) {
	t.Helper()
	for object, patch := range map[string]string{
		"hpa/braked":                   `{"spec": {"behavior": {"scaleDown": {"selectPolicy": "Disabled"}}}}`,
		"scaledobjects.keda.sh/braked": `{"metadata": {"annotations": {"autoscaling.keda.sh/paused-scale-in": "true"}}}`,
	} {
		l.Kubectl(t, "", "patch", "-n", "shop", object, "--type=merge", "--field-manager=gitlatch-restore", "-p", patch)
	}
}

// brakeIs waits until the fields of both autoscalers have the values.
func (l *live) brakeIs(t *testing.T, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		policy, err := l.TryKubectl(ctx, "", "get", "-n", "shop", "hpa/braked", "-o", "jsonpath={.spec.behavior.scaleDown.selectPolicy}")
		if err != nil {
			return err
		}
		pause, err := l.TryKubectl(ctx, "", "get", "-n", "shop", "scaledobjects.keda.sh/braked", "-o", `jsonpath={.metadata.annotations.autoscaling\.keda\.sh/paused-scale-in}`)
		if got := policy + " " + pause; err == nil && got != want {
			err = fmt.Errorf("the autoscalers have %q, want %q", got, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
