// Package wiring opens the parts of a tick from a configuration: the cluster, the state,
// the repository and the destination of alerts. Package local builds the tick from them.
package wiring

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"k8s.io/client-go/rest"

	"github.com/gitlatch/gitlatch/internal/alert"
	alerts "github.com/gitlatch/gitlatch/internal/alert/sns"
	"github.com/gitlatch/gitlatch/internal/alert/webhook"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/kube/kubeconfig"
	"github.com/gitlatch/gitlatch/internal/latch"
	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
	"github.com/gitlatch/gitlatch/internal/latch/mem"
	"github.com/gitlatch/gitlatch/internal/repo"
	cc "github.com/gitlatch/gitlatch/internal/repo/codecommit"
	"github.com/gitlatch/gitlatch/internal/repo/github"
	"github.com/gitlatch/gitlatch/internal/repo/gitlab"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire"
	"github.com/gitlatch/gitlatch/internal/repo/gitwire/wire"
	"github.com/gitlatch/gitlatch/internal/tick"
	"github.com/gitlatch/gitlatch/internal/wiring/local"
)

// An Opener opens the parts of a configuration. Opening a part sends no request: an error
// of a missing part comes with its first use. The Opener reuses the AWS configuration and
// a state in memory for each Open.
type Opener struct {
	Config config.Config
	Getenv func(string) string
	Clock  func() time.Time
	// Group is the Kubernetes group for the program, and Rights the folder with its
	// rights; "" is the group and the folder of ticks.
	Group, Rights string
	// ReadOnly is true if the repository is only read. The Opener then requests a token
	// of the App that cannot write.
	ReadOnly bool
	// Bolt opens a state file; nil in a program without permanent files.
	Bolt func(path string) (latch.Store, error)

	fleet  *Opener // opener of the fleet of this member; nil for a single site
	memory latch.Store
	once   sync.Once
	aws    aws.Config
	awsErr error
	login  *github.Login // login that members share; nil before the first
	held   *heldKeys     // secrets that members share; nil before the first
}

// Of returns the opener of a member. o is the opener of the fleet. Members share the AWS
// configuration and its connections, a state in memory, and the login to GitHub, because
// an App gets a limited number of tokens an hour. Goroutines must not open members
// concurrently.
func (o *Opener) Of(m config.Member) *Opener { return o.with(o.Config.Of(m)) }

// At returns the opener of the same site with another cluster.
func (o *Opener) At(c config.Cluster) *Opener {
	of := o.Config
	of.Cluster = c
	return o.with(of)
}

// with returns the opener of another configuration, with the same shared parts.
func (o *Opener) with(c config.Config) *Opener {
	return &Opener{Config: c, Getenv: o.Getenv, Clock: o.Clock, Group: o.Group, Rights: o.Rights, ReadOnly: o.ReadOnly, Bolt: o.Bolt, fleet: o}
}

// Forget makes members log in again. Call it after a login failed: its secret may have
// been rotated.
func (o *Opener) Forget() {
	o.login = nil
	o.held = nil
}

// Owner returns a unique name of a run as the owner of a lease. what names the program. A
// random part is necessary, because the id of a request or of a process can repeat.
func Owner(what string) string { return what + "/" + crand.Text() }

// Open opens all parts of the site except Owner, which the run sets. It opens the cluster
// first: if that fails, it does not create a state file.
func (o *Opener) Open(ctx context.Context) (local.Parts, error) {
	p := local.Parts{Clock: o.Clock}
	if err := o.open(ctx, &p); err != nil {
		return local.Parts{}, errors.Join(err, p.Close())
	}
	return p, nil
}

func (o *Opener) open(ctx context.Context, p *local.Parts) (err error) {
	cluster, err := o.Cluster(ctx)
	if err != nil {
		return fmt.Errorf("cluster: %w", err)
	}
	p.Sampler = o.measured(ctx, cluster)
	p.Levels = cluster
	if p.Store, err = o.Store(ctx); err != nil {
		return err
	}
	if p.Alerts, err = o.Alerts(ctx); err != nil {
		return err
	}
	p.Repository, p.Proposals, err = o.Repository(ctx)
	return err
}

// A Cluster samples a cluster and reads its levels.
type Cluster interface {
	tick.Sampler
	tick.Levels
}

// Cluster opens the cluster.
func (o *Opener) Cluster(ctx context.Context) (Cluster, error) {
	c := o.Config.Cluster
	if o.Config.Fleet != "" {
		return nil, fmt.Errorf("fleet: this configuration is for a fleet, and %s lists its sites. Choose one with --site", o.Config.Fleet)
	}
	if c.EKS != (config.EKS{}) {
		return o.EKS(ctx)
	}
	found, _, err := o.Client(ctx)
	if err != nil {
		return nil, err
	}
	return kube.New(found, kube.Options{Site: o.Config.Site, Clock: o.Clock})
}

// Client returns the REST configuration of the cluster, for requests other than samples.
// If the cluster is an EKS cluster, it also returns it, for requests to AWS.
func (o *Opener) Client(ctx context.Context) (found *rest.Config, of *eks.Cluster, err error) {
	c := o.Config.Cluster
	if c.Context == local.Simulated {
		return nil, nil, fmt.Errorf("context %q: the demo only simulated this cluster. Run \"gitlatch log\", which needs no cluster, or \"gitlatch preview\" on your own cluster", c.Context)
	}
	if c.EKS == (config.EKS{}) {
		found, err = kubeconfig.Load(kubeconfig.Choice{Path: c.Kubeconfig, Context: c.Context})
	} else if of, err = o.EKS(ctx); err == nil {
		found, err = of.Client(ctx)
	}
	return found, of, err
}

// EKS opens the EKS cluster of the configuration, which must have one.
func (o *Opener) EKS(ctx context.Context) (*eks.Cluster, error) {
	c := o.Config.Cluster
	own, err := o.load(ctx)
	if err == nil && own.Region == "" && c.EKS.Region == "" {
		err = noRegion("cluster.eks")
	}
	if err != nil {
		return nil, err
	}
	return eks.New(own, eks.Options{
		Name:    c.EKS.Name,
		Region:  c.EKS.Region,
		RoleARN: c.EKS.RoleARN,
		ARN:     c.EKS.ARN,
		Site:    o.Config.Site,
		Group:   o.Group,
		Rights:  o.Rights,
		Clock:   o.Clock,
	}), nil
}

// Store opens the state. A state in memory lives as long as the Opener.
func (o *Opener) Store(ctx context.Context) (latch.Store, error) {
	switch s := o.Config.State; {
	case s.DynamoDB != "":
		own, err := o.In(ctx, "state.dynamodb", regionOf(s.DynamoDB))
		if err != nil {
			return nil, err
		}
		return dynamo.Open(dynamo.Options{Table: s.DynamoDB, Client: dynamodb.NewFromConfig(own)}), nil
	case s.Bolt != "" && o.Bolt == nil:
		return nil, errors.New("state.bolt: a function keeps no files between runs. Use state.dynamodb, or state.memory for a test")
	case s.Bolt != "":
		return o.Bolt(s.Bolt)
	}
	if o.fleet != nil {
		return o.fleet.Store(ctx)
	}
	if o.memory == nil {
		o.memory = mem.New()
	}
	return o.memory, nil
}

// Alerts opens the destination of alerts; nil if the configuration has no alerts.
func (o *Opener) Alerts(ctx context.Context) (tick.Alerts, error) {
	if topic := o.Config.Alerts.TopicARN; topic != "" {
		own, err := o.In(ctx, "alerts.topicArn", regionOf(topic))
		if err != nil {
			return nil, err
		}
		return alerts.Topic{ARN: topic, Client: sns.NewFromConfig(own)}, nil
	}
	switch at := o.Config.Alerts.Webhook; {
	case at == config.Secret{}:
		return nil, nil
	case at.Name != "":
		return secretHook{o}, nil
	}
	return o.webhook(ctx)
}

// webhook opens the webhook at the configured URL.
func (o *Opener) webhook(ctx context.Context) (tick.Alerts, error) {
	url, err := o.reveal(ctx, "alerts.webhook", o.Config.Alerts.Webhook)
	if err != nil {
		return nil, err
	}
	hook, err := webhook.Open(url)
	if err != nil {
		return nil, fmt.Errorf("alerts.webhook: the URL %w", err)
	}
	return hook, nil
}

// A secretHook reads the URL of the webhook from Secrets Manager for each alert. A tick does not
// fail because of a secret that only an alert needs.
type secretHook struct{ of *Opener }

// Send posts an alert.
func (h secretHook) Send(ctx context.Context, n alert.Notice) error {
	hook, err := h.of.webhook(ctx)
	if err != nil {
		return err
	}
	return hook.Send(ctx, n)
}

// Repository opens the repository and its proposals. The proposals are nil if the host
// does not have pull requests.
func (o *Opener) Repository(ctx context.Context) (repo.Repository, repo.Proposals, error) {
	r, proposals, err := o.repository(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open the repository of site %s: %w", o.Config.Site, err)
	}
	return r, proposals, nil
}

func (o *Opener) repository(ctx context.Context) (repo.Repository, repo.Proposals, error) {
	switch host := o.Config.Repository.Host(); host.Kind {
	case repo.CodeCommit:
		return o.codecommit(ctx, host)
	case repo.GitHub:
		return o.github(ctx, host)
	default:
		return o.git(ctx, host)
	}
}

func (o *Opener) git(ctx context.Context, host repo.Host) (repo.Repository, repo.Proposals, error) {
	options, err := local.GitOptions(o.Config, o.Getenv)
	if err != nil {
		return nil, nil, err
	}
	read := o.keys(gitwire.Keys{Auth: options.Auth, SSH: options.SSH, Signer: options.Signer})
	if o.inSecrets() {
		options.Keys = read
	}
	r, err := gitwire.Open(options)
	if err != nil || host.Kind != repo.GitLab {
		return r, nil, err
	}
	proposals, err := o.gitlab(host, options, r, read)
	return r, proposals, err
}

func (o *Opener) gitlab(host repo.Host, git gitwire.Options, r *gitwire.Repository, read readKeys) (repo.Proposals, error) {
	transport, err := wire.Trusting(git.CABundle)
	if err != nil {
		return nil, fmt.Errorf("repository.caFile: %s %w", o.Config.Repository.CAFile, err)
	}
	proposals, err := gitlab.Open(gitlab.Options{
		URL:        host.Server,
		Repository: git.URL,
		Branch:     git.Branch,
		Token: func(ctx context.Context) (string, error) {
			keys, err := read(ctx)
			return keys.Auth.Password, err
		},
		Transport: transport,
		Git:       r,
	})
	if err != nil {
		return nil, fmt.Errorf("repository.url: %w", err)
	}
	return proposals, nil
}

// shared returns the opener with the logins that members share: the fleet file is in the
// same repository as the files of its members. It returns nil for a single site.
func (o *Opener) shared() *Opener {
	if o.Config.Fleet != "" {
		return o
	}
	return o.fleet
}

func (o *Opener) codecommit(ctx context.Context, host repo.Host) (repo.Repository, repo.Proposals, error) {
	c := o.Config.Repository
	own, err := o.In(ctx, "repository.url", host.Region)
	if err != nil {
		return nil, nil, err
	}
	r, err := cc.Open(cc.Options{
		Repository: host.Name,
		Branch:     c.Branch,
		Client:     codecommit.NewFromConfig(own),
		Region:     own.Region,
		Author:     local.Author(o.Config.Commit.Author),
	})
	if err != nil {
		return nil, nil, err
	}
	return r, r, nil
}

func (o *Opener) github(ctx context.Context, host repo.Host) (repo.Repository, repo.Proposals, error) {
	c := o.Config.Repository
	bundle, err := local.CABundle(c)
	if err != nil {
		return nil, nil, err
	}
	transport, err := wire.Trusting(bundle)
	if err != nil {
		return nil, nil, fmt.Errorf("repository.caFile: %s %w", c.CAFile, err)
	}
	signer, err := local.Signer(o.Config.Commit.Signing, o.Getenv)
	if err != nil {
		return nil, nil, err
	}
	options := github.Options{
		Repository: host.Name,
		APIURL:     apiOf(host.Server),
		Secret:     o.credentials,
		ReadOnly:   o.ReadOnly,
		Git: gitwire.Options{
			Branch:    c.Branch,
			Transport: transport,
			MaxBytes:  int64(c.MaxBytes),
			Author:    local.Author(o.Config.Commit.Author),
			Signer:    signer,
		},
	}
	if o.Config.Commit.Signing.InVault() {
		options.Git.Keys = o.keys(gitwire.Keys{})
	}
	if shared := o.shared(); shared != nil {
		if shared.login == nil {
			if shared.login, err = github.NewLogin(options); err != nil {
				return nil, nil, fmt.Errorf("repository: %w", err)
			}
		}
		options.Login = shared.login
	}
	r, proposals, err := github.Open(options)
	if err != nil {
		return nil, nil, fmt.Errorf("repository: %w", err)
	}
	return r, proposals, nil
}
