package rebuild

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
)

// A way is how a cluster is rebuilt from git.
type way struct {
	name    string
	without bool // checkpoints
	// create applies all that git has to an empty cluster, and reconcile applies
	// it again to one that runs.
	create, reconcile func(*cluster, *testing.T)
}

// absent is the way without checkpoints: nobody states a count. In patient no pod
// ever fails for having too much to do, which is kinder than things are.
var (
	absent  = way{name: "absent", without: true, create: (*cluster).applyApps}
	patient = way{name: "patient", without: true, create: (*cluster).applyApps}
)

// ways are those with checkpoints that run here.
var ways = []way{
	{name: "overlay", create: (*cluster).applyOverlay, reconcile: (*cluster).reapplyOverlay},
	{name: "admission", create: (*cluster).applyAdmission, reconcile: (*cluster).applyApps},
}

func (c *cluster) applyApps(t *testing.T) {
	t.Helper()
	c.cp.Apply(t, c.build(t, plain))
}

// applyOverlay creates what the site's overlay builds, Components included. It
// is what Argo CD with its rule and Flux with its field do for an object that is
// not there.
func (c *cluster) applyOverlay(t *testing.T) {
	t.Helper()
	c.cp.Apply(t, c.build(t, overlay))
}

// reapplyOverlay applies the overlay with the live count in the place of the
// built one, as both tools do for an object that is there.
func (c *cluster) reapplyOverlay(t *testing.T) {
	t.Helper()
	var all []string
	for text := range strings.SplitSeq(c.build(t, overlay), "\n---\n") {
		var object map[string]any
		must(t, yaml.Unmarshal([]byte(text), &object))
		if object["kind"] == "Deployment" {
			of := object["metadata"].(map[string]any)
			object["spec"].(map[string]any)["replicas"] = c.replicas(t, of["namespace"].(string), of["name"].(string))
		}
		edited, err := json.Marshal(object)
		must(t, err)
		all = append(all, string(edited))
	}
	c.cp.Apply(t, all...)
}

func (c *cluster) replicas(t *testing.T, namespace, name string) (n int) {
	t.Helper()
	text := c.cp.Kubectl(t, "", "get", "deployment", "-n", namespace, name, "-o", "jsonpath={.spec.replicas}")
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("count of %s/%s: %q: %v", namespace, name, text, err)
	}
	return n
}

// applyAdmission applies the records and the policy that takes them as
// parameter; once that works, the manifests, which state no count.
func (c *cluster) applyAdmission(t *testing.T) {
	t.Helper()
	for _, namespace := range namespaces {
		c.cp.Apply(t, namespaceManifest(namespace), read(t, filepath.Join(c.git, checkpoint.RecordPath(site, namespace))))
	}
	c.cp.Apply(t, read(t, filepath.Join("testdata", "admission.yaml")))
	c.admits(t)
	c.applyApps(t)
}

// admits waits until the API server knows of the policy, some moments after it
// was applied: what is created before comes without it.
func (c *cluster) admits(t *testing.T) {
	t.Helper()
	probe := controlplane.Workload("Deployment", namespaces[0], "auth")
	err := controlplane.Eventually(t.Context(), time.Minute, func(context.Context) error {
		got := c.cp.Kubectl(t, probe, "create", "--dry-run=server", "-o", "jsonpath={.spec.replicas}", "-f", "-")
		if got == "1" {
			return fmt.Errorf("a Deployment would be created with %s replica", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
