//go:build cluster || aws || gitops

package tick_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rolling returns a manifest of 10 pods of an image.
func rolling(id workload.ID, image, spec string) string {
	kind := "Deployment"
	if id.Kind == workload.StatefulSet {
		kind, spec = "StatefulSet", "podManagementPolicy: Parallel, "+spec
	}
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %[1]s
metadata: {name: %[2]s, namespace: shop}
spec: {replicas: 10, selector: {matchLabels: {app: %[2]s}}, %[3]s, template: {metadata: {labels: {app: %[2]s}},
  spec: {terminationGracePeriodSeconds: 0, containers: [{name: main, image: %[4]q, resources: {requests: {cpu: 10m}}}]}}}
`, kind, id.Name, spec, image)
}

// surging returns a Deployment that adds some pods of its template to all pods of the
// previous one. They become available after the given seconds, and the rollout stops
// there.
func surging(surge, seconds, deadline int, paused bool) string {
	return fmt.Sprintf("minReadySeconds: %d, progressDeadlineSeconds: %d, paused: %t, strategy: {rollingUpdate: {maxSurge: %d, maxUnavailable: 0}}", seconds, deadline, paused, surge)
}

// byDefault returns the strategy of a Deployment that states none: no pod of the old
// template remains as soon as the desired number of pods is available.
func byDefault(deadline int) string {
	return fmt.Sprintf("minReadySeconds: 0, progressDeadlineSeconds: %d, paused: false, strategy: {rollingUpdate: {maxSurge: 25%%, maxUnavailable: 25%%}}", deadline)
}

func partition(at int) string {
	return fmt.Sprintf("updateStrategy: {rollingUpdate: {partition: %d}}", at)
}

// lost is one rollout of the test, and the expected version of a rebuild after the loss
// of the cluster in the middle of the rollout.
type lost struct {
	said    string
	id      workload.ID
	pods    int32  // available pods of v2, of 10
	stuck   bool   // the rollout wants more pods, which fit on no node; otherwise a user halts it
	record  string // milestone, phase and side
	returns string // the image
}

// The test checks the versions in git, which start a rebuild, after real ticks on a
// real control plane. doctor and the data of a drill must report the same versions, and
// the shipped policies must create the workloads with these versions. A good Deployment
// waits for its last batch. Other rollouts are stopped: a Deployment by a pause, a
// StatefulSet by its partition, and one of each before its first pod. A bad rollout
// wants to continue, but its next pod fits nowhere. The cluster does not report its
// failure before the deadline, and for a StatefulSet it never does.
func TestLostInARolloutARebuildBeginsWithTheVersionOfItsMilestone(t *testing.T) {
	t.Parallel()
	rollouts := []lost{
		{"Lost at 10 % of a bad v2: v1", id("shop/bad"), 1, true, "10 % progressing from", "app:1"},
		{"Lost at 90 % of a good v2: v2", id("shop/good"), 9, true, "90 % progressing to", "app:2"},
		{"Failed at 75 %: v1", id("shop/failed"), 8, false, "80 % halted to", "app:2"},
		{"Failed at 75 % with no pod of v1 left: v1", id("shop/gone"), 8, false, "80 % halted to", "app:2"},
		{"StatefulSet likewise, at 10 %, where no pod came for ten minutes: v1", id("shop/statefulset/bad-db"), 1, true, "0 % failed from", "app:1"},
		{"StatefulSet likewise, at 90 %: v2", id("shop/statefulset/good-db"), 9, false, "90 % halted to", "app:2"},
		{"StatefulSet likewise, failed at 75 %: v1", id("shop/statefulset/failed-db"), 8, false, "80 % halted to", "app:2"},
		{"StatefulSet likewise, failed at 75 % with no pod of v1 left: v1", id("shop/statefulset/gone-db"), 8, false, "80 % halted to", "app:2"},
		{"Paused before it was told v2: v1", id("shop/staged"), 0, false, "0 % halted from", "app:1"},
		{"StatefulSet likewise, by a partition that no ordinal reaches: v1", id("shop/statefulset/staged-db"), 0, false, "0 % halted from", "app:1"},
	}
	failed, gone, goodDB, failedDB, goneDB := &rollouts[2], &rollouts[3], &rollouts[5], &rollouts[6], &rollouts[7]
	r := &realParts{
		cp: controlplane.Start(t, controlplane.Options{}), server: gitserver.Start(t), calls: &calls{}, now: morning,
	}
	r.cp.Nodes(t, 1)
	for _, file := range []string{"clusterrole.yaml", "clusterrolebinding.yaml"} {
		r.cp.Apply(t, text(t, filepath.Join("../../infra/rbac", file)))
	}
	r.server.RequireAuth("x-access-token", "s3cret")
	r.origin = r.server.Create(t, "site", map[string]string{"gitlatch.yaml": latching})
	r.open(t)
	r.cp.Kubectl(t, "", "create", "namespace", "shop")
	r.rolls(t, rollouts)

	r.tick(t)
	r.tick(t)
	r.tick(t)
	if r.tick(t).Commit == nil {
		t.Fatal("ten rollouts that have been in flight for 15 minutes made no commit")
	}
	for _, l := range rollouts {
		t.Run(l.said, func(t *testing.T) { r.returns(t, l) })
	}

	// The rollouts continue, and the node is full: the deadline of one ends soon.
	r.cp.Apply(t, rolling(failed.id, "app:2", surging(8, 0, 1, false)), rolling(gone.id, "app:2", byDefault(1)), rolling(failedDB.id, "app:2", partition(0)),
		rolling(goneDB.id, "app:2", "updateStrategy: {rollingUpdate: {partition: 0, maxUnavailable: 2}}"))
	for _, l := range []*lost{failed, gone} {
		r.until(t, l.id, func(s workload.Sample) bool {
			return strings.Contains(s.Rollout.Failure, "ProgressDeadlineExceeded") && s.Rollout.Mixed() == (l == failed)
		})
	}
	r.until(t, failedDB.id, func(s workload.Sample) bool {
		return s.Rollout.Halted == "" && s.Rollout.Templates[0].Desired == 9 && s.Rollout.Templates[0].Available == 8
	})
	r.until(t, goneDB.id, func(s workload.Sample) bool { return s.Scale.Ready == 8 && !s.Rollout.Mixed() })
	report := r.tick(t)
	for _, l := range []*lost{failed, gone} {
		if report.Commit == nil || !strings.Contains(report.Commit.Message, l.id.String()+" rollout 80 -> 0 %: the rollout failed: ProgressDeadlineExceeded") {
			t.Errorf("the failure of %s is told by %+v", l.id, report.Commit)
		}
		l.record, l.returns = "0 % failed from", "app:1"
	}
	t.Run(failed.said+", by its condition", func(t *testing.T) { r.returns(t, *failed) })
	t.Run(gone.said+", by its condition", func(t *testing.T) { r.returns(t, *gone) })
	for _, l := range []*lost{failedDB, goneDB} {
		t.Run(l.said+", and not before its deadline", func(t *testing.T) { r.returns(t, *l) })
	}
	r.quietTicks(t, 1)
	report = r.tick(t)
	for _, l := range []*lost{failedDB, goneDB} {
		if report.Commit == nil || !strings.Contains(report.Commit.Message, l.id.String()+" rollout 80 -> 0 %: the rollout failed: 8 of 10 pods of template "+l.id.Name+"-") {
			t.Errorf("the failure of %s for lack of progress is told by %+v", l.id, report.Commit)
		}
		l.record, l.returns = "0 % failed from", "app:1"
	}
	r.quietTicks(t, 2)

	for _, l := range rollouts {
		t.Run(l.said+", in the end", func(t *testing.T) { r.returns(t, l) })
	}
	t.Run("Created from git, each begins with that version, and rolls out v2 by its strategy", func(t *testing.T) { r.rebuilt(t, rollouts) })
	t.Run("Undone on its way, a StatefulSet too: v1", func(t *testing.T) { r.undone(t, goodDB) })
	t.Run("done or undone, nothing is left of it", func(t *testing.T) { r.ends(t, rollouts) })
}

// rolls brings workloads to v1, and then to their given progress towards v2. From then
// on the node accepts no more pods.
func (r *realParts) rolls(t *testing.T, rollouts []lost) {
	t.Helper()
	var before, begin, held []string
	for _, l := range rollouts {
		surge := max(1, int(l.pods))
		first, then, stay := surging(1, 0, 600, false), surging(surge, 300, 600, l.pods == 0), surging(surge, 0, 600, !l.stuck)
		if l.id.Kind == workload.StatefulSet {
			first, then, stay = partition(0), partition(10-int(l.pods)), partition(10-int(l.pods))
			if l.stuck {
				stay = partition(0)
			}
		}
		before = append(before, rolling(l.id, "app:1", first))
		begin = append(begin, rolling(l.id, "app:2", then))
		held = append(held, rolling(l.id, "app:2", stay))
	}
	r.cp.Apply(t, before...)
	for _, l := range rollouts {
		r.until(t, l.id, func(s workload.Sample) bool { return s.Scale.Ready == 10 && !s.Rollout.InFlight })
	}
	time.Sleep(time.Second) // Kubernetes recognizes a rollback by the age of the revisions, in seconds
	r.cp.Apply(t, begin...)
	for _, l := range rollouts {
		r.until(t, l.id, func(s workload.Sample) bool {
			r := s.Rollout
			return r.InFlight && len(r.Templates) == 2 && r.Templates[0].Desired == l.pods &&
				s.Scale.Ready == r.Templates[0].Desired+r.Templates[1].Desired // each has its node
		})
	}
	r.cp.Kubectl(t, "", "cordon", "node-1")
	r.cp.Apply(t, held...)
	for _, l := range rollouts {
		r.until(t, l.id, func(s workload.Sample) bool {
			if !s.Rollout.InFlight || len(s.Rollout.Templates) != 2 {
				return false
			}
			target := s.Rollout.Templates[0]
			return target.Available == l.pods && (target.Desired > l.pods) == l.stuck && (s.Rollout.Halted == "") == l.stuck && s.Rollout.Failure == ""
		})
	}
}

// until samples until want accepts a workload with a rollout and a scale.
func (r *realParts) until(t *testing.T, id workload.ID, want func(workload.Sample) bool) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		fleet, err := r.sampler.Sample(ctx, nil)
		if err != nil {
			return err
		}
		for _, s := range fleet.Samples {
			if s.ID == id && s.Rollout != nil && s.Scale != nil && want(s) {
				return nil
			}
		}
		return fmt.Errorf("%s is not as wanted: %+v, unread %q", id, fleet.Samples, fleet.Unread)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// tree returns the checkpoint tree on the branch.
func (r *realParts) tree(t *testing.T) checkpoint.Tree {
	t.Helper()
	files := map[string][]byte{}
	for path := range r.origin.Tree(t, "main") {
		files[path] = []byte(r.origin.Show(t, "main", path))
	}
	tree, err := checkpoint.ParseTree("prod-eu", files)
	must(t, err)
	return tree
}
