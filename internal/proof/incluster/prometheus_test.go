//go:build prometheus

package incluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/program"
)

// observedDeadline bounds a scrape and an evaluation of the rules, which take six seconds
// of an idle machine.
const observedDeadline = 3 * time.Minute

// The build of Prometheus takes 10 minutes, so make prometheus runs this test at night. The Prometheus, the Pushgateway, the rule and the CronJobs' status are real.
// kube-state-metrics is not: kubeState has its place.
func TestPrometheusFiresWhenTicksStop(t *testing.T) {
	t.Parallel()
	bin := program.Folder(t, "a real Prometheus", filepath.Join("scripts", "prometheus", "build.sh"))
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Nodes(t, 1)
	cp.Define(t, controlplane.Definition{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"},
		controlplane.Definition{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"})
	web := controlplane.Workload("Deployment", "shop", "web")
	cp.Apply(t, shop, web, controlplane.Autoscaler("Deployment", "shop", "web"), controlplane.Workload("StatefulSet", "shop", "db"))
	cp.Kubectl(t, "", "wait", "-n", "shop", "deployment/web", "--for=jsonpath={.status.readyReplicas}=2", "--timeout=2m")
	cp.Established(t)

	server := gitserver.Start(t)
	server.RequireAuth("x-access-token", "s3cret")
	server.Create(t, "fleet", map[string]string{
		"gitlatch.yaml":           "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n",
		"apps/kustomization.yaml": "resources: [web.yaml]\n",
		"apps/web.yaml":           web,
	})
	example := recipe(t, map[string][2]string{
		"kustomization.yaml": components("checks", "prometheus"),
		"config.yaml":        {"https://git.example.com/platform/fleet.git", server.URL("fleet")},
	})
	cp.Kubectl(t, "", "apply", "-k", example)
	cp.Kubectl(t, "", "create", "secret", "generic", "gitlatch", "-n", "gitlatch", "--from-literal=token=s3cret")

	gateway := controlplane.Ports(t, 1)[0]
	cp.Run(t, "http://"+gateway+"/-/ready", nil, filepath.Join(bin, "pushgateway"), "--web.listen-address="+gateway)
	own := []string{"http://gitlatch-pushgateway:9091", "http://" + gateway}
	pod := start(t, cp, "gitlatch", own...)
	pod.now = time.Now().Add(-30 * time.Minute)
	for range 3 {
		if status, log := pod.run(); status != 0 {
			t.Fatalf("a tick ended with %d:\n%s", status, log)
		}
	}
	pod.succeeds(t, cp)
	p := observe(t, cp, bin, gateway)

	// The last tick was 20 minutes ago. The CronJob has a successful Job since then.
	p.until(t, "GitlatchSilent", "firing")
	p.holds(t, `time() - kube_cronjob_status_last_successful_time{cronjob="gitlatch"} < 900`)
	p.until(t, "GitlatchTicksStopped", "inactive")
	pod.now = time.Now()
	if status, log := pod.run(); status != 0 {
		t.Fatalf("a tick ended with %d:\n%s", status, log)
	}
	p.until(t, "GitlatchSilent", "inactive")
	p.holds(t, `gitlatch_commits_total{job="gitlatch",site="prod-eu"} == 1`) // of the second of four ticks

	drill := start(t, cp, "gitlatch-drill", own...)
	drill.now = time.Now()
	if status, log := drill.run(); status == 2 || !strings.HasPrefix(log, "<!doctype html>") {
		t.Errorf("drill ended with %d:\n%s", status, log)
	}
	p.holds(t, `gitlatch_drill_coverage_ratio{job="gitlatch-drill",site="prod-eu"}`)
	p.draws(t, "../../../infra/grafana/dashboard.json")

	// The Jobs stop, and their last success becomes 20 minutes old.
	cp.Kubectl(t, "", "patch", "-n", "gitlatch", "cronjob", "gitlatch", "--type=merge", "-p", `{"spec": {"suspend": true}}`)
	cp.Kubectl(t, "", "delete", "jobs", "--all", "-n", "gitlatch")
	cp.Kubectl(t, "", "patch", "-n", "gitlatch", "cronjob", "gitlatch", "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status": {"lastSuccessfulTime": %q}}`, time.Now().Add(-20*time.Minute).UTC().Format(time.RFC3339)))
	p.until(t, "GitlatchTicksStopped", "firing")
	p.until(t, "GitlatchTicksUnknown", "inactive")
	cp.Kubectl(t, "", "delete", "-n", "gitlatch", "cronjob", "gitlatch")
	p.until(t, "GitlatchTicksUnknown", "pending") // it waits for 15 minutes
}

// kubeState serves the metrics that the rule and the dashboard use of kube-state-metrics,
// under the names and labels in its documentation (version 2.17), from the objects in the
// API server.
func kubeState(t *testing.T, cp *controlplane.ControlPlane) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var jobs batchv1.CronJobList
		var deployments appsv1.DeploymentList
		var sets appsv1.StatefulSetList
		if err := errors.Join(cp.Read(r.Context(), "/apis/batch/v1/cronjobs", &jobs),
			cp.Read(r.Context(), "/apis/apps/v1/deployments", &deployments), cp.Read(r.Context(), "/apis/apps/v1/statefulsets", &sets)); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		for _, j := range jobs.Items {
			fmt.Fprintf(w, "kube_cronjob_created{namespace=%q,cronjob=%q} %d\n", j.Namespace, j.Name, j.CreationTimestamp.Unix())
			if last := j.Status.LastSuccessfulTime; last != nil {
				fmt.Fprintf(w, "kube_cronjob_status_last_successful_time{namespace=%q,cronjob=%q} %d\n", j.Namespace, j.Name, last.Unix())
			}
		}
		for _, d := range deployments.Items {
			fmt.Fprintf(w, "kube_deployment_spec_replicas{namespace=%q,deployment=%q} %d\n", d.Namespace, d.Name, *d.Spec.Replicas)
		}
		for _, s := range sets.Items {
			fmt.Fprintf(w, "kube_statefulset_replicas{namespace=%q,statefulset=%q} %d\n", s.Namespace, s.Name, *s.Spec.Replicas)
		}
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// A prometheus is the URL of a Prometheus.
type prometheus string

// observe starts a Prometheus with the rule in the cluster. It reads the Pushgateway as
// the ServiceMonitor in the cluster does.
func observe(t *testing.T, cp *controlplane.ControlPlane, bin, gateway string) prometheus {
	t.Helper()
	var rule struct {
		Spec json.RawMessage `json:"spec"`
	}
	var monitor struct {
		Spec struct {
			Endpoints []struct {
				HonorLabels bool `json:"honorLabels"`
			} `json:"endpoints"`
		} `json:"spec"`
	}
	const group = "/apis/monitoring.coreos.com/v1/namespaces/gitlatch/"
	if err := errors.Join(cp.Read(t.Context(), group+"prometheusrules/gitlatch", &rule), cp.Read(t.Context(), group+"servicemonitors/gitlatch-pushgateway", &monitor)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "rules.yaml"), string(rule.Spec))
	write(t, filepath.Join(dir, "prometheus.yaml"), fmt.Sprintf(`
global: {scrape_interval: 5s, evaluation_interval: 1s} # a scrape may take the whole interval
rule_files: [rules.yaml]
scrape_configs:
- job_name: gitlatch-pushgateway
  honor_labels: %v
  static_configs: [{targets: [%q]}]
- job_name: kube-state-metrics
  honor_labels: true
  static_configs: [{targets: [%q]}]
`, monitor.Spec.Endpoints[0].HonorLabels, gateway, kubeState(t, cp)))
	address := controlplane.Ports(t, 1)[0]
	cp.Run(t, "http://"+address+"/-/ready", nil, filepath.Join(bin, "prometheus"), "--web.listen-address="+address,
		"--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"))
	return prometheus("http://" + address)
}

// get reads an answer of the API.
func (p prometheus) get(ctx context.Context, path string, query url.Values, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, string(p)+"/api/v1/"+path+"?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	said := struct {
		Error string
		Data  any
	}{Data: into}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return err
	}
	if said.Error != "" {
		return fmt.Errorf("%s: %s", query, said.Error)
	}
	return nil
}

// until waits until an alert has a state, and each rule is evaluated without an error.
func (p prometheus) until(t *testing.T, alert, state string) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), observedDeadline, func(ctx context.Context) error {
		var all struct {
			Groups []struct {
				Rules []struct{ Name, State, Health, LastError string }
			}
		}
		if err := p.get(ctx, "rules", nil, &all); err != nil {
			return err
		}
		found := "unknown"
		for _, g := range all.Groups {
			for _, r := range g.Rules {
				if r.Health != "ok" {
					return fmt.Errorf("rule %s is %s: %s", r.Name, r.Health, r.LastError)
				}
				if r.Name == alert {
					found = r.State
				}
			}
		}
		if found != state {
			return fmt.Errorf("alert %s is %s, want %s", alert, found, state)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// series returns the number of series that a query returns.
func (p prometheus) series(ctx context.Context, query string) (int, error) {
	var found struct{ Result []json.RawMessage }
	err := p.get(ctx, "query", url.Values{"query": {query}}, &found)
	return len(found.Result), err
}

// holds waits until a query returns a series.
func (p prometheus) holds(t *testing.T, query string) {
	t.Helper()
	if err := controlplane.Eventually(t.Context(), observedDeadline, func(ctx context.Context) error {
		n, err := p.series(ctx, query)
		if err == nil && n == 0 {
			err = fmt.Errorf("no series of %s", query)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// draws tests that each query of a dashboard is valid, and that Prometheus has each metric
// and label in it. A query that compares may return no series.
func (p prometheus) draws(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	queries := map[string]string{}
	variables := []string{}
	for _, v := range dashboard.Templating.List {
		variables = append(variables, "$"+v.Name, ".*")
		if inner, ok := strings.CutPrefix(v.Definition, "label_values("); ok {
			at := strings.LastIndex(inner, ", ")
			queries["variable "+v.Name] = fmt.Sprintf("group by (%s) (%s)", strings.TrimSuffix(inner[at+2:], ")"), inner[:at])
		}
	}
	for _, panel := range dashboard.Panels {
		for i, target := range panel.Targets {
			queries[fmt.Sprintf("%s, query %d", panel.Title, i+1)] = target.Expr
		}
	}
	if len(queries) < 10 {
		t.Errorf("%s has only %d queries", path, len(queries))
	}
	for name, query := range queries {
		query = strings.NewReplacer(variables...).Replace(query)
		var tree any
		if err := p.get(t.Context(), "parse_query", url.Values{"query": {query}}, &tree); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, selector := range selectors(tree) {
			p.holds(t, selector)
		}
		if !strings.Contains(query, " > ") {
			p.holds(t, query)
		}
	}
}

// selectors returns a query for each selector in the tree of a query: the series of the
// metric that have each label of the selector.
func selectors(tree any) (found []string) {
	switch node := tree.(type) {
	case []any:
		for _, inner := range node {
			found = append(found, selectors(inner)...)
		}
	case map[string]any:
		if name, ok := node["name"].(string); ok && strings.HasSuffix(fmt.Sprint(node["type"]), "Selector") {
			labels := []string{}
			for _, m := range node["matchers"].([]any) {
				if label := fmt.Sprint(m.(map[string]any)["name"]); label != "__name__" {
					labels = append(labels, label+`!=""`)
				}
			}
			return []string{name + "{" + strings.Join(labels, ",") + "}"}
		}
		for _, inner := range node {
			found = append(found, selectors(inner)...)
		}
	}
	slices.Sort(found)
	return found
}
