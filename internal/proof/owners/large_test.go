//go:build gitops

package owners

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// largeFiles returns a site with one namespace of 5,000 workloads with a level, a minimum and a
// maximum.
func largeFiles(t *testing.T) map[string]string {
	t.Helper()
	var changes []checkpoint.Change
	for i := range 5000 {
		id := workload.ID{Namespace: teams[0], Kind: workload.Deployment, Name: fmt.Sprintf("workload-%04d", i)}
		changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: 20, Min: 2, Max: 200}})
	}
	merged, skipped := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: "prod"}, changes)
	if len(skipped) > 0 {
		t.Fatalf("skipped %d workloads", len(skipped))
	}
	files := map[string]string{admission.Path: policyFile(t)}
	for path, data := range merged {
		files[path] = string(data)
	}
	return files
}

// Each tool applies the checkpoint file of a namespace with 5,000 workloads, and a change of
// one level in it. A CREATE in the namespace is compared with one in a namespace without a
// binding: the figure is the ratio of the medians.
func TestANamespaceOf5000Workloads(t *testing.T) {
	files := largeFiles(t)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *rebuild, *gitserver.Origin) (applied func(commit string))
	}{
		{"flux", func(t *testing.T, r *rebuild, origin *gitserver.Origin) func(string) {
			f := flux.Start(t, r.ControlPlane, map[string]*gitserver.Origin{repository: origin})
			r.Apply(t, fmt.Sprintf(gitRepository, repository), kustomization("site", prod, ""))
			return func(commit string) { f.Applied(t, "site", commit) }
		}},
		{"argocd", func(t *testing.T, r *rebuild, origin *gitserver.Origin) func(string) {
			a := argocd.Start(t, r.ControlPlane)
			r.Apply(t, application("site", prod, origin, "", sync("prune: true, selfHeal: true", "ServerSideApply=true")))
			return func(commit string) { a.Applied(t, "site", commit) }
		}},
		{"kubectl", func(t *testing.T, r *rebuild, origin *gitserver.Origin) func(string) {
			return func(commit string) {
				path := prod + "/" + teams[0] + ".levels.yaml"
				r.bootstrap(t, map[string]string{path: origin.Show(t, commit, path)}, prod)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &rebuild{world: start(t), table: &table{}}
			r.Apply(t, person)
			r.bootstrap(t, files, "checkpoints/admission")
			origin := gitserver.NewOrigin(t, t.TempDir(), files)
			applied := c.run(t, r, origin)
			applied(origin.Tip("main"))
			r.Apply(t, namespace(teams[0]), namespace("unbound"))
			r.acts(t, teams[0], "workload-4999", 20)
			path := prod + "/" + teams[0] + ".levels.yaml"
			text := files[path]
			changed := replaceOnce(t, text, `workload-4999: "20"`, `workload-4999: "30"`)
			applied(origin.Push(t, "main", map[string]string{path: changed}, "another level"))
			r.acts(t, teams[0], "workload-4999", 30)
			with, without := r.median(t, teams[0]), r.median(t, "unbound")
			fmt.Printf("figure create_with_5000_levels_over_create_without_%s %.2f\n", c.name, with.Seconds()/without.Seconds())
		})
	}
}

// median returns the median time of 200 CREATEs in a namespace.
func (r *rebuild) median(t *testing.T, team string) time.Duration {
	t.Helper()
	var all []time.Duration
	for i := range 200 {
		o := object(t, deployment(team, fmt.Sprintf("workload-%04d", i), "", "one"))
		from := time.Now()
		_, err := r.dyn.Resource(deployments).Namespace(team).Create(context.Background(), o, metav1.CreateOptions{})
		must(t, err)
		all = append(all, time.Since(from))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
