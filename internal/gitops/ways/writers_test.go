//go:build gitops

package ways_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gitlatch/gitlatch/internal/gitops/ways"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/flux"
)

// A tenant may write any ConfigMap of its namespace by RBAC. Before this policy, its
// checkpoint file chose the image of a workload.
func TestOnlyAWriterWritesACheckpointFile(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Apply(t, string(ways.Admission(example)), string(ways.Images(example)), string(ways.Writers(example)), namespaceOf("shop"))
	writer := user{cp, flux.User}
	tenant := user{cp, "system:serviceaccount:shop:deployer"}
	chosen := record("shop", `deployment.web: "7"`, `deployment.web_returns: from`, `deployment.web_differ: images`,
		`deployment.web_from_main: strange:1`, `deployment.web_to_main: app:1`)
	refusesSoon(t, tenant, chosen)

	const served = "apply --server-side --force-conflicts -f -"
	for what, err := range map[string]error{
		"creates a checkpoint file": tenant.runs(t.Context(), chosen, "create -f -"),
		"applies a checkpoint file": tenant.runs(t.Context(), chosen, served),
	} {
		if err := refused(err); err != nil {
			t.Errorf("a tenant %s: %v", what, err)
		}
	}
	if err := tenant.runs(t.Context(), strings.ReplaceAll(chosen, "gitlatch-checkpoint", "settings"), "create -f -"); err != nil {
		t.Errorf("a tenant creates another ConfigMap: %v", err)
	}
	if err := writer.runs(t.Context(), record("shop", `deployment.web: "7"`), served); err != nil {
		t.Fatalf("a writer applies a checkpoint file: %v", err)
	}

	const patch = "patch configmap gitlatch-checkpoint -n shop --type=merge -p "
	for what, err := range map[string]error{
		"applies images":   tenant.runs(t.Context(), chosen, served),
		"changes a level":  tenant.runs(t.Context(), "", patch+`{"data":{"deployment.web":"70"}}`),
		"removes a level":  tenant.runs(t.Context(), "", patch+`{"data":{"deployment.web":null}}`),
		"locks the levels": tenant.runs(t.Context(), "", patch+`{"immutable":true}`),
	} {
		if err := refused(err); err != nil {
			t.Errorf("a tenant %s: %v", what, err)
		}
	}
	if err := tenant.runs(t.Context(), "", patch+`{"metadata":{"labels":{"team":"shop"},"finalizers":["example.com/kept"]}}`); err != nil {
		t.Errorf("a tenant changes the metadata: %v", err)
	}
	if err := writer.runs(t.Context(), record("shop", `deployment.web: "9"`), served); err != nil {
		t.Errorf("a writer changes a level: %v", err)
	}
	acts(t, cp, "shop", "web", "9 app:1")

	// The namespace can be removed, although no writer removes its objects.
	if err := tenant.runs(t.Context(), "", patch+`{"metadata":{"finalizers":null}}`); err != nil {
		t.Errorf("a tenant removes a finalizer: %v", err)
	}
	cp.Kubectl(t, "", "delete", "namespace", "shop", "--timeout=280s")
}

// A narrowed policy leaves the checkpoint files of other namespaces to anyone.
func TestWritersAreNarrowedToNamespaces(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	place := example
	place.Namespaces = []string{"shop", "pay"}
	cp.Apply(t, string(ways.Writers(place)), namespaceOf("shop"), namespaceOf("other"))
	tenant := user{cp, "jane"}
	refusesSoon(t, tenant, record("shop", `deployment.web: "7"`))
	if err := tenant.runs(t.Context(), record("other", `deployment.web: "7"`), "create -f -"); err != nil {
		t.Errorf("in another namespace: %v", err)
	}

	cp.Kubectl(t, "", "delete", "validatingadmissionpolicybinding", "gitlatch-writers") // a command of the runbook
	err := controlplane.Eventually(t.Context(), settle, func(ctx context.Context) error {
		return tenant.runs(ctx, record("shop", `deployment.web: "7"`), "create -f -")
	})
	if err != nil {
		t.Errorf("without the binding: %v", err)
	}
}

// A user has all rights by RBAC.
type user struct {
	cp   *controlplane.ControlPlane
	name string
}

// runs runs kubectl as the user. No argument has a space.
func (u user) runs(ctx context.Context, input, args string) error {
	_, err := u.cp.TryKubectl(ctx, input, append(strings.Fields(args), "--as="+u.name, "--as-group=system:masters")...)
	return err
}

// refusesSoon waits until the policy refuses a checkpoint file of the user: the API
// server takes some seconds to see a new policy.
func refusesSoon(t *testing.T, u user, manifest string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), settle, func(context.Context) error {
		return refused(u.runs(t.Context(), manifest, "create --dry-run=server -f -"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// refused returns nil if the policy refused a request and told the user.
func refused(err error) error {
	switch {
	case err == nil:
		return errors.New("it is allowed")
	case !strings.Contains(err.Error(), "may not write checkpoint files. Change them in git, or add this user with --writer"):
		return fmt.Errorf("it fails otherwise: %w", err)
	default:
		return nil
	}
}
