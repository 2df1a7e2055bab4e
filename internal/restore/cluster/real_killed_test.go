//go:build cluster || keda

package cluster_test

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/restore"
	"github.com/gitlatch/gitlatch/internal/restore/cluster"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// A mortal is the network of a process that dies after its first write. With lost, the
// answer to this write is lost.
type mortal struct {
	next http.RoundTripper
	lost bool
	dead bool
}

var errDead = errors.New("the process is dead")

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if m.dead {
		return nil, errDead
	}
	answer, err := m.next.RoundTrip(r)
	if r.Method == http.MethodGet || err != nil {
		return answer, err
	}
	m.dead = true
	if m.lost {
		return nil, errors.Join(errDead, answer.Body.Close())
	}
	return answer, nil
}

// restarted repeats a run until one makes no write. It returns the number of the runs
// that died.
func (r *realCluster) restarted(t *testing.T, lost bool, run func(*restore.Restore) (restore.Report, error)) int {
	t.Helper()
	for deaths := range 40 {
		m := &mortal{lost: lost}
		config := r.cp.As("gitlatch", group)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			m.next = next
			return m
		})
		client, err := cluster.New(config)
		if err != nil {
			t.Fatal(err)
		}
		one := r.restore()
		one.Cluster = client
		report, err := run(one)
		if m.dead {
			continue
		}
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("lost %t, after %d deaths: %v", lost, deaths, err)
		}
		return deaths
	}
	t.Fatalf("lost %t: it never ends", lost)
	return 0
}

// killed kills a restore and a release after each of their writes. An HPA, a
// ScaledObject, a Rollout with an HPA and a workload without an autoscaler end the same
// as without kills.
func (r *realCluster) killed(t *testing.T) {
	steps := strings.Replace(controlplane.Autoscaler("Rollout", "shop", "k-steps"), "apps/v1", "argoproj.io/v1alpha1", 1)
	r.cp.Apply(t, controlplane.Workload("Deployment", "shop", "k-web"), controlplane.Autoscaler("Deployment", "shop", "k-web"),
		controlplane.Workload("Deployment", "shop", "k-mail"), controlplane.Workload("Deployment", "shop", "k-none"), steps,
		"apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: k-mail, namespace: shop, annotations: {team: mail}}\nspec: {scaleTargetRef: {name: k-mail}}\n",
		"apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: {name: k-steps, namespace: shop}\nspec: {replicas: 2}\n")
	r.cp.Kubectl(t, "", "patch", "-n", "shop", "rollout.argoproj.io", "k-steps", "--subresource=status", "--type=merge", "-p", fmt.Sprintf(`{"status": {"readyReplicas": %d}}`, level))
	before := r.autoscalers(t)
	declared := tree()
	var some []workload.ID
	for _, text := range []string{"deployment/k-web", "deployment/k-mail", "deployment/k-none", "rollout/k-steps"} {
		some = append(some, id(text))
		declared.Records["shop"].Entries[id(text)] = checkpoint.Entry{Replicas: level}
	}
	for _, lost := range []bool{false, true} {
		r.cp.Kubectl(t, "", "scale", "-n", "shop", "deployment/k-mail", "deployment/k-none", "--replicas=2")
		r.cp.Kubectl(t, "", "patch", "-n", "shop", "rollout.argoproj.io", "k-steps", "--type=merge", "-p", `{"spec": {"replicas": 2}}`)
		r.cp.Kubectl(t, "", "wait", "-n", "shop", "--for=jsonpath={.spec.replicas}="+fmt.Sprint(idle), "deployment/k-web", "--timeout=280s")
		deaths := r.restarted(t, lost, func(one *restore.Restore) (restore.Report, error) {
			one.Options.Workloads = some
			return one.Run(t.Context(), declared)
		})
		if deaths != 7 { // 3 brakes and 4 raises
			t.Errorf("lost %t: a restore died %d times", lost, deaths)
		}
		time.Sleep(5 * time.Second) // each autoscaler runs once a second
		live, err := r.client.Look(t.Context())
		for _, one := range some {
			if live[one].Replicas != level || err != nil {
				t.Errorf("lost %t: %s is at %d, %v", lost, one, live[one].Replicas, err)
			}
		}
		deaths = r.restarted(t, lost, func(one *restore.Restore) (restore.Report, error) { return one.Release(t.Context(), false) })
		if now := r.autoscalers(t); deaths != 3 || !reflect.DeepEqual(now, before) {
			t.Errorf("lost %t: a release died %d times, and left\n%v\nwas\n%v", lost, deaths, now, before)
		}
	}
}
