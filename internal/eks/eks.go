// Package eks logs in to an Amazon EKS cluster and samples it. DescribeCluster returns
// the address and the certificate of the API server. A token that this package signs with
// AWS credentials identifies the caller.
//
// For a cluster in another account, gitlatch assumes a role in that account. The role
// calls DescribeCluster and signs the tokens.
package eks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Options select a cluster and the site that it belongs to.
type Options struct {
	Name    string // the name of the cluster
	Region  string // "" is the region of the AWS configuration
	RoleARN string // the role to assume; "" uses the credentials directly
	ARN     string // the cluster that EKS must describe; "" is the one of this name in the account of the credentials
	Site    string // the site of the cluster; its name is part of the external ID
	// Group is the Kubernetes group that the caller should be in. Rights is the folder
	// with the manifests of its rights. Only error messages use them. "" is the group and
	// the folder of ticks.
	Group, Rights string
	Clock         func() time.Time // required
}

// A Describer is the part of the SDK's EKS client that this package uses.
type Describer interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// A Caller returns the AWS identity of the caller. The call requires no permission.
type Caller interface {
	GetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error)
}

// A Cluster is one EKS cluster. It caches its description, connections and token, so
// reuse it for all samples. It is safe for concurrent use.
type Cluster struct {
	options     Options
	config      aws.Config // in the Region of the cluster, with the role
	credentials aws.CredentialsProvider
	describer   Describer
	caller      Caller
	tokens      *tokens

	mu   sync.Mutex
	seen description
	// sampler is the sampler of the server in seen; nil before the first description.
	sampler *kube.Sampler
}

// New returns a cluster. It sends no request yet.
func New(config aws.Config, o Options) *Cluster {
	// Assume the role in the program's own region, because the cluster's region may not
	// be enabled in the program's account.
	config.Region, o.Region = cmp.Or(config.Region, o.Region), cmp.Or(o.Region, config.Region)
	if o.RoleARN != "" {
		config = assume(config, o)
	}
	caller := sts.NewFromConfig(config)
	config.Region = o.Region
	return &Cluster{
		options:     o,
		config:      config,
		credentials: config.Credentials,
		describer:   eks.NewFromConfig(config),
		caller:      caller,
		tokens:      &tokens{sign: signer(config, o.Name), clock: o.Clock},
	}
}

// Config returns the AWS configuration for other services in the account and Region of the
// cluster.
func (c *Cluster) Config() aws.Config { return c.config.Copy() }

// Sample samples the cluster, like kube.Sampler.Sample. It logs in first if necessary. It
// returns the errors of kube.Sampler and errors of AWS, which wrap the SDK's errors.
// Errors include a remedy.
func (c *Cluster) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	fleet, err := c.sample(ctx, kinds)
	if !errors.Is(err, kube.ErrUnreachable) {
		return fleet, err
	}
	// An endpoint that stopped answering may have a new address or a new certificate.
	before := c.forget()
	if ctx.Err() != nil {
		return fleet, err
	}
	after, _, describing := c.described(ctx)
	switch {
	case describing != nil:
		return workload.Fleet{}, describing
	case after.server == before.server:
		return fleet, fmt.Errorf("%w; %s", err, after.reachable())
	}
	return c.sample(ctx, kinds)
}

// ReadLevels reads the objects of gitlatch in the cluster, like kube.Sampler.ReadLevels. If
// AWS does not describe the cluster, each part is unknown.
func (c *Cluster) ReadLevels(ctx context.Context) admission.Levels {
	_, sampler, err := c.described(ctx)
	if err != nil {
		return admission.UnreadLevels(admission.Unread[int](err.Error()), err.Error())
	}
	return sampler.ReadLevels(ctx)
}

func (c *Cluster) sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	if _, err := c.credentials.Retrieve(ctx); err != nil {
		return workload.Fleet{}, c.noCredentials(err)
	}
	_, sampler, err := c.described(ctx)
	if err != nil {
		return workload.Fleet{}, err
	}
	fleet, err := sampler.Sample(ctx, kinds)
	return fleet, c.Refused(ctx, err)
}
