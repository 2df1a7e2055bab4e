//go:build gitops

package owners

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/backoff"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/restore/plan"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/workload"
)

var times = flag.Int("times", 1, "the number of new clusters for each tool in TestFoldersFirst")

// In a new cluster, the folders come first and then a tool: each workload of 400 pods in 20
// namespaces is created at its level and has its mark, also if its namespace is deleted and
// created again. make bench-first plays it ten times.
func TestFoldersFirst(t *testing.T) {
	files := fleet(t)
	for _, c := range []struct {
		name, tool, home string
		play             func(*testing.T, *rebuild)
	}{
		{"flux", "Flux", "flux-system", func(t *testing.T, r *rebuild) {
			origin := gitserver.NewOrigin(t, t.TempDir(), files)
			f := flux.Start(t, r.ControlPlane, map[string]*gitserver.Origin{repository: origin})
			r.Apply(t, fmt.Sprintf(gitRepository, repository), kustomization("workloads", "workloads", ""))
			r.created(t, "the folders first", false)
			f.Applied(t, "workloads", origin.Tip("main"))
			r.recreated(t, func() { f.Reconcile(t, "workloads") })
		}},
		{"argocd", "Argo CD", "argocd", func(t *testing.T, r *rebuild) {
			argocd.Start(t, r.ControlPlane)
			one := map[string]string{}
			rest := map[string]string{}
			for i, team := range teams {
				half := []map[string]string{one, rest}[min(i, 1)]
				half["workloads/"+team+".yaml"] = files["workloads/"+team+".yaml"]
			}
			apply := func(name string, files map[string]string) {
				origin := gitserver.NewOrigin(t, t.TempDir(), files)
				r.Apply(t, application(name, "workloads", origin, "", sync("prune: true, selfHeal: true")))
			}
			apply("one", one)
			apply("rest", rest)
			r.created(t, "the folders first", false)
			r.Kubectl(t, "", "delete", "applications.argoproj.io", "-n", "argocd", "one")
			r.recreated(t, func() { apply("one", one) })
		}},
		{"kubectl", "kubectl", "default", func(t *testing.T, r *rebuild) {
			r.actsInAll(t)
			r.bootstrap(t, files, "workloads")
			r.created(t, "the folders first", false)
			r.recreated(t, func() { r.bootstrap(t, files, "workloads") })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for n := range *times {
				t.Run(fmt.Sprint(n+1), func(t *testing.T) {
					r := &rebuild{world: start(t), table: &table{}, tool: c.tool, home: c.home}
					r.Apply(t, person)
					r.first(t, files)
					c.play(t, r)
				})
			}
		})
	}
}

// Without an order, the marks show which workloads came before their levels, and a restore
// raises exactly these.
func TestARestoreRaisesWhatCameTooEarly(t *testing.T) {
	files := fleet(t)
	r := &rebuild{world: start(t), table: &table{}, tool: "kubectl", home: "default"}
	r.Apply(t, person)
	r.bootstrap(t, files, "workloads/"+teams[0]+".yaml", "workloads/"+teams[1]+".yaml")
	r.first(t, files)
	r.actsInAll(t)
	r.bootstrap(t, files, "workloads")
	r.created(t, "two namespaces before the folders", false)
	early := 0
	for _, s := range r.births(t) {
		if s.mark == "" {
			early++
		}
	}
	if early != 2*each {
		t.Errorf("%d workloads have no mark, want %d", early, 2*each)
	}
	tree, _ := siteTree("prod", 0)
	report := r.restore(t, tree)
	if raised := len(report.Raised); raised != 2*each {
		t.Errorf("the restore raised %d workloads, want %d", raised, 2*each)
	}
	for _, team := range teams {
		for i := range each {
			if got := r.look(t, team, app(i)).count; got != int64(least+i) {
				t.Errorf("%s/%s has %d replicas, want %d", team, app(i), got, least+i)
			}
		}
	}
}

// Below Kubernetes 1.36, and on any version, a restore with --wait starts before the tool. It
// raises each workload that the tool creates.
func TestARestoreThatWaitsRaisesWhatComesLater(t *testing.T) {
	files := fleet(t)
	tree, _ := siteTree("prod", 0)
	for name, apply := range map[string]func(*testing.T, *rebuild){
		"flux": func(t *testing.T, r *rebuild) {
			origin := gitserver.NewOrigin(t, t.TempDir(), files)
			flux.Start(t, r.ControlPlane, map[string]*gitserver.Origin{repository: origin})
			r.Apply(t, fmt.Sprintf(gitRepository, repository), kustomization("workloads", "workloads", ""))
		},
		"argocd": func(t *testing.T, r *rebuild) {
			argocd.Start(t, r.ControlPlane)
			origin := gitserver.NewOrigin(t, t.TempDir(), files)
			r.Apply(t, application("workloads", "workloads", origin, "", sync("prune: true, selfHeal: true")))
		},
		"kubectl": func(t *testing.T, r *rebuild) { r.bootstrap(t, files, "workloads") },
	} {
		t.Run(name, func(t *testing.T) {
			r := &rebuild{world: &world{}, table: &table{}}
			r.ControlPlane = controlplane.Start(t, controlplane.Options{})
			r.dyn = client(r.Config())
			r.Nodes(t, 2)
			r.Apply(t, person)
			type outcome struct {
				report restore.Report
				err    error
			}
			restored := make(chan outcome, 1)
			go func() {
				report, err := r.waits(t.Context(), tree)
				restored <- outcome{report, err}
			}()
			apply(t, r)
			eventually(t, "all workloads are at their level", func(ctx context.Context) error {
				for _, team := range teams {
					for i := range each {
						o, err := r.dyn.Resource(deployments).Namespace(team).Get(ctx, app(i), metav1.GetOptions{})
						if err != nil {
							return err
						}
						if got := replicas(o); got < int64(least+i) {
							return fmt.Errorf("%s/%s has %d replicas", team, app(i), got)
						}
					}
				}
				return nil
			})
			got := <-restored
			if got.err != nil || len(got.report.Raised) != each*len(teams) {
				t.Errorf("the restore raised %d workloads: %v", len(got.report.Raised), got.err)
			}
		})
	}
}

// waits runs a restore with --wait.
func (r *rebuild) waits(ctx context.Context, tree checkpoint.Tree) (restore.Report, error) {
	client, err := cluster.New(r.Config())
	if err != nil {
		return restore.Report{}, err
	}
	run := restoreOf(client)
	run.Pace = restore.Pace()
	run.WaitFor = restore.WaitFor
	// The probe is never created.
	for namespace := range tree.Records {
		delete(tree.Records[namespace].Entries, workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: probe})
	}
	return run.Run(ctx, tree)
}

// restoreOf returns a restore of the site onto a cluster.
func restoreOf(c *cluster.Client) *restore.Restore {
	return &restore.Restore{
		Site: "prod", Cluster: c, Clock: time.Now,
		Wait: func(ctx context.Context, d time.Duration) { _ = backoff.Sleep(ctx, d) },
		Hold: restore.Hold, Every: time.Second, Recheck: time.Second,
	}
}

// restore runs a restore in a control plane without pods.
func (r *rebuild) restore(t *testing.T, tree checkpoint.Tree) restore.Report {
	t.Helper()
	client, err := cluster.New(r.Config())
	must(t, err)
	run := restoreOf(client)
	run.Pace = plan.Pace{PerMinute: restore.Pace().PerMinute, Unready: 1 << 20, Patience: time.Second}
	report, err := run.Run(t.Context(), tree)
	must(t, err)
	return report
}
