// Package eks logs in to a cluster of Amazon EKS and samples it: DescribeCluster
// says where the API server is and what certificate it has, and a token that is
// signed here with AWS credentials says who asks.
//
// A cluster of another account is reached through a role of that account, which
// describes it and signs for it.
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

	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/workload"
)

// Options say which cluster is meant, and for which site it is sampled.
type Options struct {
	Name       string // the cluster's
	Region     string // "" is that of the AWS configuration
	RoleARN    string // assumed first; "" is none
	ExternalID string // that the role wants shown; "" is none
	Site       string // the site that the cluster fills
	// Group is the group of Kubernetes that the one who asks should be of, and
	// Rights the folder with its rights, as errors name them; "" is what ticks have.
	Group, Rights string
	Clock         func() time.Time // required
}

// A Describer is what is needed of the SDK's client of EKS.
type Describer interface {
	DescribeCluster(context.Context, *eks.DescribeClusterInput, ...func(*eks.Options)) (*eks.DescribeClusterOutput, error)
}

// A Caller tells whom AWS takes the caller for, which needs no permission.
type Caller interface {
	GetCallerIdentity(context.Context, *sts.GetCallerIdentityInput, ...func(*sts.Options)) (*sts.GetCallerIdentityOutput, error)
}

// A Cluster is one cluster of EKS. It keeps its description, its connections and
// its token, so keep it from one look to the next. It is safe for concurrent
// use.
type Cluster struct {
	options     Options
	credentials aws.CredentialsProvider
	describer   Describer
	caller      Caller
	tokens      *tokens

	mu   sync.Mutex
	seen description
	// sampler is of the server in seen; nil before the first description.
	sampler *kube.Sampler
}

// New returns a cluster. It asks nothing of AWS or of the cluster yet.
func New(config aws.Config, o Options) *Cluster {
	// A role is assumed from the program's own region: the cluster's may be one
	// that is not enabled for the program's account.
	config.Region, o.Region = cmp.Or(config.Region, o.Region), cmp.Or(o.Region, config.Region)
	if o.RoleARN != "" {
		config = assume(config, o)
	}
	caller := sts.NewFromConfig(config)
	config.Region = o.Region
	return &Cluster{
		options:     o,
		credentials: config.Credentials,
		describer:   eks.NewFromConfig(config),
		caller:      caller,
		tokens:      &tokens{sign: signer(config, o.Name), clock: o.Clock},
	}
}

// Sample takes one look at the cluster, as kube.Sampler.Sample does. It logs in
// first where that is needed. Errors say what to do about them; besides those of
// kube.Sampler there are those of AWS, which wrap the SDK's.
func (c *Cluster) Sample(ctx context.Context, kinds workload.Kinds) (workload.Fleet, error) {
	fleet, err := c.sample(ctx, kinds)
	if !errors.Is(err, kube.ErrUnreachable) {
		return fleet, err
	}
	// An endpoint that answers no more may have moved, or show a new certificate.
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
