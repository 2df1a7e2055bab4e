package doctor_test

import (
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/doctor"
)

const (
	release      = "kind: HelmRelease\nmetadata: {name: podinfo, namespace: shop, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}}\nspec: {SPEC}\nstatus: {conditions: [{type: Ready, status: READY, reason: Told}]}\n"
	releaseOwned = "labels: {helm.toolkit.fluxcd.io/name: podinfo, helm.toolkit.fluxcd.io/namespace: shop, app.kubernetes.io/managed-by: Helm}"
)

func released(spec, ready string) func(*world) {
	return func(w *world) {
		w.objects["podinfo"] = strings.NewReplacer("SPEC", spec, "READY", `"`+ready+`"`).Replace(release)
		w.objects["web"] = deployment(releaseOwned, "", strings.Replace(nobody, "kustomize-controller", "helm-controller", 1))
	}
}

// Cases that people reported in public, of other tools or of earlier versions of gitlatch.
// Each workload has 42 pods and level 50, and the levels come first. text is a part of the
// reason.
func TestPublicCases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make       func(*world)
		want, text string
	}{
		// argoproj-labs/argocd-vault-plugin#74: a plugin renders the manifests, so nothing
		// shows them. gitlatch does not read the source of the Application.
		"a plugin of Argo CD, replicas omitted": {argo("", nobody), "observed 50, without 1: ", "floor 50 (admission not tried)"},
		"a plugin of Argo CD, replicas scaled":  {argo("", strings.ReplaceAll(nobody, "kustomize-controller", "argocd-controller"), scaled), "unknown 0 to 50, without 0 to 50: manifest-unknown", "floor 50, unless the manifest states 0"},
		// fluxcd/flux2#3128: postBuild.substitute sets the name and the replicas. Flux resets
		// the replicas to 3 in its next reconcile.
		"substitutions of Flux": {func(w *world) {
			w.objects["web"] = strings.Replace(deployment(fluxOwned, "", fluxStates), "replicas: 42", "replicas: 3", 1)
		}, "observed 3, without 3: replicas-reset", "floor 50, until the next apply resets the replicas to 3"},
		// fluxcd/flux2#4910: Flux appends a digest to the version of a chart in an OCI
		// registry. No chart has to be found.
		"a chart of an OCI registry": {released("chartRef: {kind: OCIRepository, name: app-template}", "True"), "observed 50, without 1: ", "floor 50 (admission not tried)"},
		// thaum-xyz/ankhmorpork#945: a rebuild does not install a suspended release.
		"a suspended HelmRelease":  {released("suspend: true", "False"), "unknown 0 to 50, without 0 to 1: owner-suspended", "HelmRelease shop/podinfo is suspended"},
		"a HelmRelease that fails": {released("", "False"), "unknown 0 to 50, without 0 to 1: owner-not-ready", "is not ready"},
		"a HelmRelease of a suspended Kustomization": {func(w *world) {
			released("", "True")(w)
			w.objects["apps"] = kustomization("apps", "suspend: true, dependsOn: [{name: levels}]", "True")
		}, "unknown 0 to 50, without 0 to 1: owner-suspended", "Kustomization flux-system/apps is suspended"},
		// kedacore/keda#3052, argoproj/argo-cd#28590: the manifest states 0 replicas, which the
		// policy leaves alone.
		"a manifest of 0, client-side": {argo(", "+noted(`{"replicas": 0}`), scaled), "observed 0, without 0: manifest-states-zero replicas-reset", "the manifest states 0 replicas"},
		"a manifest that may state 0":  {func(w *world) { w.objects["web"] = deployment(fluxOwned, "", nobody, scaled) }, "unknown 0 to 50, without 0 to 50: manifest-unknown", "floor 50, unless the manifest states 0"},
		// open-policy-agent/gatekeeper#1837: another policy refuses the level. Without a try,
		// the answer states this.
		"a policy that limits replicas": {func(*world) {}, "observed 50, without 1: ", "floor 50 (admission not tried)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld()
			c.make(w)
			r := doctor.Examine(w.read(t))
			if got := told(r); got != c.want || !strings.Contains(r.Workloads[0].Start.Text, c.text) {
				t.Errorf("got  %s: %s\nwant %s: %s", got, r.Workloads[0].Start.Text, c.want, c.text)
			}
		})
	}
}
