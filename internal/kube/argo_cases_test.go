//go:build argo

package kube_test

import "fmt"

// An argoCase is a state of a Rollout, with its description in testdata/manifests and
// the steps to reach it.
type argoCase struct {
	name, says string
	play       func(*argoPlay)
}

func anything(*argoSeen) bool { return true }

// unobservedYet is the state before the controller has processed the change.
func unobservedYet(s *argoSeen) bool { return !s.observed() }

var argoCases = []argoCase{
	{"without-status", "Nothing has looked at it yet.", func(p *argoPlay) {
		p.instant(func() { p.apply(p.rollout("web:1", stepped)) }, anything)
	}},
	{"just-created", "No stable ReplicaSet yet: a first deploy follows no steps, and is no rollout.", func(p *argoPlay) {
		p.apply(with(p.rollout("web:1", stepped), "name: web, image", "ports: [{containerPort: 80, hostPort: 80}], name: web, image"))
		p.until(func(s *argoSeen) bool { return s.Status.Phase == "Progressing" })
	}},
	{"at-rest", "All steps done: the stable ReplicaSet is the current one.", func(p *argoPlay) {
		p.begun(stepped, p.rollout("web:2", stepped))
		p.pausedAt(1)
		p.patch("status", `{"status": {"promoteFull": true}}`)
		p.rests()
	}},
	{"at-zero", "Scaled to zero.", func(p *argoPlay) {
		p.begun(stepped, with(p.rollout("web:1", stepped), "replicas: 10", "replicas: 0"))
	}},
	{"count-not-stated", "No count is stated: the controller fills in 1.", func(p *argoPlay) {
		p.apply(with(p.rollout("web:1", stepped), "  replicas: 10\n", ""))
		p.rests()
	}},
	{"driven", "An autoscaler names it by its own group and kind, and no manifest states its count.", func(p *argoPlay) {
		p.apply(with(p.rollout("web:1", stepped), "  replicas: 10\n", ""),
			with(hpaYAML(p.namespace, "web", "web", 4, 40), "apiVersion: apps/v1, kind: Deployment", "apiVersion: argoproj.io/v1alpha1, kind: Rollout"))
		p.cp.Kubectl(p.t, "", "wait", "-n", p.namespace, "rollout/web", "--for=jsonpath={.status.readyReplicas}=4", "--timeout=180s")
		p.cp.Kubectl(p.t, "", "wait", "-n", p.namespace, "hpa/web", "--for=condition=ScalingActive", "--timeout=180s")
		p.rests()
	}},
	{"scaled-by-hand", "Somebody scaled it out at half, through its scale subresource: both templates grow.", func(p *argoPlay) {
		p.half(stepped)
		// It reads the scale, and writes it only if it has not changed in between.
		p.cp.Kubectl(p.t, "", "scale", "-n", p.namespace, "rollout/web", "--current-replicas=10", "--replicas=20")
		p.pausedAt(3)
	}},
	{"stale-generation", "The generation that was observed is a text, and an earlier one.", func(p *argoPlay) {
		p.apply(p.rollout("web:1", stepped))
		p.rests()
		p.settled()
		p.instant(func() { p.apply(p.rollout("web:2", stepped)) }, unobservedYet)
	}},
	{"generation-by-digits", "Generation 10 is after 9: texts are not compared as texts.", func(p *argoPlay) {
		p.apply(p.rollout("web:1", stepped))
		p.rests()
		for more := 1; ; more++ {
			var at int64
			p.until(func(s *argoSeen) bool { at = s.Metadata.Generation; return true })
			change := func() { p.patch("", fmt.Sprintf(`{"spec": {"revisionHistoryLimit": %d}}`, 10+more)) }
			if at >= 9 {
				p.instant(change, unobservedYet)
				return
			}
			change()
		}
	}},

	{"step-weight", "At a first step of 20 %, without a router: two pods of ten, which are ready and not yet available.", func(p *argoPlay) {
		p.begun(stepped, with(p.rollout("web:2", stepped), "  replicas: 10", "  replicas: 10\n  minReadySeconds: 3600\n  progressDeadlineSeconds: 7200"))
	}},
	{"paused-for-ever", "At a pause without an end: a person has to promote it.", func(p *argoPlay) {
		p.begun(stepped, p.rollout("web:2", stepped))
		p.pausedAt(1)
	}},
	{"paused-for-a-while", "At a pause of ten minutes: it goes on by itself, and nobody halted it.", func(p *argoPlay) {
		p.half(stepped)
	}},
	{"paused-by-hand", "Somebody paused it, which is said before what its step says.", func(p *argoPlay) {
		p.half(stepped)
		p.patch("", `{"spec": {"paused": true}}`)
		p.until(func(s *argoSeen) bool { return s.Status.Message == "manually paused" })
	}},
	{"inconclusive", "An analysis that is neither good nor bad waits for a person.", func(p *argoPlay) {
		p.analysis("0", "count: 1")
		p.begun(analysed, p.rollout("web:2", analysed))
		p.until(func(s *argoSeen) bool { return s.Status.Phase == "Paused" })
	}},
	{"scaled-in-mid-rollout", "Scaled in from 10 to 4 at half: both templates shrink.", func(p *argoPlay) {
		p.half(stepped)
		p.apply(with(p.rollout("web:2", stepped), "replicas: 10", "replicas: 4"))
		p.pausedAt(3)
	}},
	{"sidecar-added", "The templates differ in a container.", func(p *argoPlay) {
		p.begun(stepped, with(p.rollout("web:2", stepped), "containers: [", `containers: [{name: proxy, image: "proxy:1"}, `))
		p.pausedAt(1)
	}},
	{"ephemeral-metadata", "What the controller gives to canary pods alone is no difference of the templates.", func(p *argoPlay) {
		marked := with(stepped, "canary: {", "canary: {canaryMetadata: {labels: {role: canary}}, stableMetadata: {labels: {role: stable}}, ")
		p.begun(marked, p.rollout("web:2", marked))
		p.pausedAt(1)
	}},
	{"overtaken", "A third template, whose pods fit no node, overtook the second, some pods of which are left.", func(p *argoPlay) {
		p.begun(strict, p.rollout("web:2", strict))
		p.pausedAt(1)
		p.apply(nowhere(p.rollout("web:3", strict)))
	}},
	{"back-to-stable", "Git went back to the stable template: it is there in one step, whatever is left of the other.", func(p *argoPlay) {
		p.half(strict)
		p.quota()
		p.apply(p.rollout("web:1", strict))
	}},

	{"aborted", "Aborted by its analysis: all pods are of the stable template again, and the manifest still asks for the other.", func(p *argoPlay) {
		p.analysis("-1", "count: 1")
		p.begun(analysed, p.rollout("web:2", analysed))
		p.degraded()
	}},
	{"aborted-by-hand", "Aborted by a person.", func(p *argoPlay) {
		p.half(stepped)
		p.patch("status", `{"status": {"abort": true}}`)
		p.degraded()
	}},
	{"abort-asked-for", "Somebody asked for the abort, and the controller has not got to it.", func(p *argoPlay) {
		p.half(stepped)
		p.settled()
		p.instant(func() { p.patch("status", `{"status": {"abort": true}}`) },
			func(s *argoSeen) bool { return s.Status.Abort })
	}},
	{"aborting", "On its way back from the abort: there are pods of both, and a quota holds it there.", func(p *argoPlay) {
		p.half(strict)
		p.quota()
		p.patch("status", `{"status": {"abort": true}}`)
		p.degraded()
	}},
	{"deadline", "It made no progress for its deadline.", func(p *argoPlay) {
		p.begun(stepped, nowhere(with(p.rollout("web:2", stepped), "  replicas: 10", "  replicas: 10\n  progressDeadlineSeconds: 2")))
		p.degraded()
	}},
	{"deadline-aborts", "It made no progress for its deadline, and aborts by that.", func(p *argoPlay) {
		p.begun(stepped, nowhere(with(p.rollout("web:2", stepped), "  replicas: 10", "  replicas: 10\n  progressDeadlineSeconds: 2\n  progressDeadlineAbort: true")))
		p.degraded()
	}},
	{"invalid", "What git asks for is no valid Rollout: what ran goes on.", func(p *argoPlay) {
		p.begun(stepped, with(p.rollout("web:2", stepped), "setWeight: 50", "setWeight: 500"))
		p.degraded()
	}},

	{"routed", "A router gives the target 20 % of the traffic, whatever its pods.", func(p *argoPlay) {
		p.services()
		p.begun(routed, p.rollout("web:2", routed))
		p.pausedAt(1)
	}},
	{"routed-of-1000", "The whole is 1000 by the router's measure.", func(p *argoPlay) {
		p.services()
		thousand := with(routed, "trafficRouting: {", "trafficRouting: {maxTrafficWeight: 1000, ", "setWeight: 50", "setWeight: 500")
		p.half(thousand)
	}},
	{"routed-not-yet", "No pod of the target is there, and the router was told nothing of it.", func(p *argoPlay) {
		p.services()
		p.begun(routed, nowhere(p.rollout("web:2", routed)))
	}},
	{"routed-stable-shrinks", "The stable ReplicaSet has what its share of the traffic takes, and no more.", func(p *argoPlay) {
		p.services()
		p.half(with(routed, "canary: {", "canary: {dynamicStableScale: true, "))
	}},

	{"bluegreen-preview", "Both colours have all pods, and all traffic is the old one's: the need is not twice as much.", func(p *argoPlay) {
		p.coloured("autoPromotionEnabled: false")
		p.pausedAt(0)
	}},
	{"bluegreen-few-previews", "One pod of the preview, until it is promoted.", func(p *argoPlay) {
		p.coloured("autoPromotionEnabled: false, previewReplicaCount: 1")
		p.pausedAt(0)
	}},
	{"bluegreen-promotes-itself", "Its pause ends by itself.", func(p *argoPlay) {
		p.coloured("autoPromotionSeconds: 300")
		p.pausedAt(0)
	}},
	{"bluegreen-switched", "The active service has been switched, and the analysis after that goes on.", func(p *argoPlay) {
		p.analysis("1", "count: 100, interval: 1h")
		p.coloured("postPromotionAnalysis: {templates: [{templateName: health}]}")
		p.until(func(s *argoSeen) bool { return s.Status.BlueGreen.ActiveSelector == s.Status.CurrentPodHash })
	}},
	{"bluegreen-aborted", "Aborted by the analysis before its promotion: the active service never left the old colour.", func(p *argoPlay) {
		p.analysis("-1", "count: 1")
		p.coloured("abortScaleDownDelaySeconds: 1, prePromotionAnalysis: {templates: [{templateName: health}]}")
		p.degraded()
	}},
	{"bluegreen-old-colour-stays", "Promoted by itself; the old colour stays for the delay of its scaling down.", func(p *argoPlay) {
		p.coloured("scaleDownDelaySeconds: 3600")
		p.rests()
	}},

	{"of-a-deployment", "It takes the template of a Deployment that it scales to zero: that one is no workload of its own.", func(p *argoPlay) {
		p.adopted("onsuccess")
		p.left("0")
		p.rests()
	}},
	{"of-a-deployment-that-runs", "The Deployment is left to run, so that both are workloads.", func(p *argoPlay) {
		p.adopted("never")
	}},
	{"of-a-deployment-rolling", "In flight, without a selector of its own.", func(p *argoPlay) {
		p.adopted("progressively")
		p.left("0")
		p.apply(with(p.deployment("web:2"), "replicas: 10", "replicas: 0"))
		p.pausedAt(1)
	}},
	{"of-a-deployment-changed-since", "The Deployment has another template since the controller looked.", func(p *argoPlay) {
		p.adopted("never")
		p.settled()
		p.instant(func() { p.apply(p.deployment("web:2")) }, func(s *argoSeen) bool {
			return s.Metadata.Annotations["rollout.argoproj.io/workload-generation"] != s.Status.WorkloadObservedGeneration
		})
	}},
}
