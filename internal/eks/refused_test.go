package eks_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/kube"
	stand "github.com/gitlatch/gitlatch/internal/testenv/eks"
)

func TestAnEndpointThatIsDown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		private bool
		want    string
	}{
		"public":  {false, "its endpoint is public. Check that its public access CIDRs"},
		"private": {true, "its endpoint is private. Run the function in the cluster's network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, nil)
			described := w.endpoint.cluster()
			described.Private = c.private
			w.aws.Describe("prod-eu", described)
			w.endpoint.Close()
			if err := w.fails(t, "connection refused", c.want); !errors.Is(err, kube.ErrUnreachable) {
				t.Errorf("error %v", err)
			}
			again := serve(t)
			w.aws.Describe("prod-eu", again.cluster())
			w.sees(t)
		})
	}
}

func TestWhatAWSRefusesIsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	const role = "arn:aws:iam::210987654321:role/spoke/gitlatch"
	for name, c := range map[string]struct {
		options func(*eks.Options)
		aws     func(*world)
		want    []string
	}{
		"no such cluster": {
			func(o *eks.Options) { o.Name = "prod-us" }, nil,
			[]string{"describe EKS cluster prod-us in eu-west-1: ResourceNotFoundException: No cluster found", "account of arn:aws:iam::123456789012:role/latch", "cluster.eks", "cluster.roleArn"},
		},
		"another account's": {
			nil, func(w *world) { w.describe(func(c *stand.Cluster) { c.Account = "210987654321" }) },
			[]string{"ResourceNotFoundException", "cluster.roleArn"},
		},
		"not there yet": {
			nil, func(w *world) { w.describe(func(c *stand.Cluster) { c.Status, c.Endpoint = "CREATING", "" }) },
			[]string{"EKS cluster prod-eu in eu-west-1: its status is CREATING: it can be sampled once it is ACTIVE"},
		},
		"going away": {
			nil, func(w *world) { w.describe(func(c *stand.Cluster) { c.Status = "DELETING" }) },
			[]string{"its status is DELETING"},
		},
		"no certificate": {
			nil, func(w *world) { w.describe(func(c *stand.Cluster) { c.CA = []byte("no PEM") }) },
			[]string{"EKS cluster prod-eu in eu-west-1: ", "open the cluster: "},
		},
		"not allowed to describe": {
			nil, func(w *world) { w.aws.Deny("eks:DescribeCluster") },
			[]string{"describe EKS cluster prod-eu in eu-west-1: AccessDeniedException: User: " + latch, "allow arn:aws:iam::123456789012:role/latch eks:DescribeCluster"},
		},
		"a role that cannot be assumed": {
			func(o *eks.Options) { o.RoleARN = role }, nil,
			[]string{"assume " + role + " for EKS cluster prod-eu in eu-west-1: AccessDenied: User: " + latch, "sts:AssumeRole for this role in the policy of the function's role and in the trust policy of this role"},
		},
		"a role that wants another external id": {
			func(o *eks.Options) { o.RoleARN = role }, func(w *world) { w.aws.Role(role, "other") },
			[]string{"assume " + role, "with the external ID gitlatch/prod-eu"},
		},
		"keys that AWS does not know": {
			nil, func(w *world) { w.aws.Forget(w.key) },
			[]string{"describe EKS cluster prod-eu in eu-west-1: InvalidClientTokenId: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.options)
			if c.aws != nil {
				c.aws(w)
			}
			w.fails(t, c.want...)
			if len(w.endpoint.shown) > 0 {
				t.Error("the cluster was asked")
			}
		})
	}
}

func (w *world) describe(change func(*stand.Cluster)) {
	c := w.endpoint.cluster()
	change(&c)
	w.aws.Describe("prod-eu", c)
}

func TestAClusterThatIsUpdatedAnswersMeanwhile(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.describe(func(c *stand.Cluster) { c.Status = "UPDATING" })
	w.sees(t)
}

func TestAClusterOfAnotherAccountIsReachedThroughARole(t *testing.T) {
	t.Parallel()
	const role = "arn:aws:iam::210987654321:role/spoke/gitlatch"
	w := newWorld(t, func(o *eks.Options) { o.RoleARN = role })
	w.aws.Role(role, "gitlatch/prod-eu")
	w.describe(func(c *stand.Cluster) { c.Account = "210987654321" })
	w.sees(t)
	w.sees(t)
	if n := w.aws.Requested("sts:AssumeRole"); n != 1 {
		t.Errorf("assumed %d times", n)
	}
	if strings.Contains(w.endpoint.shown[0], base64.RawURLEncoding.EncodeToString([]byte(w.key.AccessKeyID))) {
		t.Error("the token is signed with the function's own key")
	}
	w.endpoint.refuse = metav1.StatusReasonUnauthorized
	if err := w.fails(t, "--principal-arn "+role+" "); strings.Contains(err.Error(), "has a path") {
		t.Errorf("its path is configured: %v", err)
	}
}

// Another account can have a cluster of the same name. gitlatch must not sample that one.
func TestTheARNOfAClusterNamesItsAccount(t *testing.T) {
	t.Parallel()
	own := "arn:aws:eks:" + stand.Region + ":" + account + ":cluster/prod-eu"
	newWorld(t, func(o *eks.Options) { o.ARN = own }).sees(t)
	other := strings.Replace(own, account, "210987654321", 1)
	newWorld(t, func(o *eks.Options) { o.ARN = other }).fails(t, "the login leads to "+own, "names "+other, "set roleArn")
}

func TestWhatTheClusterRefusesIsSaidWithWhatToDo(t *testing.T) {
	t.Parallel()
	t.Run("no access entry", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		w.endpoint.refuse = metav1.StatusReasonUnauthorized
		err := w.fails(t, "log in to the API server at "+w.endpoint.URL+": unauthorized: no. ",
			"aws eks create-access-entry --region eu-west-1 --cluster-name prod-eu --principal-arn arn:aws:iam::123456789012:role/latch --kubernetes-groups gitlatch:samplers. If the role has a path, the access entry requires the ARN with the path")
		if !errors.Is(err, kube.ErrUnauthorized) {
			t.Errorf("error %v", err)
		}
		w.endpoint.refuse = ""
		w.sees(t)
	})
	t.Run("keys that are no longer good", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		w.sees(t)
		w.endpoint.refuse = metav1.StatusReasonUnauthorized
		w.aws.Forget(w.key)
		w.fails(t, "unauthorized: no. AWS also rejects the credentials: get caller identity: InvalidClientTokenId: ")
	})
	t.Run("no rights", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, nil)
		w.endpoint.refuse = metav1.StatusReasonForbidden
		err := w.fails(t, "read from the API server at "+w.endpoint.URL+": forbidden: no. ", "kubectl apply -k infra/rbac", "gitlatch:samplers")
		if !errors.Is(err, kube.ErrForbidden) {
			t.Errorf("error %v", err)
		}
	})
}

func TestWithoutCredentials(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	config := w.aws.Config(w.key)
	config.Credentials = credentials.StaticCredentialsProvider{}
	w.cluster = eks.New(config, eks.Options{Name: "prod-eu", Clock: time.Now})
	w.key.SessionToken, w.key.SecretAccessKey = "-", "-"
	if _, err := w.cluster.Sample(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), "find AWS credentials: ") {
		t.Errorf("error %v", err)
	}
}
