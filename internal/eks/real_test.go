//go:build cluster

package eks_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	stand "github.com/gitlatch/gitlatch/internal/testenv/eks"
)

// A realLogin is a real API server that sends each token to a webhook for authentication,
// like EKS.
type realLogin struct {
	aws     *stand.Server
	webhook *stand.Webhook
	cp      *controlplane.ControlPlane
	key     aws.Credentials
	now     time.Time
}

// TestRealLogin logs in to a real API server. The subtests depend on each other and run
// in order.
func TestRealLogin(t *testing.T) {
	t.Parallel()
	r := &realLogin{aws: stand.Start(t), now: time.Now()}
	r.webhook = r.aws.Authenticate(t, "prod-eu", nil)
	r.cp = controlplane.Start(t, controlplane.Options{APIServerFlags: r.webhook.Flags})
	config := r.cp.Config()
	for _, name := range []string{"prod-eu", "prod-us"} { // both have the same server
		r.aws.Describe(name, stand.Cluster{Account: account, Endpoint: config.Host, CA: config.CAData})
	}
	r.key = r.aws.Key(latch)

	t.Run("without an access entry", r.noEntry)
	r.webhook.Set(t, stand.Access{"arn:aws:iam::" + account + ":role/latch": {eks.Group}})
	t.Run("without the rights", r.noRights)
	r.cp.Apply(t, read(t, "clusterrole"), read(t, "clusterrolebinding"))
	t.Run("with both", r.samples)
	t.Run("a token for another cluster", r.otherCluster)
	t.Run("a wrong secret", r.wrongSecret)
	t.Run("a right less", r.rightLess)
}

func read(t *testing.T, manifest string) string {
	t.Helper()
	text, err := os.ReadFile("../../infra/rbac/" + manifest + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (r *realLogin) open(t *testing.T, name string, key aws.Credentials) *eks.Cluster {
	t.Helper()
	return eks.New(r.aws.Config(key), eks.Options{Name: name, Site: "prod-eu", Clock: func() time.Time { return r.now }})
}

func (r *realLogin) unauthorized(t *testing.T, c *eks.Cluster, fix string) {
	t.Helper()
	_, err := c.Sample(t.Context(), nil)
	if !errors.Is(err, kube.ErrUnauthorized) || !strings.Contains(err.Error(), ": unauthorized: ") || !strings.Contains(err.Error(), fix) {
		t.Errorf("error %v, want %q in it", err, fix)
	}
}

func (r *realLogin) noEntry(t *testing.T) {
	r.unauthorized(t, r.open(t, "prod-eu", r.key), "--cluster-name prod-eu --principal-arn arn:aws:iam::123456789012:role/latch --kubernetes-groups gitlatch:samplers")
}

func (r *realLogin) noRights(t *testing.T) {
	_, err := r.open(t, "prod-eu", r.key).Sample(t.Context(), nil)
	if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), `User "`+latch+`" cannot get`) || !strings.Contains(err.Error(), "kubectl apply -k infra/rbac") {
		t.Errorf("error %v", err)
	}
}

func (r *realLogin) samples(t *testing.T) {
	c := r.open(t, "prod-eu", r.key)
	uid := r.cp.Kubectl(t, "", "get", "namespace", "kube-system", "-o", "jsonpath={.metadata.uid}")
	for range 2 {
		err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
			fleet, err := c.Sample(ctx, nil)
			if err == nil && (fleet.Cluster != uid || len(fleet.Unread) > 0) {
				err = fmt.Errorf("fleet %+v", fleet)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// otherCluster sends a token that was signed for prod-us to prod-eu.
func (r *realLogin) otherCluster(t *testing.T) {
	r.unauthorized(t, r.open(t, "prod-us", r.key), "--cluster-name prod-us")
}

// wrongSecret signs the second token with a secret that AWS no longer has for the key.
// It makes no other request to AWS in between.
func (r *realLogin) wrongSecret(t *testing.T) {
	key := r.aws.Key(latch)
	r.now = time.Now()
	c := r.open(t, "prod-eu", key)
	if _, err := c.Sample(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	r.aws.Rotate(key)
	// The token includes the second of its signature. A second token in the same second
	// would be equal to the first, which the API server caches.
	time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
	r.now = r.now.Add(14 * time.Minute)
	r.unauthorized(t, c, ". AWS also rejects the credentials: get caller identity: SignatureDoesNotMatch: ")
}

func (r *realLogin) rightLess(t *testing.T) {
	r.cp.Apply(t, strings.Replace(read(t, "clusterrole"), "statefulsets, ", "", 1))
	c := r.open(t, "prod-eu", r.key)
	err := controlplane.Eventually(t.Context(), 3*time.Minute, func(ctx context.Context) error {
		fleet, err := c.Sample(ctx, nil)
		if err == nil && (len(fleet.Unread) != 1 || !strings.HasPrefix(fleet.Unread[0].String(), "statefulsets: forbidden: ")) {
			err = fmt.Errorf("unread %q", fleet.Unread)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
