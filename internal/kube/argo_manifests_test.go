//go:build argo

package kube_test

import (
	"fmt"
	"strings"
)

// The strategies of the cases.
const (
	steps    = "steps: [{setWeight: 20}, {pause: {}}, {setWeight: 50}, {pause: {duration: 10m}}, {setWeight: 80}]"
	stepped  = "canary: {" + steps + "}"
	analysed = "canary: {steps: [{setWeight: 50}, {analysis: {templates: [{templateName: health}]}}, {setWeight: 80}]}"
	// strict removes no pod before another one exists, so a quota stops the rollout.
	strict = "canary: {maxSurge: 2, maxUnavailable: 0, steps: [{setWeight: 20}, {pause: {}}, {setWeight: 50}, {pause: {}}, {setWeight: 80}]}"
	routed = "canary: {canaryService: web-canary, stableService: web-stable, trafficRouting: {nginx: {stableIngress: web}}, " + steps + "}"
	colour = "blueGreen: {activeService: web-active, previewService: web-preview, %s}"
)

// rollout returns a Rollout of 10 pods as in git.
func (p *argoPlay) rollout(image, strategy string) string {
	return fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web, namespace: %s, labels: {app: web}}
spec:
  replicas: 10
  selector: {matchLabels: {app: web}}
  strategy: {%s}
  template:
    metadata: {labels: {app: web}}
    spec: {terminationGracePeriodSeconds: 0, containers: [{name: web, image: %q, resources: {requests: {cpu: 10m}}}]}
`, p.namespace, strategy, image)
}

// with replaces text of a manifest.
func with(manifest string, oldnew ...string) string {
	return strings.NewReplacer(oldnew...).Replace(manifest)
}

// nowhere changes a manifest so that no node is suitable for its pods.
func nowhere(manifest string) string {
	return with(manifest, "spec: {term", "spec: {nodeSelector: {no: such}, term")
}

// begun applies a Rollout with web:1, waits until it rests, and applies the next
// manifest.
func (p *argoPlay) begun(strategy, then string) {
	p.t.Helper()
	p.apply(p.rollout("web:1", strategy))
	p.rests()
	p.apply(then)
}

// half waits until the Rollout is at its second pause, with half of the pods.
func (p *argoPlay) half(strategy string) {
	p.t.Helper()
	p.begun(strategy, p.rollout("web:2", strategy))
	p.pausedAt(1)
	p.promote()
	p.pausedAt(3)
}

// quota limits the pods to the present number.
func (p *argoPlay) quota() {
	p.t.Helper()
	p.apply("{apiVersion: v1, kind: ResourceQuota, metadata: {name: pods, namespace: " + p.namespace + "}, spec: {hard: {pods: 10}}}")
	p.cp.Kubectl(p.t, "", "wait", "-n", p.namespace, "resourcequota/pods", "--for=jsonpath={.status.used.pods}=10", "--timeout=180s")
}

// analysis applies an AnalysisTemplate. A figure of 1 is a success, -1 a failure, and 0
// is inconclusive.
func (p *argoPlay) analysis(figure, often string) {
	p.t.Helper()
	p.apply(fmt.Sprintf(`apiVersion: argoproj.io/v1alpha1
kind: AnalysisTemplate
metadata: {name: health, namespace: %s}
spec:
  metrics:
  - {name: success-rate, %s, successCondition: result > 0, failureCondition: result < 0, provider: {web: {url: "%s/%s", jsonPath: "{$.value}"}}}
`, p.namespace, often, p.health, figure))
}

// services creates the Services of the strategies, and the Ingress of the stable one.
func (p *argoPlay) services() {
	p.t.Helper()
	for _, name := range []string{"web-active", "web-preview", "web-stable", "web-canary"} {
		p.apply("{apiVersion: v1, kind: Service, metadata: {name: " + name + ", namespace: " + p.namespace + "}, spec: {selector: {app: web}, ports: [{port: 80}]}}")
	}
	p.apply("{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, namespace: " + p.namespace +
		"}, spec: {ingressClassName: nginx, rules: [{host: web.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web-stable, port: {number: 80}}}}]}}]}}")
}

// coloured starts a blue-green Rollout from web:1 to web:2.
func (p *argoPlay) coloured(how string) {
	p.t.Helper()
	p.services()
	strategy := fmt.Sprintf(colour, how)
	p.begun(strategy, p.rollout("web:2", strategy))
}

// deployment returns a Deployment. referring returns a Rollout that uses its template.
func (p *argoPlay) deployment(image string) string {
	return workloadYAML("Deployment", p.namespace, "web", image, "  replicas: 10")
}

func (p *argoPlay) referring(scaleDown string) string {
	whole, _, _ := strings.Cut(p.rollout("", stepped), "  template:")
	return with(whole, "  selector: {matchLabels: {app: web}}", "  workloadRef: {apiVersion: apps/v1, kind: Deployment, name: web, scaleDown: "+scaleDown+"}")
}

// adopted creates a Rollout at rest that replaced a Deployment.
func (p *argoPlay) adopted(scaleDown string) {
	p.t.Helper()
	p.apply(p.deployment("web:1"))
	p.cp.Kubectl(p.t, "", "rollout", "status", "-n", p.namespace, "deployment/web", "--timeout=180s")
	p.apply(p.referring(scaleDown))
	p.rests()
}

// left waits until the Deployment has the given replicas.
func (p *argoPlay) left(pods string) {
	p.t.Helper()
	p.cp.Kubectl(p.t, "", "wait", "-n", p.namespace, "deployment/web", "--for=jsonpath={.spec.replicas}="+pods, "--timeout=180s")
}
