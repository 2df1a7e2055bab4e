//go:build gitops

package owners

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Every Deployment has level 20. The manifests state 3 replicas or omit them, and a scaler
// sets 42.
const (
	level  = 20
	scaled = 42
)

// A way is one way of a tool to apply manifests. The manifests have an annotation if the id ends
// with annotated.
type way struct{ id, title string }

const annotated = "-annotated"

// A tool applies the manifests of its cells.
type tool struct {
	ways []way
	// apply applies the manifests of a step, by cell, and waits until the tool has done so.
	// It returns the errors, by cell. The steps count from 1.
	apply func(t *testing.T, step int, manifests map[cell]string) (failed map[cell]error)
	// reconcile makes the tool compare the cluster with git, without a commit, and waits
	// until it has. It is nil if the tool runs only on command.
	reconcile func(t *testing.T, step int, cells []cell)
}

// A cell is a way with a kind of manifest. It has a namespace with three Deployments: api
// is never scaled, web is scaled by a user, and hpa by a real HPA.
type cell struct {
	way    way
	stated bool
}

func (c cell) namespace() string {
	if c.stated {
		return c.way.id + "-stated"
	}
	return c.way.id + "-omitted"
}

// manifest returns the manifest of the cell with a note. flip states replicas if the cell
// omits them, and the reverse.
func (c cell) manifest(note string, flip bool) string {
	count := ""
	if c.stated != flip {
		count = "3"
	}
	var all []string
	for _, name := range []string{"api", "hpa", "web"} {
		all = append(all, deployment(c.namespace(), name, count, note))
	}
	if strings.HasSuffix(c.way.id, annotated) {
		return strings.ReplaceAll(documents(all...), "namespace: ", "annotations: {team: a}, namespace: ")
	}
	return documents(all...)
}

const autoscaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: hpa, namespace: %s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: hpa}
  minReplicas: %d
  maxReplicas: 200
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
`

// A result is the row of a cell.
type result struct {
	owner, last     string // at creation
	reconciled      string
	scaler          string // the owner after a scale
	reconciledAgain string
	scaledAgain     string // applied again after a scale
	ownerAgain      string // then
	neverScaled     string // applied again without a scale
	flipped         string
	lost            string // the step in which a mark was missing
}

// Each tool creates Deployments at their level, and applies them again with and without a
// scale before. The tables have the owners of spec.replicas and the replica counts.
func TestOwnersOfReplicas(t *testing.T) {
	for _, one := range []struct {
		name string
		tool func(*testing.T, *world) tool
	}{
		{"commands", commands},
		{"flux", kustomizeController},
		{"argocd", applicationController},
		{"helm-controller", helmController},
	} {
		t.Run(one.name, func(t *testing.T) {
			w := start(t)
			w.measure(t, one.tool(t, w)).same(t, "replicas-"+one.name+".md")
		})
	}
}

// measure takes a tool through its steps, and returns the table of its cells.
func (w *world) measure(t *testing.T, of tool) *table {
	t.Helper()
	var cells []cell
	for _, way := range of.ways {
		cells = append(cells, cell{way, true}, cell{way, false})
	}
	w.raise(t, cells)
	results := map[cell]*result{}
	for _, c := range cells {
		results[c] = &result{}
	}
	// each reads the Deployments of all cells, and adds to their results.
	each := func(step string, add func(r *result, web, hpa, api shot, c cell)) {
		for _, c := range cells {
			n, r := c.namespace(), results[c]
			web, hpa, api := w.look(t, n, "web"), w.look(t, n, "hpa"), w.look(t, n, "api")
			if r.lost == "" && slices.Contains([]string{web.mark, hpa.mark, api.mark}, "") {
				r.lost = step
			}
			add(r, web, hpa, api, c)
		}
	}
	apply := func(step int, flip bool) map[cell]error {
		manifests := map[cell]string{}
		for _, c := range cells {
			manifests[c] = c.manifest(fmt.Sprint("step ", step), flip)
		}
		return of.apply(t, step, manifests)
	}
	reconcile := func(step int) {
		if of.reconcile != nil {
			of.reconcile(t, step, cells)
		}
	}

	if failed := apply(1, false); len(failed) > 0 {
		t.Fatalf("create the Deployments: %v", failed)
	}
	births := w.births(t)
	for _, c := range cells {
		for _, name := range []string{"api", "hpa", "web"} {
			if s := births[c.namespace()+"/"+name]; s.count != level || s.mark != fmt.Sprint(level) {
				t.Errorf("%s/%s was created as %+v, want level %d", c.namespace(), name, s, level)
			}
		}
		s := births[c.namespace()+"/web"]
		results[c].owner, results[c].last = s.owners, s.last
	}
	reconcile(1)
	each("reconcile", func(r *result, web, _, api shot, _ cell) { r.reconciled = both(web, api) })

	w.autoscale(t, cells)
	for _, c := range cells {
		web, hpa := w.scale(t, c.namespace()), w.autoscaled(t, c.namespace())
		by := func(s shot, manager string) string { return strings.ReplaceAll(s.owners, manager, "scaler") }
		results[c].scaler = differ(by(web, "scaler"), by(hpa, "kube-controller-manager"), "HPA: ")
	}
	w.unscale(t, cells)
	reconcile(1)
	each("reconcile after a scale", func(r *result, web, hpa, _ shot, _ cell) { r.reconciledAgain = both(web, hpa) })

	failed := apply(2, false)
	each("apply", func(r *result, web, hpa, api shot, c cell) {
		r.scaledAgain, r.ownerAgain = both(web, hpa)+fault(failed[c]), web.owners
		r.neverScaled = fmt.Sprint(api.count)
	})
	failed = apply(3, true)
	each("change of the line", func(r *result, web, _, api shot, c cell) {
		r.flipped = differ(fmt.Sprint(web.count), fmt.Sprint(api.count), "never scaled: ") + fault(failed[c])
	})

	return render(of, cells, results)
}

func render(of tool, cells []cell, results map[cell]*result) *table {
	b := &table{}
	b.head("tool", "manifest", "owner at creation", "last-applied", "reconciled", "owner after a scale", "reconciled after a scale",
		"applied again after a scale", "then the owner", "applied again, never scaled", "line removed or added", "mark")
	for _, c := range cells {
		r := results[c]
		manifest, kept := "omitted", "kept"
		if c.stated {
			manifest = "3"
		}
		if r.lost != "" {
			kept = "lost by the " + r.lost
		}
		if of.reconcile == nil {
			r.reconciled, r.reconciledAgain = "-", "-"
		}
		b.row(c.way.title, manifest, r.owner, r.last, r.reconciled, r.scaler, r.reconciledAgain, r.scaledAgain, r.ownerAgain, r.neverScaled, r.flipped, kept)
	}
	return b
}

// raise creates the namespaces of cells and their levels, and waits until the policy acts.
func (w *world) raise(t *testing.T, cells []cell) {
	t.Helper()
	all := []string{policyFile(t)}
	data := map[string]string{}
	for _, name := range []string{"api", "hpa", "web"} {
		data["deployment."+name] = fmt.Sprint(level)
	}
	for _, c := range cells {
		all = append(all, namespace(c.namespace()), levels(c.namespace(), data))
	}
	w.Apply(t, all...)
	for _, c := range cells {
		w.acts(t, c.namespace(), "web", level)
	}
}

// scale sets the replicas of web, and returns web after that. If a tool resets them before
// the read, it sets them again.
func (w *world) scale(t *testing.T, namespace string) (s shot) {
	t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, scaled)
	eventually(t, namespace+"/web is scaled", func(ctx context.Context) error {
		_, err := w.dyn.Resource(deployments).Namespace(namespace).Patch(ctx, "web", types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "scaler"}, "scale")
		if err != nil {
			return err
		}
		return want(w.look(t, namespace, "web"), scaled, &s)
	})
	return s
}

// autoscale creates an HPA for each hpa, with a minimum that it must set at once.
func (w *world) autoscale(t *testing.T, cells []cell) {
	t.Helper()
	var all []string
	for _, c := range cells {
		all = append(all, fmt.Sprintf(autoscaler, c.namespace(), scaled))
	}
	w.Apply(t, all...)
}

// autoscaled waits until an HPA has scaled hpa, and returns hpa after that.
func (w *world) autoscaled(t *testing.T, namespace string) (s shot) {
	t.Helper()
	eventually(t, namespace+"/hpa is scaled", func(context.Context) error { return want(w.look(t, namespace, "hpa"), scaled, &s) })
	return s
}

// unscale deletes the HPAs. Otherwise they would raise a count that a tool resets.
func (w *world) unscale(t *testing.T, cells []cell) {
	t.Helper()
	for _, c := range cells {
		must(t, w.dyn.Resource(autoscalers).Namespace(c.namespace()).Delete(t.Context(), "hpa", metav1.DeleteOptions{}))
	}
}

func want(got shot, count int64, s *shot) error {
	if got.count != count {
		return fmt.Errorf("it has %d replicas, want %d", got.count, count)
	}
	*s = got
	return nil
}

// both returns a replica count that two Deployments of a cell should have.
func both(web, other shot) string {
	return differ(fmt.Sprint(web.count), fmt.Sprint(other.count), "other: ")
}

// differ returns a text for two Deployments, which has both only if they differ.
func differ(one, other, label string) string {
	if one == other {
		return one
	}
	return one + "; " + label + other
}

// fault returns the kind of an error.
func fault(err error) string {
	if err == nil {
		return ""
	}
	for _, kind := range []string{"conflict", "doc is missing key: /spec/replicas"} {
		if strings.Contains(err.Error(), kind) {
			return ", error: " + kind
		}
	}
	return ", error: " + strings.ReplaceAll(err.Error(), "\n", " ")
}
