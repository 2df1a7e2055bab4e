//go:build gitops

package owners

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/cli"
	"github.com/gitlatch/gitlatch/internal/drill"
	"github.com/gitlatch/gitlatch/internal/testenv/argocd"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
)

// Five of the namespaces have a fault. In a rebuild, late is created before its levels, nobody
// reconciles suspended, and a policy of the cluster refuses the levels of refused. The
// manifests of stopped state 0 replicas, and the manifests of reset state 1.
const (
	late      = "alpha"
	suspended = "bravo"
	refusing  = "charlie"
	stopped   = "delta"
	resets    = "echo"
)

// tooMany is the reason of few.
const tooMany = "at most 1 replica"

// few refuses a Deployment with more than 1 replica.
const few = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: few}
spec:
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: charlie}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: "object.spec.replicas <= 1", message: ` + tooMany + `}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: few}
spec: {policyName: few, validationActions: [Deny]}
`

// A loss is a cluster that is lost, and the cluster that replaces it.
type loss struct {
	*rebuild
	origin *gitserver.Origin // the repository of the workloads and of the site
}

// faulty returns the repository of a site whose namespaces have the faults.
func faulty(t *testing.T) map[string]string {
	t.Helper()
	files := fleet(t)
	files["gitlatch.yaml"] = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\n"
	for i, team := range teams {
		path := "workloads/" + team + ".yaml"
		text := files[path]
		delete(files, path)
		for fault, count := range map[string]string{stopped: "0", resets: "1"} {
			if team == fault {
				text = strings.ReplaceAll(text, "\nspec:\n  selector", "\nspec:\n  replicas: "+count+"\n  selector")
			}
		}
		// One Application applies the levels and most workloads. It applies the workloads after the
		// levels, which have no wave.
		text = strings.ReplaceAll(text, "kind: Deployment\nmetadata: {", `kind: Deployment`+"\n"+`metadata: {annotations: {argocd.argoproj.io/sync-wave: "1"}, `)
		files[folderOf(i)+team+"/all.yaml"] = text
	}
	return files
}

// folderOf returns the parent of the folder of a namespace: three namespaces are applied apart.
func folderOf(team int) string {
	if slices.Contains([]string{late, suspended, refusing}, teams[team]) {
		return "apart/"
	}
	return "workloads/"
}

// A drilled is a way to apply the repository to a cluster.
type drilled struct {
	// live makes all workloads, in order and without an interruption.
	live func(*testing.T, *loss)
	// again makes them in a new cluster: late first, and without its levels.
	again func(*testing.T, *loss)
}

// "gitlatch drill --try" predicts a rebuild of 100 workloads with five faults. Then a new cluster
// replaces the lost one, and no workload starts below a known answer.
func TestDrillBesideARebuild(t *testing.T) {
	for name, way := range map[string]drilled{
		"flux":    {live: liveByFlux, again: againByFlux},
		"argocd":  {live: liveByArgoCD, again: againByArgoCD},
		"kubectl": {live: liveByKubectl, again: againByKubectl},
	} {
		t.Run(name, func(t *testing.T) {
			files := faulty(t)
			var before drill.Document
			t.Run("lost", func(t *testing.T) {
				l := begin(t)
				l.adopt(t, files)
				l.origin = gitserver.NewOrigin(t, t.TempDir(), files)
				way.live(t, l)
				l.exist(t, func(string) bool { return true })
				l.Kubectl(t, "", "wait", "--for=condition=Available", "deployments", "-A", "--all", "--timeout=180s")
				l.Apply(t, few)
				l.denies(t)
				before = l.drill(t)
			})
			var rows table
			t.Run("rebuilt", func(t *testing.T) {
				l := begin(t)
				l.origin = gitserver.NewOrigin(t, t.TempDir(), files)
				l.Apply(t, few, namespace(refusing))
				l.denies(t)
				way.again(t, l)
				l.exist(t, func(team string) bool { return team != suspended && team != refusing })
				rows = l.beside(t, before)
				marks := l.drill(t).Marks
				if marks == nil || marks.With != 17*each || len(marks.Without) != each {
					t.Errorf("the marks show %+v, want %d workloads of which the %d of %s have none", marks, 18*each, each, late)
				}
			})
			rows.same(t, "drill-"+name+".md")
		})
	}
}

// begin starts a cluster with nodes.
func begin(t *testing.T) *loss {
	t.Helper()
	cp := controlplane.Start(t, controlplane.Options{})
	l := &loss{rebuild: &rebuild{world: &world{ControlPlane: cp, dyn: client(cp.Config())}, table: &table{}}}
	l.Nodes(t, 6)
	l.Apply(t, person)
	return l
}

// adopt writes the identity of the cluster into the files of the site.
func (l *loss) adopt(t *testing.T, files map[string]string) {
	t.Helper()
	var system metav1.PartialObjectMetadata
	must(t, l.Read(t.Context(), "/api/v1/namespaces/kube-system", &system))
	files[checkpoint.SitePath("prod")] = string(checkpoint.Site{Name: "prod", Cluster: string(system.UID)}.Format())
}

// denies waits until the cluster refuses the levels of a namespace.
func (l *loss) denies(t *testing.T) {
	t.Helper()
	eventually(t, "the cluster refuses 2 replicas", func(ctx context.Context) error {
		o := object(t, deployment(refusing, "another", "2", "probe"))
		_, err := l.dyn.Resource(deployments).Namespace(refusing).Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return fmt.Errorf("they are admitted")
		}
		if !strings.Contains(err.Error(), tooMany) {
			return err
		}
		return nil
	})
}

// exist waits until the workloads of some namespaces exist.
func (l *loss) exist(t *testing.T, some func(team string) bool) {
	t.Helper()
	eventually(t, "the workloads exist", func(ctx context.Context) error {
		for _, team := range teams {
			if !some(team) {
				continue
			}
			all, err := l.dyn.Resource(deployments).Namespace(team).List(ctx, metav1.ListOptions{})
			if err != nil || len(all.Items) != each {
				return fmt.Errorf("%s has %d workloads: %v", team, len(all.Items), err)
			}
		}
		return nil
	})
}

// command runs a command of gitlatch on the site, and decodes its output.
func (l *loss) command(t *testing.T, into any, args ...string) {
	t.Helper()
	dir := t.TempDir()
	config := checkout(t, map[string]string{"config.yaml": fmt.Sprintf(`apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod
cluster: {kubeconfig: %q}
state: {bolt: %q}
repository: {url: %q}
`, l.Kubeconfig(), filepath.Join(dir, "latch.db"), l.origin.Dir)})
	var out, problems bytes.Buffer
	env := cli.Env{Out: &out, Err: &problems, Clock: time.Now, Getenv: func(string) string { return "" }}
	status := cli.Run(env, append(args, "-o", "json", "--config", filepath.Join(config, "config.yaml")))
	if err := json.Unmarshal(out.Bytes(), into); err != nil || status > 1 {
		t.Fatalf("gitlatch %s: exit status %d, %v\n%s%s", strings.Join(args, " "), status, err, out.String(), problems.String())
	}
}

// drill returns the prediction of "gitlatch drill --try".
func (l *loss) drill(t *testing.T) (d drill.Document) {
	t.Helper()
	l.command(t, &d, "drill", "--try")
	if len(d.Unread)+len(d.Problems) > 0 {
		t.Fatalf("unread %q, problems %q", d.Unread, d.Problems)
	}
	return d
}

// beside returns the predicted and the started pods, by namespace. Namespaces without a fault
// are one row.
func (l *loss) beside(t *testing.T, d drill.Document) (rows table) {
	t.Helper()
	type sum struct {
		level, low, high, started int64
		basis                     map[string]bool
	}
	faults := map[string]string{
		late: "created before its levels", suspended: "its owner is suspended", refusing: "a policy refuses its levels",
		stopped: "the manifests state 0", resets: "the manifests state 1",
	}
	sums := map[string]*sum{}
	for _, w := range d.Workloads {
		if w.Name == probe {
			continue
		}
		fault := faults[w.Namespace]
		if sums[fault] == nil {
			sums[fault] = &sum{basis: map[string]bool{}}
		}
		s := sums[fault]
		started := l.started(t, w.Namespace, w.Name)
		basis := w.Start.Basis
		if started < int64(w.Start.AtLeast) || basis != drill.Unknown && started > int64(w.Start.AtMost) {
			t.Errorf("%s/%s starts with %d pods, predicted %s (%s: %s)", w.Namespace, w.Name, started, w.Start, basis, w.Start.Text)
		}
		s.level += int64(*w.Declared)
		s.low += int64(w.Start.AtLeast)
		s.high += int64(w.Start.AtMost)
		s.started += started
		s.basis[basis] = true
	}
	rows.head("namespace", "levels", "predicted", "answer", "started")
	for _, team := range append([]string{"foxtrot"}, teams[:5]...) {
		s := sums[faults[team]]
		if s == nil {
			t.Fatalf("the drill has no workload of %s", team)
		}
		text := map[string]string{"": "the other 15"}[faults[team]]
		if text == "" {
			text = faults[team]
		}
		var bases []string
		for basis := range s.basis {
			bases = append(bases, basis)
		}
		slices.Sort(bases)
		predicted := fmt.Sprint(s.low)
		if s.high != s.low {
			predicted += fmt.Sprint(" to ", s.high)
		}
		rows.row(text, fmt.Sprint(s.level), predicted, strings.Join(bases, ", "), fmt.Sprint(s.started))
	}
	return rows
}

// started returns the replicas of a workload in the rebuilt cluster; 0 if it does not exist.
func (l *loss) started(t *testing.T, namespace, name string) int64 {
	t.Helper()
	all, err := l.dyn.Resource(deployments).Namespace(namespace).List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	must(t, err)
	for _, o := range all.Items {
		return replicas(&o)
	}
	return 0
}

// acting waits until the admission policy acts in all namespaces. A level that the cluster
// refuses also shows it.
func (l *loss) acting(t *testing.T) {
	t.Helper()
	for _, team := range teams {
		l.Apply(t, namespace(team))
		eventually(t, "the policy acts in "+team, func(ctx context.Context) error {
			err := would(ctx, t, l.dyn, team, probe, level)
			if err != nil && strings.Contains(err.Error(), tooMany) {
				return nil
			}
			return err
		})
	}
}

func liveByKubectl(t *testing.T, l *loss) {
	files := faulty(t)
	l.first(t, files)
	l.acting(t)
	for i, team := range teams {
		l.bootstrap(t, files, folderOf(i)+team)
	}
}

func againByKubectl(t *testing.T, l *loss) {
	files := faulty(t)
	l.bootstrap(t, files, "apart/"+late)
	l.first(t, files)
	l.acting(t)
	dir := checkout(t, files)
	for range 2 { // the second time resets replicas
		for i, team := range teams {
			if team == suspended {
				continue
			}
			_, err := l.TryKubectl(t.Context(), "", "--as=person", "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(dir, folderOf(i)+team))
			if (err != nil) != (team == refusing) {
				t.Fatalf("apply %s: %v", team, err)
			}
		}
	}
}

// byFlux starts Flux with one Kustomization for each namespace. They depend on the levels,
// except the late one.
func (l *loss) byFlux(t *testing.T) *flux.Flux {
	t.Helper()
	f := flux.Start(t, l.ControlPlane, map[string]*gitserver.Origin{repository: l.origin})
	l.Apply(t, fmt.Sprintf(gitRepository, repository))
	return f
}

// folders makes Flux apply the policy and the levels, and waits for it.
func (l *loss) folders(t *testing.T, f *flux.Flux) {
	t.Helper()
	l.Apply(t, kustomization("admission", "checkpoints/admission", ""), kustomization("levels", prod, depends("admission")))
	f.Applied(t, "levels", l.origin.Tip("main"))
}

// teamKustomization returns the Kustomization of a namespace.
func teamKustomization(i int, more string) string {
	if teams[i] != late {
		more += depends("levels")
	}
	return kustomization(teams[i], folderOf(i)+teams[i], more)
}

func liveByFlux(t *testing.T, l *loss) {
	f := l.byFlux(t)
	l.folders(t, f)
	l.acting(t)
	for i := range teams {
		l.Apply(t, teamKustomization(i, ""))
	}
	for _, team := range teams {
		f.Applied(t, team, l.origin.Tip("main"))
	}
	l.Apply(t, teamKustomization(slices.Index(teams, suspended), ", suspend: true"))
}

func againByFlux(t *testing.T, l *loss) {
	f := l.byFlux(t)
	l.Apply(t, teamKustomization(slices.Index(teams, late), ""))
	l.exist(t, func(team string) bool { return team == late })
	l.folders(t, f)
	l.acting(t)
	for i, team := range teams {
		l.Apply(t, teamKustomization(i, map[string]string{suspended: ", suspend: true"}[team]))
	}
	for _, team := range teams {
		switch team {
		case suspended:
		case refusing:
			f.Fails(t, team, tooMany)
		default:
			f.Applied(t, team, l.origin.Tip("main"))
		}
	}
	f.Reconcile(t, resets)
}

// all returns the Application of the levels and of all namespaces that no other Application
// applies.
func (l *loss) all() string {
	app := application("all", ".", l.origin, "", sync("prune: true, selfHeal: true"))
	return strings.Replace(app, "directory: {recurse: true}", "directory: {recurse: true, include: '{checkpoints/*,workloads/*}'}", 1)
}

func (l *loss) apart(team, policy string) string {
	return application(team, "apart/"+team, l.origin, "", policy)
}

const byUsers = "syncPolicy: {}"

func liveByArgoCD(t *testing.T, l *loss) {
	a := argocd.Start(t, l.ControlPlane)
	l.Apply(t, l.all())
	a.Applied(t, "all", l.origin.Tip("main"))
	l.acting(t)
	l.Apply(t, l.apart(late, sync("prune: true")), l.apart(suspended, byUsers), l.apart(refusing, sync("prune: true")))
	a.Sync(t, suspended, `{"revision": "main"}`)
	for _, name := range []string{late, suspended, refusing} {
		a.Applied(t, name, l.origin.Tip("main"))
	}
	a.Applied(t, "all", l.origin.Tip("main")) // it heals the namespaces with replicas in their manifests
}

func againByArgoCD(t *testing.T, l *loss) {
	a := argocd.Start(t, l.ControlPlane)
	l.Apply(t, l.apart(late, sync("prune: true")))
	l.exist(t, func(team string) bool { return team == late })
	l.Apply(t, l.all(), l.apart(suspended, byUsers))
	a.Applied(t, "all", l.origin.Tip("main"))
	l.acting(t)
	l.Apply(t, l.apart(refusing, sync("prune: true")))
	if err := l.synced(t, refusing, l.origin.Tip("main")); err == nil || !strings.Contains(err.Error(), tooMany) {
		t.Errorf("the cluster admits the levels of %s: %v", refusing, err)
	}
	eventually(t, "the replicas are reset", func(context.Context) error {
		for i := range each {
			if got := l.look(t, resets, app(i)).count; got != 1 {
				return fmt.Errorf("%s has %d", app(i), got)
			}
		}
		return nil
	})
}
