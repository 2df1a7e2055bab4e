package eks

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/kube"
)

// describedFor is how long a Cluster uses a description, as long as its server answers.
const describedFor = time.Hour

// A description is an answer of DescribeCluster. The zero value means that
// DescribeCluster has not answered yet.
type description struct {
	server
	at      time.Time
	private bool // the endpoint answers only within the cluster's network
}

// A server has the parts of a description that connections depend on.
type server struct {
	endpoint string // URL
	ca       string // PEM
}

// answering are the statuses of a cluster that gitlatch samples. A cluster is UPDATING
// while AWS replaces its control plane, which still answers. A cluster that is being
// deleted cannot be trusted.
var answering = []types.ClusterStatus{types.ClusterStatusActive, types.ClusterStatusUpdating}

// described returns the description and the sampler of the cluster. It calls AWS only if
// the present description is too old.
func (c *Cluster) described(ctx context.Context) (description, *kube.Sampler, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.options.Clock()
	if !c.seen.at.IsZero() && now.Sub(c.seen.at) < describedFor {
		return c.seen, c.sampler, nil
	}
	next, err := c.describe(ctx)
	if err != nil {
		return description{}, nil, err
	}
	if c.sampler == nil || next.server != c.seen.server {
		c.sampler, err = kube.New(c.client(next.server), kube.Options{Site: c.options.Site, Clock: c.options.Clock})
		if err != nil {
			return description{}, nil, fmt.Errorf("%s: %w", c, err)
		}
	}
	next.at = now
	c.seen = next
	return c.seen, c.sampler, nil
}

// forget makes the next sample call DescribeCluster again, and returns the present
// description. The Cluster reuses its connections if the server has not changed.
func (c *Cluster) forget() description {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.at = time.Time{}
	return c.seen
}

func (c *Cluster) describe(ctx context.Context) (description, error) {
	answer, err := c.describer.DescribeCluster(ctx, &eks.DescribeClusterInput{Name: aws.String(c.options.Name)})
	if err != nil {
		return description{}, c.notDescribed(ctx, err)
	}
	found, err := read(answer.Cluster)
	if err != nil {
		return description{}, fmt.Errorf("%s: %w", c, err)
	}
	if seen := aws.ToString(answer.Cluster.Arn); c.options.ARN != "" && seen != c.options.ARN {
		return description{}, fmt.Errorf("the login leads to %s, and the configuration names %s: set roleArn to a role in the account of the cluster", seen, c.options.ARN)
	}
	return found, nil
}

func read(cluster *types.Cluster) (description, error) {
	switch {
	case cluster == nil:
		return description{}, errors.New("the response describes no cluster")
	case !slices.Contains(answering, cluster.Status):
		return description{}, fmt.Errorf("its status is %s: it can be sampled once it is ACTIVE", cluster.Status)
	case aws.ToString(cluster.Endpoint) == "" || cluster.CertificateAuthority == nil:
		return description{}, errors.New("it has no endpoint yet")
	}
	ca, err := base64.StdEncoding.DecodeString(aws.ToString(cluster.CertificateAuthority.Data))
	if err != nil {
		return description{}, fmt.Errorf("read its certificate authority: %w", err)
	}
	network := cluster.ResourcesVpcConfig
	return description{
		server:  server{endpoint: *cluster.Endpoint, ca: string(ca)},
		private: network != nil && !network.EndpointPublicAccess,
	}, nil
}

// client returns the configuration of a client of the server. It sends a valid token with
// each request.
func (c *Cluster) client(s server) *rest.Config {
	return &rest.Config{
		Host:            s.endpoint,
		TLSClientConfig: rest.TLSClientConfig{CAData: []byte(s.ca)},
		WrapTransport:   c.tokens.wrap,
	}
}

// Client returns the configuration of a client of the cluster, for other requests than
// the sampler's. It calls AWS only if the present description is too old.
func (c *Cluster) Client(ctx context.Context) (*rest.Config, error) {
	if _, err := c.credentials.Retrieve(ctx); err != nil {
		return nil, c.noCredentials(err)
	}
	found, _, err := c.described(ctx)
	if err != nil {
		return nil, err
	}
	return c.client(found.server), nil
}

// Refused adds a remedy to an error of a request, if the cluster refused the request. It
// returns other errors unchanged. If the cluster does not accept the token, the next
// request uses a new one.
func (c *Cluster) Refused(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, kube.ErrUnauthorized):
		c.tokens.forget()
		return c.noAccess(ctx, err)
	case errors.Is(err, kube.ErrForbidden), apierrors.IsForbidden(err):
		return fmt.Errorf("%w. Give group %s its rights in %s: run \"kubectl apply -k %s\", and check that the access entry has this group", err, cmp.Or(c.options.Group, Group), c, cmp.Or(c.options.Rights, "infra/rbac"))
	}
	return err
}
