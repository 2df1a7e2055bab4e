//go:build gitops

package owners

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

var commits = flag.Int("commits", 12, "the number of commits for each tool in TestCommitsScaleNothing")

// The autoscalers that move in a live cluster, and their user.
const (
	moving = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: %[2]s}
  minReplicas: 2
  maxReplicas: 60
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 70}}}]
  behavior: {scaleUp: {policies: [{type: Percent, value: 900, periodSeconds: 1}]}, scaleDown: {stabilizationWindowSeconds: 0}}
`
	scaler = "system:serviceaccount:kube-system:horizontal-pod-autoscaler"
)

// scaledWrites is the audit policy of a live cluster: the answers to all writes of Deployments,
// also through scale.
const scaledWrites = `apiVersion: audit.k8s.io/v1
kind: Policy
omitManagedFields: true
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources: [{group: apps, resources: [deployments, deployments/scale]}]
- level: Metadata
  verbs: [create, update, patch]
  resources: [{group: "", resources: [configmaps]}]
- level: None
`

// running are the workloads of a live cluster, with levels.
var running = []string{"web", "api"}

// liveFiles returns a repository with the levels and manifests of the running workloads.
func liveFiles(t *testing.T, level int) map[string]string {
	data := map[string]string{}
	all := []string{namespace("shop")}
	for _, name := range running {
		data["deployment."+name] = fmt.Sprint(level)
		all = append(all, deployment("shop", name, "", "one"), fmt.Sprintf(moving, "shop", name))
	}
	return map[string]string{
		admission.Path:             policyFile(t),
		prod + "/shop.levels.yaml": levels("shop", data),
		"workloads/shop.yaml":      documents(all...),
	}
}

// A live is a cluster with pods and working autoscalers.
type live struct {
	*rebuild
	load atomic.Value // the CPU use of each pod
}

// While autoscalers move, levels are committed and each tool applies them, with the workloads.
// The audit log shows that only the autoscalers change the replicas.
func TestCommitsScaleNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		// start starts a tool for the folders, and returns a function that waits until it has
		// applied a commit of both.
		start func(*testing.T, *live, *gitserver.Origin) func(commit string)
	}{
		{"flux", func(t *testing.T, l *live, origin *gitserver.Origin) func(string) {
			f := flux.Start(t, l.ControlPlane, map[string]*gitserver.Origin{repository: origin})
			l.Apply(t, fmt.Sprintf(gitRepository, repository), kustomization("site", prod, ""), kustomization("workloads", "workloads", ""))
			return func(commit string) {
				for _, name := range []string{"site", "workloads"} {
					f.Applied(t, name, commit)
				}
			}
		}},
		{"argocd", func(t *testing.T, l *live, origin *gitserver.Origin) func(string) {
			a := argocd.Start(t, l.ControlPlane)
			auto := sync("prune: true, selfHeal: true")
			l.Apply(t, application("site", prod, origin, "", auto), application("workloads", "workloads", origin, "", auto))
			return func(commit string) {
				for _, name := range []string{"site", "workloads"} {
					a.Applied(t, name, commit)
				}
			}
		}},
		{"kubectl", func(t *testing.T, l *live, origin *gitserver.Origin) func(string) {
			return func(commit string) {
				files := map[string]string{}
				for _, path := range []string{prod + "/shop.levels.yaml", "workloads/shop.yaml"} {
					files[path] = origin.Show(t, commit, path)
				}
				l.bootstrap(t, files, prod, "workloads")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cp := controlplane.Start(t, controlplane.Options{Audit: scaledWrites})
			l := &live{rebuild: &rebuild{world: &world{ControlPlane: cp, dyn: client(cp.Config())}, table: &table{}}}
			l.load.Store("7m")
			l.Nodes(t, 2)
			l.Metrics(t, func(string) string { return l.load.Load().(string) })
			l.Apply(t, person)
			origin := gitserver.NewOrigin(t, t.TempDir(), liveFiles(t, 10))
			l.bootstrap(t, liveFiles(t, 10), "checkpoints/admission", prod)
			l.Apply(t, namespace("shop"))
			l.acts(t, "shop", running[0], 10)
			applied := c.start(t, l, origin)
			applied(origin.Tip("main"))
			for n := range *commits {
				before, up := l.sum(t), n%2 == 0
				l.load.Store(map[bool]string{true: "14m", false: "2m"}[up])
				file := map[string]string{prod + "/shop.levels.yaml": liveFiles(t, 20+n%30)[prod+"/shop.levels.yaml"]}
				applied(origin.Push(t, "main", file, "another level"))
				eventually(t, "the autoscalers move", func(context.Context) error {
					if now := l.sum(t); now == before || now > before != up {
						return fmt.Errorf("from %d to %d pods", before, now)
					}
					return nil
				})
			}
			scales := l.scales(t)
			moved := scales[scaler]
			delete(scales, scaler)
			if len(scales) > 0 || moved < *commits {
				t.Errorf("changes of replicas by user, other than %d of the autoscalers: %v", moved, scales)
			}
			fmt.Printf("figure commits_to_a_live_cluster_%s %d\nfigure autoscaler_scale_events_%[1]s %[3]d\nfigure other_scale_events_%[1]s %[4]d\n", c.name, *commits, moved, len(scales))
		})
	}
}

// sum returns the desired replicas of the running workloads.
func (l *live) sum(t *testing.T) (all int64) {
	t.Helper()
	for _, name := range running {
		all += l.look(t, "shop", name).count
	}
	return all
}

// scales returns how often each user changed the replicas of a workload after its creation.
func (l *live) scales(t *testing.T) map[string]int {
	t.Helper()
	last := map[string]int64{}
	by := map[string]int{}
	for _, q := range l.Audit(t) {
		if q.Object.Resource != deployments.Resource || q.Object.Namespace != "shop" || q.Code >= 300 || strings.Contains(q.URI, "dryRun=") {
			continue
		}
		var answer struct {
			Metadata struct{ Name, ResourceVersion string }
			Spec     struct{ Replicas int64 }
		}
		must(t, json.Unmarshal(q.Answers, &answer))
		_, err := strconv.Atoi(answer.Metadata.ResourceVersion)
		must(t, err)
		before, seen := last[q.Object.Name]
		if seen && before != answer.Spec.Replicas {
			by[q.User]++
		}
		last[q.Object.Name] = answer.Spec.Replicas
	}
	return by
}
