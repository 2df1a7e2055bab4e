//go:build gitops

package owners

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The workloads have 400 pods in 20 namespaces: in each namespace, app-0 to app-4 with levels
// 2 to 6. The manifests omit the replicas.
var teams = []string{
	"alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett",
	"kilo", "lima", "mike", "november", "oscar", "papa", "quebec", "romeo", "sierra", "zulu",
}

const (
	each  = 5
	least = 2
)

// probe is a workload with a level that is never created.
const probe = "probe"

func app(i int) string { return fmt.Sprint("app-", i) }

// prod is the folder of a site in the repository.
const prod = "checkpoints/prod"

// siteTree returns the directory of a site, whose levels are higher by more.
func siteTree(site string, more int) (checkpoint.Tree, map[string]string) {
	var changes []checkpoint.Change
	for _, team := range teams {
		declare := func(name string, replicas int) {
			id := workload.ID{Namespace: team, Kind: workload.Deployment, Name: name}
			changes = append(changes, checkpoint.Change{ID: id, To: checkpoint.Entry{Replicas: int32(replicas)}})
		}
		declare(probe, level)
		for i := range each {
			declare(app(i), least+i+more)
		}
	}
	files, _ := checkpoint.Merge(checkpoint.Tree{}, checkpoint.Site{Name: site}, changes)
	tree, err := checkpoint.ParseTree(site, files)
	if err != nil {
		panic(err)
	}
	texts := map[string]string{}
	for path, data := range files {
		texts[path] = string(data)
	}
	return tree, texts
}

// siteFiles returns the files of a site, whose levels are higher by more.
func siteFiles(site string, more int) map[string]string {
	_, files := siteTree(site, more)
	return files
}

// fleet returns the folders of gitlatch and the manifests of the workloads.
func fleet(t testing.TB) map[string]string {
	t.Helper()
	files := siteFiles("prod", 0)
	files[admission.Path] = policyFile(t)
	for _, team := range teams {
		all := []string{namespace(team)}
		for i := range each {
			all = append(all, deployment(team, app(i), "", "one"))
		}
		files["workloads/"+team+".yaml"] = documents(all...)
	}
	return files
}

// A rebuild is a cluster with tables of results. Its cells follow one another, and each
// begins without the folder and without the workloads.
type rebuild struct {
	*world
	*table
	tool   string
	home   string // the namespace of the tool
	before int    // requests before the cell
}

// result adds a row to the table.
func (r *rebuild) result(what, got string) { r.row(r.tool, what, got) }

const byChance = "by chance"

// created waits until all workloads exist, and adds the number that were created at their
// level, unless that is a matter of chance. The marks must show exactly these workloads.
func (r *rebuild) created(t *testing.T, what string, chance bool) {
	t.Helper()
	raised := 0
	eventually(t, "all workloads exist", func(ctx context.Context) error {
		list, err := r.dyn.Resource(deployments).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if len(list.Items) != each*len(teams) {
			return fmt.Errorf("there are %d", len(list.Items))
		}
		raised = 0
		for _, o := range list.Items {
			s := shoot(&o)
			if s.mark != "" {
				raised++
			}
			if s.count == 1 && s.mark == "" || s.count >= least && s.mark == fmt.Sprint(s.count) {
				continue
			}
			t.Errorf("%s: %s/%s has %d replicas and the mark %q", what, o.GetNamespace(), o.GetName(), s.count, s.mark)
		}
		return nil
	})
	text := fmt.Sprintf("%d of %d", raised, each*len(teams))
	t.Logf("%s, %s: %s at their level; %s", r.tool, what, text, r.ahead(t))
	if chance {
		text = byChance
	}
	r.result(what, text)
}

// ahead returns by how much the last CREATE of a binding preceded the first of a workload.
func (r *rebuild) ahead(t *testing.T) string {
	t.Helper()
	var bound, first time.Time
	for _, q := range r.Audit(t)[r.before:] {
		switch {
		case q.Code != 201 || strings.Contains(q.URI, "dryRun="):
		case q.Object.Resource == bindings.Resource:
			bound = q.At
		case q.Object.Resource == deployments.Resource && first.IsZero():
			first = q.At
		}
	}
	if bound.IsZero() {
		return "no binding exists"
	}
	return fmt.Sprintf("the folder was %s ahead", first.Sub(bound).Round(time.Millisecond))
}

// forget removes the workloads and the folder, and waits until the policy acts no more.
func (r *rebuild) forget(t *testing.T) {
	t.Helper()
	err := r.dyn.Resource(policies).Delete(t.Context(), admission.Name, metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		must(t, err)
	}
	r.Apply(t, namespace(teams[0]))
	r.acts(t, teams[0], probe, 1)
	bound := []string{"delete", "mutatingadmissionpolicybindings", "--ignore-not-found", admission.WatchBinding}
	for _, team := range teams {
		bound = append(bound, admission.BindingName(team))
	}
	r.Kubectl(t, "", bound...)
	r.Kubectl(t, "", append([]string{"delete", "namespace", "--ignore-not-found", admission.Namespace}, teams...)...)
	r.before = len(r.Audit(t))
}

// bootstrap runs the command of a bootstrap: it applies folders of the repository, as an
// administrator who is subject to the rules of RBAC.
func (r *rebuild) bootstrap(t *testing.T, files map[string]string, folders ...string) {
	t.Helper()
	dir := checkout(t, files)
	args := []string{"--as=person", "apply", "--server-side", "--force-conflicts"}
	for _, folder := range folders {
		args = append(args, "-f", filepath.Join(dir, folder))
	}
	r.Kubectl(t, "", args...)
}

// person is an administrator.
const person = `apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: person}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: person}]
`

// applier returns a service account with the rights of a tool that applies the folder of a
// site, and the namespace in which it has some of them.
func (r *rebuild) applier() string {
	account := fmt.Sprintf("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: applier, namespace: %s}\n", r.home)
	return documents(namespace(admission.Namespace), account, string(admission.Applier(r.home, "applier")))
}

// used returns the kinds of requests of the applier since the cell began.
func (r *rebuild) used(t *testing.T) string {
	t.Helper()
	applier := "system:serviceaccount:" + r.home + ":applier"
	verbs := map[string]map[string]bool{bindings.Resource: {}, configmaps.Resource: {}}
	for _, q := range r.Audit(t)[r.before:] {
		if q.User == applier && verbs[q.Object.Resource] != nil {
			verbs[q.Object.Resource][q.Verb] = true
		}
	}
	list := func(resource string) string { return strings.Join(slices.Sorted(maps.Keys(verbs[resource])), ", ") }
	return fmt.Sprintf("bindings: %s; ConfigMaps: %s", list(bindings.Resource), list(configmaps.Resource))
}

// refused returns why a tool could not apply an object.
func refused(err error) string {
	if err == nil {
		return "applied"
	}
	for _, c := range []struct{ text, reason string }{
		{"to determine minimum required permissions", "the API server cannot check the rights before the policy exists"},
		{"forbidden: User", "no right"},
		{"already registered id", "two files have the same object"},
	} {
		if strings.Contains(err.Error(), c.text) {
			return "refused: " + c.reason
		}
	}
	return "refused: " + strings.ReplaceAll(err.Error(), "\n", " ")
}

// level returns a level in the cluster, or "none".
func (r *rebuild) level(t *testing.T, team string) string {
	t.Helper()
	m, err := r.dyn.Resource(configmaps).Namespace(admission.Namespace).Get(t.Context(), team, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "none"
	}
	must(t, err)
	text, _, _ := unstructured.NestedString(m.Object, "data", "deployment."+app(0))
	return text
}

// levelled waits until a level is in the cluster, or "none".
func (r *rebuild) levelled(t *testing.T, team, want string) {
	t.Helper()
	eventually(t, "the level of "+team+" is "+want, func(context.Context) error {
		if got := r.level(t, team); got != want {
			return fmt.Errorf("it is %s", got)
		}
		return nil
	})
}
