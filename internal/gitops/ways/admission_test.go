package ways_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// record is the ConfigMap that a record is, with the lines given.
func record(namespace string, lines ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: gitlatch-checkpoint, namespace: %s}\ndata:\n  %s\n",
		namespace, strings.Join(lines, "\n  "))
}

// admitting is a control plane with both policies, once they act: the API server
// takes a second to see a new policy, and another for its record.
func admitting(t *testing.T) *controlplane.ControlPlane {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 2)
	cp.Apply(t, string(ways.Admission(example)), string(ways.Images(example)),
		"{apiVersion: v1, kind: Namespace, metadata: {name: probe}}",
		record("probe", `deployment.web: "7"`, `deployment.web_returns: from`, `deployment.web_differ: images`,
			`deployment.web_from_main: probe`, `deployment.web_to_main: app:1`))
	acts(t, cp, "probe", "web", "7 probe")
	return cp
}

// acts waits until a creation in the namespace would come out as wanted: its
// count, and the image of its container.
func acts(t *testing.T, cp *controlplane.ControlPlane, namespace, name, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		got := cp.Kubectl(t, controlplane.Workload("Deployment", namespace, name), "create", "--dry-run=server", "-f", "-",
			"-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[0].image}")
		if got != want {
			return fmt.Errorf("it is created as %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// with sets the count in the manifest of a controlplane.Workload.
func with(manifest string, replicas int) string {
	return strings.Replace(manifest, "spec:\n", fmt.Sprintf("spec:\n  replicas: %d\n", replicas), 1)
}

func TestAdmissionRaisesWhatIsCreated(t *testing.T) {
	t.Parallel()
	cp := admitting(t)
	for name, c := range map[string]struct {
		line string // of the record; %s is kind.name
		asks int    // 0 leaves the count out
		want string
	}{
		"left-out":         {`%s: "200"`, 0, "200"},
		"asks-for-less":    {`%s: "200"`, 3, "200"},
		"asks-for-as-many": {`%s: "200"`, 200, "200"},
		"asks-for-more":    {`%s: "20"`, 50, "50"},
		"other-line":       {`%s-2: "200"`, 0, "1"},
		"with.dots":        {`%s: "20"`, 0, "20"},
		"zero":             {`%s: "0"`, 0, "1"},
		"negative":         {`%s: "-5"`, 0, "1"},
		"no-number":        {`%s: many`, 0, "1"},
		"empty":            {`%s: ""`, 0, "1"},
		"octal":            {`%s: "0200"`, 0, "1"},
		"too-large":        {`%s: "2147483648"`, 0, "1"},
		"far-too-large":    {`%s: "99999999999999999999"`, 0, "1"},
		"two-lines":        {"%s: \"5\\n6\"", 0, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := strings.ReplaceAll(name, ".", "-")
			cp.Apply(t, fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", namespace))
			cp.Apply(t, record(namespace, `deployment.probe: "9"`,
				fmt.Sprintf(c.line, "deployment."+name), fmt.Sprintf(c.line, "statefulset."+name)))
			acts(t, cp, namespace, "probe", "9 app:1")
			for _, kind := range []string{"Deployment", "StatefulSet"} {
				manifest := strings.Replace(controlplane.Workload(kind, namespace, name), "serviceName: "+name, "serviceName: any", 1)
				manifest = strings.ReplaceAll(manifest, "app: "+name, "app: any")
				if c.asks > 0 {
					manifest = with(manifest, c.asks)
				}
				got := cp.Kubectl(t, manifest, "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.replicas}")
				if got != c.want {
					t.Errorf("%s is created with %s, want %s", kind, got, c.want)
				}
			}
		})
	}
}
