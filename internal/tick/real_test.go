//go:build cluster || aws || gitops

package tick_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/policy"
	"github.com/gitlatch/gitlatch/internal/tick/notes"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// rounded maps the replicas of the workloads to their levels in the series 1-2-5. No
// autoscaler here has a minimum below 2.
var rounded = map[int32]int32{2: 2, 3: 5, 4: 5, 7: 10, 12: 20, 18: 20, 45: 50, 60: 100}

// dark is a namespace with pods without metrics, so its autoscalers are blind.
const dark = "dark"

// TestRealParts runs the tick on real parts only: a control plane with 50 Deployments
// and 2 StatefulSets, the rights of the shipped ClusterRole, a git server over smart
// HTTP with credentials, and a state file. Only the clock is the test's. The workloads
// are scaled through /scale. Their autoscalers read a CPU use equal to the target, so
// they judge and keep the present replicas. The subtests are one story and run in
// order.
func TestRealParts(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	t.Run("a first look commits nothing", r.first)
	t.Run("the second commits the fleet at once", r.seeds)
	t.Run("a quiet tick is one git request and a few LISTs", r.quiet)
	t.Run("a raise and a lowering are one commit", r.raisesAndLowers)
	t.Run("a rival at another entry of the record", r.rivalBeside)
	t.Run("a rival at the same entry", r.rivalAtIt)
	t.Run("only checkpoints were touched", r.touched)
}

func (r *realParts) first(t *testing.T) {
	r.settled(t)
	for _, d := range r.quietTicks(t, 1).Decisions {
		if d.Verdict != policy.Pending {
			t.Errorf("%s: %s %s", d.ID, d.Verdict, d.Text)
		}
	}
}

func (r *realParts) seeds(t *testing.T) {
	before := len(r.origin.Log(t, "main"))
	levels := map[workload.ID]int32{}
	for id, n := range r.want {
		levels[id] = rounded[n]
	}
	report := r.commits(t, levels)
	if log := r.origin.Log(t, "main"); len(log) != before+1 || !strings.HasSuffix(log[0], ", +51 more") {
		t.Errorf("log %q", log)
	}
	if pushes := count(r.server.Requests(), "git-receive-pack"); pushes != 1 {
		t.Errorf("%d pushes", pushes)
	}
	for path, want := range map[string]string{
		"checkpoints/prod-eu/site.yaml": fmt.Sprintf(`# The site of the checkpoint files in this directory. gitlatch updates this file.
apiVersion: v1
kind: ConfigMap
metadata:
  name: gitlatch.site
  namespace: gitlatch-levels
data:
  cluster: %q
  name: "prod-eu"
  version: "1"
`, r.cp.Kubectl(t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")),
		"checkpoints/prod-eu/dark.levels.yaml": `# Replica levels of the workloads in namespace "dark", rounded, for a rebuild from git.
# gitlatch updates this file. If you edit a level, gitlatch keeps your value for 24 hours.
# gitlatch restores all other text.
# To opt a workload out, delete its lines. If you delete many entries of workloads that are
# in the cluster, gitlatch assumes a mistake: it alerts, and after 24 hours it treats the
# workloads as new ones. To opt them out, delete their entries a second time.
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata:
  name: "gitlatch-levels.dark"
spec:
  policyName: gitlatch-levels
  paramRef:
    namespace: gitlatch-levels
    name: "dark"
    parameterNotFoundAction: Allow
  matchResources:
    namespaceSelector:
      matchLabels:
        kubernetes.io/metadata.name: "dark"
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: "dark"
  namespace: gitlatch-levels
data:
  deployment.app-0: "2"
  deployment.app-0_max: "200"
  deployment.app-0_min: "2"
  deployment.app-1: "5"
  deployment.app-1_max: "200"
  deployment.app-1_min: "2"
  deployment.app-2: "10"
  deployment.app-2_max: "200"
  deployment.app-2_min: "2"
  deployment.app-3: "20"
  deployment.app-3_max: "200"
  deployment.app-3_min: "2"
  deployment.app-4: "2"
  deployment.app-4_max: "200"
  deployment.app-4_min: "2"
`,
	} {
		if got := r.origin.Show(t, "main", path); got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", path, got, want)
		}
	}
	body := r.origin.Git(t, "log", "-1", "--format=%an %cI%n%b", "main")
	for _, want := range []string{
		"gitlatch " + report.At.Format("2006-01-02T15:04:05"),
		"\nsearch/statefulset/index new -> 20: 2 samples in a row rounded to level 20 or higher (last sample: 12 pods)\n",
		"\nGitlatch-Site: prod-eu\nGitlatch-Intent: ",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the commit does not say %q:\n%s", want, body)
		}
	}
}

func (r *realParts) quiet(t *testing.T) {
	warm := r.parts.Repository
	defer func() { r.parts.Repository = warm }()
	r.parts.Repository = r.repository(t)
	report := r.quietTicks(t, 1)
	for _, d := range report.Decisions {
		if d.Verdict != policy.Quiet {
			t.Errorf("%s: %s %s: %s", d.ID, d.Verdict, d.Reason, d.Text)
		}
	}
	requests := r.server.Requests()
	if len(requests) != 1 || requests[0].Service() != "git-upload-pack" || requests[0].Status != http.StatusOK {
		t.Errorf("git requests %+v", requests)
	}
	want := []string{
		"GET /api/v1/namespaces/kube-system",
		"GET /apis/apps/v1/daemonsets",
		"GET /apis/apps/v1/deployments",
		"GET /apis/apps/v1/statefulsets",
		"GET /apis/argoproj.io/v1alpha1/rollouts",
		"GET /apis/autoscaling/v2/horizontalpodautoscalers",
		"GET /apis/flagger.app/v1beta1/canaries",
		"GET /apis/keda.sh/v1alpha1/scaledobjects",
	}
	if got := r.calls.sorted(); !slices.Equal(got, want) {
		t.Errorf("API requests %q", got)
	}
}

// Two lowerings are due in the same tick as two raises. A third lowering is not made,
// because its autoscaler is blind.
func (r *realParts) raisesAndLowers(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-3"): 3, index: 4, id("dark/app-3"): 3})
	r.quietTicks(t, 11)
	r.scale(t, map[workload.ID]int32{id("pay/app-3"): 45, ledger: 7})
	r.quietTicks(t, 1)
	before := len(r.origin.Log(t, "main"))
	report := r.commits(t, map[workload.ID]int32{
		id("shop/app-3"): 5, index: 5, id("pay/app-3"): 50, ledger: 10,
	})
	if log := r.origin.Log(t, "main"); len(log) != before+1 {
		t.Errorf("log %q", log[:len(log)-before])
	}
	for _, d := range report.Decisions {
		if d.ID == id("dark/app-3") && (d.Verdict != policy.Frozen || d.Reason != policy.ReasonBlind) {
			t.Errorf("%s: %s %s: %s", d.ID, d.Verdict, d.Reason, d.Text)
		}
	}
	r.quietTicks(t, 1)
}

// If a rival pushes between read and push, the rival's commit is below gitlatch's in the
// log, and the checkpoint file has both changes.
func (r *realParts) rivalBeside(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-4"): 12})
	r.quietTicks(t, 1)
	rivals := r.rival(t, "shop", `app-5: "5"`, `app-5: "100"`)
	r.declares[id("shop/app-5")] = 100
	report := r.commits(t, map[workload.ID]int32{id("shop/app-4"): 20})
	if parent := r.origin.Git(t, "rev-parse", report.Commit.ID+"^"); parent != *rivals {
		t.Errorf("the commit stands on %s, want the rival's %s", parent, *rivals)
	}
	if pushes := count(r.server.Requests(), "git-receive-pack"); pushes != 2 {
		t.Errorf("%d pushes, want one lost and one won", pushes)
	}
	if after := r.quietTicks(t, 1); !noticed(after, notes.Adopted, "shop/deployment/app-5") {
		t.Errorf("notices %+v", after.Notices)
	}
}

// The entry that the rival edited stays unchanged, even though its level would change.
// The other level change is made.
func (r *realParts) rivalAtIt(t *testing.T) {
	r.scale(t, map[workload.ID]int32{id("shop/app-8"): 60, id("pay/app-0"): 18})
	r.quietTicks(t, 1)
	r.rival(t, "shop", `app-8: "2"`, `app-8: "7"`)
	r.declares[id("shop/app-8")] = 7

	report := r.tick(t)
	r.declares[id("pay/app-0")] = 20
	if c := report.Commit; c == nil || len(c.Changes) != 1 || c.Changes[0].ID != id("pay/app-0") || c.ID != r.origin.Tip("main") {
		t.Fatalf("commit %+v", c)
	}
	if !noticed(report, notes.Moved, "shop/deployment/app-8") {
		t.Errorf("notices %+v", report.Notices)
	}
	if got := r.origin.Show(t, "main", checkpoint.RecordPath("prod-eu", "shop")); !strings.Contains(got, `app-8: "7"`) {
		t.Errorf("the record is now\n%s", got)
	}

	// The next tick adopts the rival's level, which needs no commit.
	report = r.quietTicks(t, 1)
	if !noticed(report, notes.Adopted, "shop/deployment/app-8") {
		t.Errorf("notices %+v", report.Notices)
	}
	r.declared(t)
	r.quietTicks(t, 2)
}

func (r *realParts) touched(t *testing.T) {
	for _, path := range strings.Fields(r.origin.Git(t, "log", "--author=gitlatch", "--format=", "--name-only", "main")) {
		if !strings.HasPrefix(path, "checkpoints/prod-eu/") {
			t.Errorf("touched %s", path)
		}
	}
	tree := r.origin.Tree(t, "main")
	for path, blob := range r.began {
		if tree[path] != blob {
			t.Errorf("%s was %s and is %s", path, blob, tree[path])
		}
	}
	r.origin.Check(t)
}
