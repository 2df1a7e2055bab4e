package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/strict"
)

// A Config is how one site is run, or the functions of a fleet.
type Config struct {
	Site       string // a DNS label; with Fleet the fleet's name
	Cluster    Cluster
	State      State
	Repository Repository
	Period     time.Duration // from one tick to the next
	Commit     Commit
	Alerts     Alerts
	Demand     []*Demand // each of another workload
	Drills     Drills
	GitOps     GitOps
	// Fleet is the file on the branch that lists the sites of a fleet, from the root
	// of the repository; "" is a Config of one site. See Of.
	Fleet string
}

// Cluster is where the site's cluster is found. The zero value is the current
// context of the usual kubeconfig.
type Cluster struct {
	Kubeconfig string // path; "" is $KUBECONFIG, else ~/.kube/config
	Context    string // "" is the current one
	EKS        EKS    // set, it is the cluster, and the two before are not
}

// GitOps is the cluster that Argo CD runs in, if it is another than the site's: a hub.
// Without Context and EKS it is the site's own.
type GitOps struct {
	Context string // of the hub, in the kubeconfig that has the site's cluster
	EKS     EKS    // set, it is the hub, and Context is not
	// Destination is the destination by which Argo CD knows the site's cluster: its
	// name, its server, or the ARN of a cluster of EKS. "" is the server by which
	// gitlatch reaches it.
	Destination string
}

// State is where the site's state is kept; one of the fields is set.
type State struct {
	Bolt     string // path of a bbolt file; its folder may not exist yet
	DynamoDB DynamoDB
	Memory   bool // kept for one run only
}

// Alerts is where people are told of what needs them; at most one of the fields is
// set. The zero value is nowhere.
type Alerts struct {
	SNS     SNS
	Webhook Secret // the URL, which takes JSON with a text
}

// Drills is where the reports of drills are kept; at most one of the fields is
// set. The zero value is nowhere.
type Drills struct {
	Dir string // a folder; it may not exist yet
	S3  S3
}

// Commit is how commits are made.
type Commit struct {
	SkipCI  bool // adds [skip ci] to the message
	Author  Author
	Signing Signing
}

// Author is who commits are made as; the zero value is gitlatch itself.
type Author struct {
	Name, Email string
}

func start() Config {
	return Config{
		Repository: Repository{Mode: Direct, Branch: "main", PolicyFile: "gitlatch.yaml"},
		Period:     5 * time.Minute,
	}
}

// Default returns what the command runs by without a file: site "local", the
// current kube context, state in the user's cache folder, and the repository
// named, which there is no default for.
func Default(repositoryURL string) (Config, error) {
	c := start()
	c.Site = "local"
	if repo.OverSSH(repositoryURL) {
		return Config{}, errors.New("repository: must not be one over SSH here, which needs a deploy key and a pinned host key: write a configuration that names them")
	}
	if err := repo.CheckURL(repositoryURL); err != nil {
		return Config{}, fmt.Errorf("repository: %w", err)
	}
	c.Repository.URL = repositoryURL
	cache, err := os.UserCacheDir()
	if err != nil {
		return Config{}, fmt.Errorf("find a folder for the state: %w; write a configuration that names one", err)
	}
	c.State.Bolt = filepath.Join(cache, "gitlatch", "state.db")
	return c, nil
}

// ParseConfig reads a document of kind Config. The name stands in errors, which
// are *strict.Errors and hold all that is wrong.
func ParseConfig(name string, data []byte) (Config, error) {
	c := start()
	if err := read(name, data, configDocument(&c)); err != nil {
		return Config{}, err
	}
	return c, nil
}

// configDocument is the table of a Config. What a fleet's sites have each of its
// own is not the fleet's.
func configDocument(c *Config) strict.Document {
	return document(KindConfig, strict.Fields(
		strict.Required("site", "the name that a cluster fills, such as prod-eu; it outlives clusters",
			strict.Into(&c.Site, strict.Label)),
		strict.Optional("cluster", "the cluster to sample; without it the current kube context", strict.Fields(
			strict.Optional("eks", "a cluster of Amazon EKS, which AWS credentials log in to", eksFields(&c.Cluster.EKS)),
			strict.Optional("kubeconfig", "the kubeconfig file", file(&c.Cluster.Kubeconfig)),
			strict.Optional("context", "the context of the kubeconfig", strict.Into(&c.Cluster.Context, anyText)),
		).With(
			strict.AtMostOne("eks", "kubeconfig"),
			strict.AtMostOne("eks", "context"),
		)),
		strict.Required("state", "where the state is kept between ticks", strict.Fields(
			strict.Optional("bolt", "a bbolt file", strict.Fields(
				strict.Required("path", "the file, made where it is not there", file(&c.State.Bolt)),
			)),
			strict.Optional("dynamodb", "a table of Amazon DynamoDB", dynamoFields(&c.State.DynamoDB)),
			strict.Optional("memory", "nowhere: for trying things, each run starts anew", strict.Fields().With(
				strict.Rule{Check: func(*strict.Reader, string) { c.State.Memory = true }},
			)),
		).With(strict.OneOf("bolt", "dynamodb", "memory"))),
		strict.Required("repository", "the git repository that checkpoints are committed to", repositoryFields(&c.Repository)),
		strict.Optional("period", "the time from one tick to the next, as the schedule has it", span(&c.Period, time.Second)),
		strict.Optional("commit", "how commits are made", strict.Fields(
			strict.Optional("skipCI", "adds [skip ci] to each message", yes(&c.Commit.SkipCI)),
			strict.Optional("author", "who commits are made as", strict.Fields(
				strict.Required("name", "the name", strict.Into(&c.Commit.Author.Name, strict.Text(`^[^<>\r\n]+$`, "a name on one line, without < and >"))),
				strict.Required("email", "the e-mail address", strict.Into(&c.Commit.Author.Email, strict.Text(`^[^<>\s]+@[^<>\s]+$`, "an e-mail address"))),
			)),
			strict.Optional("signing", "the key that commits are signed by; without it they are not", signingFields(&c.Commit.Signing)),
		)),
		strict.Optional("alerts", "where people are told of what needs them; without it nowhere but in the log", strict.Fields(
			strict.Optional("sns", "a topic of Amazon SNS", snsFields(&c.Alerts.SNS)),
			strict.Optional("webhook", "a URL that takes JSON with a text, such as an incoming webhook of Slack or Mattermost", webhookFields(&c.Alerts.Webhook)),
		).With(strict.OneOf("sns", "webhook"))),
		strict.Optional("demand", "where it is measured how much is asked of workloads; without it that is not known", items(&c.Demand, demandFields)),
		strict.Optional("drills", "where the reports of drills are kept, and the last one is found; without it nowhere", strict.Fields(
			strict.Optional("dir", "a folder, made where it is not there", file(&c.Drills.Dir)),
			strict.Optional("s3", "a bucket of Amazon S3", s3Fields(&c.Drills.S3)),
		).With(strict.OneOf("dir", "s3"))),
		strict.Optional("gitops", gitopsMeaning, gitopsFields(&c.GitOps)),
		strict.Optional("fleet", "the file on the branch that lists the sites of a fleet, whose functions this configures; without it this is one site's",
			strict.Into(&c.Fleet, anyText, wrongPolicyFile)),
	).With(
		signable(),
		strict.Rule{Check: c.measurable},
		strict.AtMostOne("fleet", "cluster"),
		strict.AtMostOne("fleet", "demand"),
		strict.AtMostOne("fleet", "drills"),
		strict.AtMostOne("fleet", "gitops"),
	))
}

const gitopsMeaning = "where Argo CD runs, if in another cluster, a hub, and the destination by which it knows the site's cluster"

func gitopsFields(g *GitOps) strict.Object {
	return strict.Fields(
		strict.Optional("context", "the context of the hub in the kubeconfig", strict.Into(&g.Context, anyText)),
		strict.Optional("eks", "the hub as a cluster of Amazon EKS", eksFields(&g.EKS)),
		strict.Optional("destination", "the destination by which Argo CD knows the site's cluster: its name, its server or the ARN of an EKS cluster", strict.Into(&g.Destination, anyText)),
	).With(strict.AtMostOne("context", "eks"), strict.AnyOf("context", "eks", "destination"))
}
