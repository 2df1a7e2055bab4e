package admission

import (
	_ "embed"
	"strings"
)

// account is the service account of Flux that applies the directory of a site.
const account = "gitlatch-applier"

var (
	//go:embed flux.tmpl
	fluxText string
	//go:embed argocd.tmpl
	argoText string
)

// Bootstrap returns the command that applies the policy and the directory of a site as the
// first objects in a new cluster. It runs in a checkout of the repository.
func Bootstrap(site string) string {
	return "kubectl apply --server-side -f checkpoints/admission -f checkpoints/" + site
}

// Flux returns the manifests that make Flux keep the policy and the directory of a site
// current. A comment shows the change in a Kustomization that applies workloads.
//
// The directory of the site is applied with ApplierRules alone. An account of Flux cannot
// apply the file of the policy with rights on its objects alone, so the account of the
// controller does that: see WatchBinding.
func Flux(site string) []byte {
	slots := strings.NewReplacer(
		"{{site}}", site,
		"{{levels}}", Namespace,
		"{{account}}", account,
		"{{roles}}", string(Applier("flux-system", account)),
	)
	return []byte(slots.Replace(fluxText))
}

// ArgoCD returns the manifests that make Argo CD keep the policy and the directory of a
// site current, from a branch of the repository at url. An annotation and a comment show the
// order in an app of apps.
//
// The AppProject limits the directory of the site to the objects in ApplierRules. A service
// account with these rights requires impersonation, which Argo CD turns on for all
// Applications or for none.
func ArgoCD(site, url, branch string) []byte {
	slots := strings.NewReplacer(
		"{{site}}", site,
		"{{levels}}", Namespace,
		"{{url}}", url,
		"{{branch}}", branch,
	)
	return []byte(slots.Replace(argoText))
}
