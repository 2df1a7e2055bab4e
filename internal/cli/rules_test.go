package cli_test

import (
	"strings"
	"testing"
)

const (
	// application is a valid Application of shop. API represents the address of the
	// command's API server, TIP the commit at the branch.
	application = `
- metadata: {name: shop, namespace: argocd}
  spec:
    destination: {server: https://kubernetes.default.svc, namespace: shop}
    source: {repoURL: https://git.example.com/platform/fleet.git, targetRevision: main, path: clusters/prod-eu/shop}
    ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]
    syncPolicy: {syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}
  status: {sync: {status: Synced, revision: TIP}}
`
	// staging has the workloads of this cluster, without a rule, but its destination
	// may be another cluster.
	staging = `
- metadata: {name: staging, namespace: argocd}
  spec:
    destination: {name: staging, namespace: shop}
    source: {repoURL: https://git.example.com/platform/fleet.git, targetRevision: main, path: clusters/prod-eu/shop}
    syncPolicy: {automated: {selfHeal: true}}
  status: {sync: {status: Synced}, ` + resources + `}
`
	resources = "resources: [{group: apps, kind: Deployment, namespace: shop, name: api}, {group: apps, kind: Deployment, namespace: shop, name: cart}, {group: apps, kind: Deployment, namespace: shop, name: web}]"
)

// Some objects have rules that are valid for this site. Others belong to another cluster
// or repository, and doctor reports them.
func TestARuleIsOfThisClusterAndThisRepository(t *testing.T) {
	t.Parallel()
	argo := func(edits ...string) map[string]string {
		return map[string]string{"applications": "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationList\nitems:" + strings.NewReplacer(edits...).Replace(application)}
	}
	flux := func(edits ...string) map[string]string {
		edit := strings.NewReplacer(edits...)
		return map[string]string{"kustomizations": edit.Replace(kustomizations), "gitrepositories": edit.Replace(repositories)}
	}
	beside := func(edits ...string) map[string]string {
		all := argo()
		all["applications"] += strings.NewReplacer(edits...).Replace(staging)
		return all
	}
	const (
		server    = "server: https://kubernetes.default.svc"
		url       = "https://git.example.com/platform/fleet.git"
		revision  = "targetRevision: main"
		source    = "source: {repoURL: " + url + ", " + revision + ", path: clusters/prod-eu/shop}"
		path      = "path: ./clusters/prod-eu/shop"
		synced    = "{sync: {status: Synced, revision: TIP}}"
		named     = "metadata: {name: shop, namespace: argocd"
		ready     = `status: {conditions: [{type: Ready, status: "True"}]}`
		gone      = ", deletionTimestamp: '2026-11-22T08:00:00Z', finalizers: [example.com/keep]"
		elsewhere = "{repoURL: https://git.example.com/elsewhere/app.git, targetRevision: v1.0.0, path: web}"
	)
	two := func(one, other string) string { return "sources: [" + one + ", " + other + "]" }
	its := strings.TrimPrefix(source, "source: ")
	for name, c := range map[string]struct {
		objects    map[string]string
		annotation string // of the workloads
		trap       string // "" means that the rule is valid
	}{
		"by the URL of its own cluster":  {argo(), "", ""},
		"by the name of its own cluster": {argo(server, "name: in-cluster"), "", ""},
		"by the address of the API":      {argo(server, "server: API/"), "", ""},
		"over SSH":                       {argo(url, "git@Git.example.com:platform/fleet"), "", ""},
		"over SSH, by a URL":             {argo(url, "ssh://git@git.example.com:2222/platform/fleet.git/"), "", ""},
		"with a user":                    {argo(url, "https://bot:hunter2@git.example.com/platform/fleet"), "", ""},
		"by the whole name of a branch":  {argo(revision, "targetRevision: refs/heads/main"), "", ""},
		"HEAD":                           {argo(revision, "targetRevision: HEAD"), "", ""},
		"no revision":                    {argo(revision+", ", ""), "", ""},
		"one of two sources": {argo(source, "sources: [{repoURL: 'https://charts.example.com', chart: web}, "+its+"]",
			"revision: TIP", "revisions: ['1.0.0', TIP]"), "", ""},
		"a warning":            {argo(synced, "{sync: {status: Synced}, conditions: [{type: OrphanedResourceWarning}]}"), "", ""},
		"written otherwise":    {argo(server, "server: HTTPS://Kubernetes.Default.SVC:443/"), "", ""},
		"by the default port":  {argo(url, "https://git.example.com:443/platform/fleet.git"), "", ""},
		"HEAD, of two sources": {argo(source, two(elsewhere, strings.Replace(its, "main", "HEAD", 1)), "revision: TIP", "revisions: [4f0c6e2a9b7d15c38e60f2b4a7c9d1e3f5a6b7c8, TIP]"), "", ""},
		"the workload from a source of another repository": {argo(source, two(its, elsewhere), synced, "{sync: {status: Synced}, "+resources+"}"), "", ""},
		"not to be skipped":                  {argo(named, named+", annotations: {argocd.argoproj.io/skip-reconcile: 'false'}"), "", ""},
		"out of sync":                        {argo(synced, "{sync: {status: OutOfSync}, operationState: {phase: Succeeded}}"), "", ""},
		"in sync since a failure":            {argo(synced, "{sync: {status: Synced}, operationState: {phase: Failed}}"), "", ""},
		"another's beside it":                {beside(resources, "resources: []"), "", ""},
		"another's beside it, with the rule": {beside("syncPolicy: {automated: {selfHeal: true}}", "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]\n    syncPolicy: {syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]}"), "", ""},
		"a name beside it":                   {beside("name: staging, namespace: shop", "name: prod-by-another-name, namespace: shop"), "", "other-destination"},
		"an address beside it":               {beside("name: staging, namespace: shop", "server: 'https://10.0.0.1:6443', namespace: shop"), "", "other-destination"},
		"Flux, observed":                     {flux("metadata: {name: shop", "metadata: {generation: 3, name: shop", ready, `status: {observedGeneration: 3, conditions: [{type: Ready, status: "True"}, {type: Stalled, status: "False"}]}`), "", ""},
		"Flux":                               {flux(), "", ""},
		"Flux over SSH":                      {flux(url, "ssh://git@git.example.com/platform/fleet"), "", ""},
		"Flux by a whole name":               {flux("branch: main", "branch: other, name: refs/heads/main"), "", ""},
		"Flux, at it":                        {flux(`{type: Ready, status: "True"}`, "{type: Ready, status: Unknown, reason: Progressing}"), "", ""},
		"nothing":                            {map[string]string{}, "", "no-applier"},
		"another cluster's":                  {argo(server, "server: https://api.staging.example.com", url, "https://git.example.com/elsewhere/fleet.git"), "", "other-destination"},
		"another name":                       {argo(server, "name: staging"), "", "other-destination"},
		"of a kubeconfig":                    {flux(path, path+"\n    kubeConfig: {secretRef: {name: staging}}"), "", "other-destination"},
		"another repository":                 {argo(url, "https://git.example.com/elsewhere/fleet.git"), "", "other-repository"},
		"another host":                       {argo(url, "https://git.example.org/platform/fleet.git"), "", "other-repository"},
		"another port":                       {argo(url, "https://git.example.com:8443/platform/fleet.git"), "", "other-repository"},
		"Flux, from another":                 {flux(url, "https://git.example.com/elsewhere/fleet.git"), "", "other-repository"},
		"Flux, from a bucket":                {flux("kind: GitRepository, name: fleet", "kind: Bucket, name: fleet"), "", "other-repository"},
		"Flux, from nowhere":                 {flux("kind: GitRepository, name: fleet", "kind: GitRepository, name: gone"), "", "other-repository"},
		"no such revision":                   {argo(revision, "targetRevision: v9.9.9"), "", "other-revision"},
		"HEAD, elsewhere":                    {argo(revision, "targetRevision: HEAD", "revision: TIP", "revision: 4f0c6e2a9b7d15c38e60f2b4a7c9d1e3f5a6b7c8"), "", "other-revision"},
		"HEAD, never seen":                   {argo(revision, "targetRevision: HEAD", ", revision: TIP", ""), "", "other-revision"},
		"one source of two":                  {argo(source, two(strings.Replace(its, "clusters/prod-eu/shop", "docs", 1), strings.Replace(its, "main", "v1.0.0", 1))), "", "other-revision"},
		"HEAD, of two, elsewhere":            {argo(source, two(elsewhere, strings.Replace(its, "main", "HEAD", 1)), "revision: TIP", "revisions: [TIP, 4f0c6e2a9b7d15c38e60f2b4a7c9d1e3f5a6b7c8]"), "", "other-revision"},
		"Flux, at a version":                 {flux("branch: main", "branch: main, semver: '>=1.0.0'"), "", "other-revision"},
		"Flux, at a tag":                     {flux("branch: main", "branch: main, tag: main"), "", "other-revision"},
		"Flux, at a commit":                  {flux("branch: main", "branch: main, commit: TIP"), "", "other-revision"},
		"Flux, at no branch":                 {flux(", ref: {branch: main}", ""), "", "other-revision"},
		"an error":                           {argo(synced, "{sync: {status: Unknown}, conditions: [{type: ComparisonError, message: no such revision}]}"), "", "not-reconciling"},
		"another error":                      {argo(synced, "{sync: {status: Synced, revision: TIP}, conditions: [{type: SyncError, message: no such namespace}]}"), "", "not-reconciling"},
		"unknown":                            {argo(synced, "{sync: {status: Unknown, revision: TIP}}"), "", "not-reconciling"},
		"out of sync since a failure":        {argo(synced, "{sync: {status: OutOfSync, revision: TIP}, operationState: {phase: Failed}}"), "", "not-reconciling"},
		"out of sync since an error":         {argo(synced, "{sync: {status: OutOfSync, revision: TIP}, operationState: {phase: Error}}"), "", "not-reconciling"},
		"skipped":                            {argo(named, named+", annotations: {argocd.argoproj.io/skip-reconcile: 'true'}"), "", "not-reconciling"},
		"being deleted":                      {argo(named, named+gone), "", "not-reconciling"},
		"no destination":                     {argo(server+", ", ""), "", "not-reconciling"},
		"two destinations":                   {argo(server, server+", name: in-cluster"), "", "not-reconciling"},
		"never looked at":                    {argo("status: "+synced, "operation: {}"), "", "not-reconciling"},
		"Flux, failing":                      {flux(`{type: Ready, status: "True"}`, `{type: Ready, status: "False", reason: BuildFailed}`), "", "not-reconciling"},
		"Flux, stalled":                      {flux(`{type: Ready, status: "True"}`, `{type: Ready, status: Unknown, reason: Progressing}, {type: Stalled, status: "True", reason: InvalidURL}`), "", "not-reconciling"},
		"Flux, waiting":                      {flux(`{type: Ready, status: "True"}`, `{type: Ready, status: Unknown, reason: DependencyNotReady}`), "", "not-reconciling"},
		"Flux, being deleted":                {flux("metadata: {name: shop, ", "metadata: {name: shop"+gone+", "), "", "not-reconciling"},
		"Flux, its source being deleted":     {flux("metadata: {name: fleet, ", "metadata: {name: fleet"+gone+", "), "", "not-reconciling"},
		"Flux, not yet observed":             {flux("metadata: {name: shop, ", "metadata: {generation: 3, name: shop, ", ready, `status: {observedGeneration: 2, conditions: [{type: Ready, status: "True"}]}`), "", "not-reconciling"},
		"Flux, its source not yet observed":  {flux("metadata: {name: fleet, ", "metadata: {generation: 3, name: fleet, ", ready, `status: {observedGeneration: 2, conditions: [{type: Ready, status: "True"}]}`), "", "not-reconciling"},
		"Flux, its source suspended":         {flux("ref: {branch: main}", "ref: {branch: main}, suspend: true"), "", "not-reconciling"},
		"Flux, suspended":                    {flux(path, path+"\n    suspend: true"), "", "not-reconciling"},
		"Flux, never looked at":              {flux(`status: {conditions: [{type: Ready, status: "True"}]}`, "status: {}"), "", "not-reconciling"},
		"an option where it is not read": {argo("syncOptions: [RespectIgnoreDifferences=true, ApplyOutOfSyncOnly=true]", "syncOptions: [Prune=false]"),
			"RespectIgnoreDifferences=true", "option-not-read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			delete(w.api.workloads, "pay/statefulset/ledger")
			if got := w.run("init"); got.status != 0 {
				t.Fatalf("init: %+v", got)
			}
			w.overlays(t)
			tip := w.origin.Push(t, "main", map[string]string{
				"apps/shop/all.yaml": strings.ReplaceAll(manifestsOf("shop", "api", "cart", "web"), "namespace: shop}", "namespace: shop, annotations: {argocd.argoproj.io/sync-options: '"+c.annotation+"'}}"),
			}, "annotate the workloads")
			w.api.objects = map[string]string{}
			for resource, text := range c.objects {
				w.api.objects[resource] = strings.NewReplacer("TIP", tip, "API", w.api.URL).Replace(text)
			}
			found := w.run("doctor")
			if told := strings.HasPrefix(strings.Join(strings.Fields(found.out), " "), c.trap+": shop/deployment/api, shop/deployment/cart, shop/deployment/web "); told != (c.trap != "") || (found.status == 0) != (c.trap == "") || strings.Contains(found.out, "hunter2") {
				t.Errorf("doctor: %+v", found)
			}
		})
	}
}

// A repository with a local path has no URL to compare.
func TestDoctorTakesAURLThatTheClusterKnows(t *testing.T) {
	t.Parallel()
	w := tended(t)
	w.url = ""
	got := w.run("doctor")
	if got.status != 1 || !strings.HasPrefix(got.out, "other-repository: shop/deployment/api, shop/deployment/cart, shop/deployment/web\n") || !strings.Contains(got.out, "gitlatch doctor --url URL") {
		t.Errorf("%+v", got)
	}
	w.url = "https://bot:hunter2@git.example.com/platform/fleet.git"
	if got = w.run("doctor"); got.status != 2 || strings.Contains(got.out+got.err, "hunter2") {
		t.Errorf("%+v", got)
	}
}
