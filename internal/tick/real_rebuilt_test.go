//go:build cluster || aws || gitops

package tick_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/drill/run"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// returns compares the rollout in git, in doctor and in the data of a drill with the
// wanted rollout.
func (r *realParts) returns(t *testing.T, l lost) {
	t.Helper()
	tree := r.tree(t)
	declared := tree.Entries()[l.id].Rollout
	if got := fmt.Sprintf("%d %% %s %s", declared.Milestone, declared.Phase, declared.Returns); got != l.record || declared.Returned().Images != checkpoint.Images("main="+l.returns) {
		t.Errorf("%s: git says %s, which is %s; want %s, which is %s", l.said, got, declared.Returned().Images, l.record, l.returns)
	}
	if !declared.ImagesOnly {
		t.Errorf("%s: the templates are not said to differ in images alone", l.said)
	}
	if d := r.drilled(t, l.id); d == nil || !d.InFlight || d.Returns != string(declared.Returns) || d.Version != "main="+l.returns || *d.Milestone != declared.Milestone {
		t.Errorf("%s: a drill says %+v", l.said, d)
	}
	side := map[string]string{"app:1": "the template before", "app:2": "the new template"}[l.returns]
	want := fmt.Sprintf("%s, at milestone %d %%: main=%s", side, declared.Milestone, l.returns)
	for _, w := range doctor.Examine(doctor.Case{Site: "prod-eu", Tree: tree}).Workloads {
		if w.ID == l.id && strings.HasPrefix(w.Returns, want) {
			return
		}
	}
	t.Errorf("%s: doctor does not say %q", l.said, want)
}

// drilled returns the rollout in the report of a drill that writes nothing.
func (r *realParts) drilled(t *testing.T, of workload.ID) *drill.Rollout {
	t.Helper()
	objects, err := kube.NewObjects(r.cp.As("drill", "system:masters"))
	must(t, err)
	dry := &run.Run{Tick: local.Tick(r.config, r.parts), Objects: objects, Branch: "main", Policy: "gitlatch.yaml"}
	dry.Tick.DryRun = true
	document, err := dry.Drill(t.Context())
	must(t, err)
	for _, w := range document.Workloads {
		if w.Namespace == of.Namespace && w.Kind == string(of.Kind) && w.Name == of.Name {
			return w.Rollout
		}
	}
	return nil
}

// rebuilt creates the lost workloads from git: the checkpoint file as a ConfigMap,
// under the shipped policies, and manifests that state v2. A separate namespace
// represents the new cluster. Its workloads are removed before the next tick.
func (r *realParts) rebuilt(t *testing.T, rollouts []lost) {
	policy, err := admission.Policy{Images: true}.Format()
	must(t, err)
	r.cp.Apply(t, string(policy))
	r.cp.Kubectl(t, "", "create", "namespace", "rebuilt")
	defer r.cp.Kubectl(t, "", "delete", "namespace", "rebuilt")
	r.cp.Apply(t, strings.ReplaceAll(r.origin.Show(t, "main", checkpoint.RecordPath("prod-eu", "shop")), "shop", "rebuilt"))

	var manifests []string
	created, again := map[string]string{}, map[string]string{}  // images
	starts, reaches := map[string]string{}, map[string]string{} // pods
	for _, l := range rollouts {
		// Three pods of v2 start. No other pod starts for five minutes, or beyond the
		// partition.
		spec, then := surging(3, 300, 600, false), "10 app:1, 3 app:2"
		if l.id.Kind == workload.StatefulSet {
			spec, then = partition(7), "7 app:1, 3 app:2"
		}
		if l.returns == "app:2" {
			then = "10 app:2"
		}
		created[l.id.Name], starts[l.id.Name] = l.returns, "10 "+l.returns
		again[l.id.Name], reaches[l.id.Name] = "app:2", then
		m := moved(t, rolling(l.id, "app:2", spec), "namespace: shop", "namespace: rebuilt")
		// The node accepts only these pods.
		manifests = append(manifests, moved(t, m, "containers:", "tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists}], containers:"))
	}
	r.eventually(t, func() error { // once the API server sees the policies and the checkpoint file
		return differs(r.cp.Kubectl(t, manifests[0], "create", "--dry-run=server", "-f", "-", "-o", "jsonpath={.spec.template.spec.containers[0].image}"), rollouts[0].returns)
	})

	r.cp.Apply(t, manifests...)
	must(t, differs(r.asks(t, "rebuilt"), created))
	r.eventually(t, func() error { return differs(r.serves(t, "rebuilt"), starts) })
	r.cp.Apply(t, manifests...)
	must(t, differs(r.asks(t, "rebuilt"), again))
	r.eventually(t, func() error { return differs(r.serves(t, "rebuilt"), reaches) })
}

// moved returns a text with one part replaced.
func moved(t *testing.T, text, old, with string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there other than once:\n%s", old, text)
	}
	return strings.Replace(text, old, with, 1)
}

// differs returns an error if two values differ.
func differs(got, want any) error {
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %v, want %v", got, want)
	}
	return nil
}

// eventually waits until a condition is true.
func (r *realParts) eventually(t *testing.T, holds func() error) {
	t.Helper()
	must(t, controlplane.Eventually(t.Context(), 3*time.Minute, func(context.Context) error { return holds() }))
}

// asks returns the images in the workloads of a namespace.
func (r *realParts) asks(t *testing.T, namespace string) map[string]string {
	t.Helper()
	asks := map[string]string{}
	for line := range strings.Lines(r.cp.Kubectl(t, "", "get", "deployments,statefulsets", "-n", namespace, "-o",
		`jsonpath={range .items[*]}{.metadata.name} {.spec.template.spec.containers[0].image}{"\n"}{end}`)) {
		name, image, _ := strings.Cut(strings.TrimSpace(line), " ")
		asks[name] = image
	}
	return asks
}

// serves returns the ready pods in a namespace, by workload, as "7 app:1, 3 app:2".
func (r *realParts) serves(t *testing.T, namespace string) map[string]string {
	t.Helper()
	ready := map[string]map[string]int{}
	for line := range strings.Lines(r.cp.Kubectl(t, "", "get", "pods", "-n", namespace, "-o",
		`jsonpath={range .items[*]}{.metadata.labels.app} {.spec.containers[0].image} {.status.conditions[?(@.type=="Ready")].status}{"\n"}{end}`)) {
		if pod := strings.Fields(line); len(pod) == 3 && pod[2] == "True" {
			if ready[pod[0]] == nil {
				ready[pod[0]] = map[string]int{}
			}
			ready[pod[0]][pod[1]]++
		}
	}
	serves := map[string]string{}
	for name, by := range ready {
		var all []string
		for _, image := range slices.Sorted(maps.Keys(by)) {
			all = append(all, fmt.Sprintf("%d %s", by[image], image))
		}
		serves[name] = strings.Join(all, ", ")
	}
	return serves
}

// undone rolls a StatefulSet back while the node has no room for a pod, so the rollback
// does not end.
func (r *realParts) undone(t *testing.T, l *lost) {
	r.cp.Apply(t, rolling(l.id, "app:1", partition(0)))
	r.until(t, l.id, func(s workload.Sample) bool {
		return s.Rollout.InFlight && s.Rollout.Templates[0].Images["main"] == "app:1" && s.Scale.Ready == 9
	})
	r.tick(t)
	l.record, l.returns = "0 % returning from", "app:1"
	r.returns(t, *l)
	r.quietTicks(t, 1)
	r.cp.Kubectl(t, "", "uncordon", "node-1")
}

// ends lets the good rollouts continue to their end, and rolls the others back.
func (r *realParts) ends(t *testing.T, rollouts []lost) {
	var last []string
	for _, l := range rollouts {
		image, spec := l.returns, surging(3, 0, 600, false)
		if l.id.Kind == workload.StatefulSet {
			spec = partition(0)
		}
		last = append(last, rolling(l.id, image, spec))
	}
	r.cp.Apply(t, last...)
	for _, l := range rollouts {
		r.until(t, l.id, func(s workload.Sample) bool { return s.Scale.Ready == 10 && !s.Rollout.InFlight })
	}
	r.tick(t)
	if left := r.tree(t).Entries(); len(left) > 0 {
		t.Errorf("git still declares %+v", left)
	}
	r.quietTicks(t, 1)
}
