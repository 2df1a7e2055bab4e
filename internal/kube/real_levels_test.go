//go:build cluster

package kube_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// The rights of infra/rbac and of the file of the admission policy are enough to read the
// levels of a real API server, and the objects in it equal those in git.
func TestRealLevels(t *testing.T) {
	t.Parallel()
	cp := controlplane.Start(t, controlplane.Options{})
	cp.Kubectl(t, "", "apply", "-k", filepath.Dir(roleFile))
	const group = "gitlatch:samplers"
	l := sampler(t, cp.As("gitlatch", group)).ReadLevels(t.Context())
	if !strings.Contains(l.ConfigMaps.Why(), "forbidden") || !strings.HasSuffix(l.ConfigMaps.Why(), `run "kubectl apply --server-side -f checkpoints/admission"`) {
		t.Errorf("without the Role: %q", l.ConfigMaps.Why())
	}

	file, err := admission.Policy{}.Format()
	if err != nil {
		t.Fatal(err)
	}
	cp.Apply(t, string(file))
	cp.Apply(t, string(admission.Binding("shop")), `
apiVersion: v1
kind: ConfigMap
metadata: {name: shop, namespace: gitlatch-levels, labels: {kustomize.toolkit.fluxcd.io/name: levels}}
data: {deployment.web: "200"}
`, `
apiVersion: v1
kind: ConfigMap
metadata: {name: gitlatch.site, namespace: gitlatch-levels}
data: {name: prod-eu}
`)
	declared := map[workload.ID]int32{{Namespace: "shop", Kind: workload.Deployment, Name: "web"}: 200}
	until(t, sampler(t, cp.As("gitlatch", group)), declared, "")

	found, _ := sampler(t, cp.As("gitlatch", group)).ReadLevels(t.Context()).ConfigMaps.Value()
	for _, c := range found {
		if c.Name == "shop" && (c.Labels["kustomize.toolkit.fluxcd.io/name"] != "levels" || len(c.Managers) != 1 || c.Managers[0].Time.IsZero()) {
			t.Errorf("the ConfigMap does not show who applies it: %+v", c)
		}
	}

	cp.Kubectl(t, "", "delete", "mutatingadmissionpolicybinding", admission.BindingName("shop"))
	until(t, sampler(t, cp.As("gitlatch", group)), declared, "binding gitlatch-levels.shop (absent in the cluster)")
	cp.Kubectl(t, "", "delete", "mutatingadmissionpolicy", admission.Name)
	until(t, sampler(t, cp.As("gitlatch", group)), declared, "admission policy gitlatch-levels (absent in the cluster)\nbinding gitlatch-levels.shop (absent in the cluster)")

	cp.Kubectl(t, "", "delete", "clusterrolebinding", "gitlatch-samplers")
	err = controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		l := sampler(t, cp.As("gitlatch", group)).ReadLevels(ctx)
		why := l.Bindings.Why()
		if !strings.Contains(why, "forbidden") || !strings.HasSuffix(why, `Grant list on mutatingadmissionpolicybindings: run "kubectl apply -k infra/rbac"`) {
			return fmt.Errorf("the bindings: %q", why)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// until reads the levels until the comparison has these differences.
func until(t *testing.T, s *kube.Sampler, declared map[workload.ID]int32, want string) {
	t.Helper()
	err := controlplane.Eventually(t.Context(), time.Minute, func(ctx context.Context) error {
		a := admission.CompareLevels("prod-eu", declared, nil, s.ReadLevels(ctx))
		supported, read := a.Supported.Value()
		other, known := a.Other.Value()
		if !read || !supported || !known || other != "" {
			return fmt.Errorf("supported %t %t, site %q %t", supported, read, other, known)
		}
		var got []string
		for _, subject := range admission.Subjects() {
			all, read := a.Differences[subject].Value()
			if !read {
				return errors.New(a.Differences[subject].Why())
			}
			for _, d := range all {
				got = append(got, d.String())
			}
		}
		if strings.Join(got, "\n") != want {
			return fmt.Errorf("differences: %q, want %q", got, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
