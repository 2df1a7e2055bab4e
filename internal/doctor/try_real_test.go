//go:build cluster

package doctor_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/checkpoint"
	"github.com/gitlatch/gitlatch/internal/doctor"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/workload"
)

const (
	// written is an audit policy that logs all writes.
	written = "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules:\n- {level: Metadata, verbs: [create, update, patch, delete, deletecollection]}\n- {level: None}\n"
	// atMost allows Deployments with 10 replicas in the namespace shop.
	atMost = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: replica-limits}
spec:
  failurePolicy: Fail
  matchConstraints:
    namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: shop}}
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments]}]
  validations: [{expression: "object.spec.replicas <= 10", message: "at most 10 replicas"}]
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: replica-limits}, spec: {policyName: replica-limits, validationActions: [Deny]}}
`
	// webhook is a webhook of the namespace hooked that does not answer.
	webhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hooked}
webhooks:
- name: hooked.example.com
  admissionReviewVersions: [v1]
  sideEffects: SIDE
  timeoutSeconds: 1
  clientConfig: {url: "https://127.0.0.1:9/"}
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hooked}}
  rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
`
	// full is a quota without room for another Deployment.
	full = `{apiVersion: v1, kind: ResourceQuota, metadata: {name: full, namespace: full}, spec: {hard: {count/deployments.apps: "1"}}}`
)

// A real API server answers the dry runs of doctor: a validating policy, a full quota, and a
// webhook that fails. Without the right to create, doctor prints the manifest that grants it.
// Nothing is written.
func TestTryOnARealControlPlane(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{Audit: written})
	want := map[string]string{ // the answer after the right was granted
		"shop/web":   "observed no: the API server refuses the workload at its level: ValidatingAdmissionPolicy 'replica-limits' with binding 'replica-limits' denied request: at most 10 replicas",
		"shop/api":   "observed yes: the API server admits the workload at its level",
		"full/web":   "observed yes: the API server admits the workload at its level",
		"hooked/web": "unknown: the API server did not decide: ",
	}
	replicas := map[string]int32{"shop/web": 20, "shop/api": 10, "full/web": 20, "hooked/web": 20}
	for _, namespace := range []string{"shop", "full", "hooked"} {
		cp.Kubectl(t, "", "create", "namespace", namespace)
	}
	cp.Apply(t, file(t, "doctor/clusterrole.yaml"), file(t, "doctor/clusterrolebinding.yaml"), string(levels.Policy()))
	tree := checkpoint.Tree{Site: checkpoint.Site{Name: "prod"}, Records: map[string]checkpoint.Record{}}
	for name, level := range replicas {
		namespace, workloadName, _ := strings.Cut(name, "/")
		cp.Apply(t, controlplane.Workload("Deployment", namespace, workloadName))
		record, exists := tree.Records[namespace]
		if !exists {
			record = checkpoint.Record{Namespace: namespace, Entries: map[workload.ID]checkpoint.Entry{}}
		}
		record.Entries[workload.ID{Namespace: namespace, Kind: workload.Deployment, Name: workloadName}] = checkpoint.Entry{Replicas: level}
		tree.Records[namespace] = record
	}
	// An API server has no new webhook with side effects. Others are left from old versions.
	_, err := cp.TryKubectl(t.Context(), strings.Replace(webhook, "SIDE", "Some", 1), "apply", "--server-side", "-f", "-")
	if err == nil || !strings.Contains(err.Error(), "sideEffects") {
		t.Errorf("a webhook with side effects: %v", err)
	}
	cp.Apply(t, atMost, full, strings.Replace(webhook, "SIDE", "None", 1))
	refused(t, cp, controlplane.Workload("Deployment", "shop", "other"), "spec:\n", "spec:\n  replicas: 20\n", "at most 10 replicas")
	refused(t, cp, controlplane.Workload("Deployment", "full", "other"), "", "", "exceeded quota")
	refused(t, cp, controlplane.Workload("Deployment", "hooked", "other"), "", "", "failed calling webhook")

	examine := func() doctor.Report {
		c := look(t, cp, "gitlatch:people")
		c.Tree = tree
		creator, err := kube.NewDryRun(cp.As("person", "gitlatch:people"))
		if err != nil {
			t.Fatal(err)
		}
		c.Try(t.Context(), objects(t, cp, "gitlatch:people"), creator)
		return doctor.Examine(c)
	}
	r := examine()
	if f := r.Findings[0]; f.Trap != doctor.MissingRights || strings.Join(f.Subjects, " ") != "deployments.apps" || f.Manifest == "" {
		t.Fatalf("without the right: %+v", r.Findings)
	}
	cp.Apply(t, r.Findings[0].Manifest)
	err = controlplane.Eventually(t.Context(), time.Minute, func(context.Context) error {
		if r = examine(); r.Findings[0].Trap == doctor.MissingRights {
			return fmt.Errorf("the right is still missing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range r.Workloads {
		a := w.Answers.Admitted
		got := a.Basis().String()
		switch {
		case a.Yes():
			got += " yes"
		case a.No():
			got += " no"
		}
		got += ": " + a.Text()
		if expected := want[w.ID.Short()]; expected == "" || !strings.HasPrefix(got, expected) {
			t.Errorf("%s: got  %s\nwant %s", w.ID, got, expected)
		}
	}
	dry := 0
	for _, q := range cp.Audit(t) {
		if q.User != "person" {
			continue
		}
		if q.Verb != "create" || !strings.Contains(q.URI, "dryRun=All") {
			t.Errorf("doctor sent %s %s", q.Verb, q.URI)
		}
		dry++
	}
	if dry < 2*len(replicas) {
		t.Errorf("the log has %d dry runs", dry)
	}
}

// refused waits until the API server refuses an object for a reason.
func refused(t *testing.T, cp *controlplane.ControlPlane, manifest, old, by, why string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		_, err := cp.TryKubectl(ctx, strings.Replace(manifest, old, by, 1), "create", "--dry-run=server", "-f", "-")
		if err == nil || !strings.Contains(err.Error(), why) {
			return fmt.Errorf("got %v, want %q", err, why)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
