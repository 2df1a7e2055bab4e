//go:build cluster

package open_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/wiring"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// The drill function logs in to a hub on EKS with its role for the hub, in the hub's
// account, and reads the objects that it may read. The hub rejects a token for another
// cluster.
func TestAFunctionReadsAHubOfEKS(t *testing.T) {
	aws := eks.Start(t)
	const role = "arn:aws:iam::444455556666:role/gitlatch-hub"
	aws.Role(role, "gitlatch/prod-eu")
	webhook := aws.Authenticate(t, "hub", eks.Access{role: {open.Group}})
	cp := controlplane.Start(t, controlplane.Options{APIServerFlags: webhook.Flags})
	cp.Define(t, controlplane.Application)
	cp.Kubectl(t, "", "apply", "-k", "../../../infra/rbac/doctor")
	cp.Apply(t, "{apiVersion: v1, kind: Namespace, metadata: {name: argocd}}",
		"{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: shop, namespace: argocd}}")
	to := cp.Config()
	aws.Describe("hub", eks.Cluster{Account: "444455556666", Endpoint: to.Host, CA: to.CAData})
	aws.Describe("prod-eu", eks.Cluster{Account: "123456789012", Endpoint: to.Host, CA: to.CAData})
	key := aws.Key("arn:aws:sts::123456789012:assumed-role/drill/1")
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": key.AccessKeyID, "AWS_SECRET_ACCESS_KEY": key.SecretAccessKey, "AWS_SESSION_TOKEN": key.SessionToken,
		"AWS_ENDPOINT_URL_EKS": aws.URL, "AWS_ENDPOINT_URL_STS": aws.URL, "AWS_REGION": eks.Region,
	} {
		t.Setenv(name, value)
	}
	c, err := config.ParseConfig("config.yaml", fmt.Appendf(nil, `
apiVersion: gitlatch.dev/v1alpha1
kind: Config
site: prod-eu
cluster: {eks: prod-eu}
state: {memory: {}}
repository: {url: 'https://git.example.com/site.git'}
gitops: {eks: hub, roleArn: %q}
`, role))
	if err != nil {
		t.Fatal(err)
	}
	o := &wiring.Opener{Config: c, Getenv: func(string) string { return "" }, Clock: time.Now, Group: open.Group, Rights: open.Rights}
	r, err := open.Open(t.Context(), o, local.Parts{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := r.Objects.List(t.Context(), "/apis/argoproj.io/v1alpha1", "applications", "Application")
	if err != nil || len(all) != 1 {
		t.Errorf("the hub has %s (%v), want one Application", all, err)
	}
	if _, err := r.Objects.List(t.Context(), "/apis/apps/v1", "deployments", "Deployment"); err == nil {
		t.Error("the hub takes a token for the site's cluster")
	}
}
