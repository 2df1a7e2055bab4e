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

// A Config is the configuration of one site, or of the functions of a fleet.
type Config struct {
	Site       string // a DNS label; with Fleet, the name of the fleet
	Cluster    Cluster
	State      State
	Repository Repository
	Period     time.Duration // from one tick to the next
	Commit     Commit
	Alerts     Alerts
	Demand     []*Demand // each for another workload
	Drills     Drills
	GitOps     GitOps
	// Fleet is the path of the fleet file on the branch, from the root of the repository;
	// "" is the Config of one site. See Of.
	Fleet string
}

// Cluster is the location of the site's cluster. The zero value is the current context of
// the usual kubeconfig.
type Cluster struct {
	Kubeconfig string // path; "" is $KUBECONFIG, else ~/.kube/config
	Context    string // "" is the current one
	EKS        EKS    // if set, it is the cluster, and Kubeconfig and Context are empty
}

// GitOps is the cluster in which Argo CD runs, if it is another cluster than the site's:
// a hub. Without Context and EKS, it is the site's cluster.
type GitOps struct {
	Context string // of the hub, in the kubeconfig of the site's cluster
	EKS     EKS    // if set, it is the hub, and Context is empty
	// Destination is Argo CD's destination for the site's cluster: its name, its server,
	// or the ARN of an EKS cluster. "" is the server that gitlatch connects to.
	Destination string
}

// State is the storage of the site's state. One of the fields is set.
type State struct {
	Bolt     string // path of a bbolt file; its folder need not exist
	DynamoDB DynamoDB
	Memory   bool // until the end of the process
}

// Alerts is the destination of alerts. At most one of the fields is set. The zero value
// sends no alerts.
type Alerts struct {
	SNS     SNS
	Webhook Secret // the URL, which accepts JSON with a text
}

// Drills is the storage of drill reports. At most one of the fields is set. The zero
// value stores no reports.
type Drills struct {
	Dir string // a folder, which need not exist
	S3  S3
}

// Commit has the settings of commits.
type Commit struct {
	SkipCI  bool // adds [skip ci] to the message
	Author  Author
	Signing Signing
}

// Author is the author of commits; the zero value is gitlatch.
type Author struct {
	Name, Email string
}

func start() Config {
	return Config{
		Repository: Repository{Mode: Direct, Branch: "main", PolicyFile: "gitlatch.yaml"},
		Period:     5 * time.Minute,
	}
}

// Default returns the configuration of a command without a file: site "local", the
// current kube context, and state in the user's cache folder. The repository has no
// default.
func Default(repositoryURL string) (Config, error) {
	c := start()
	c.Site = "local"
	if repo.OverSSH(repositoryURL) {
		return Config{}, errors.New("repository: an SSH URL requires a deploy key and a pinned host key. Set them in a configuration, and use --config")
	}
	if err := repo.CheckURL(repositoryURL); err != nil {
		return Config{}, fmt.Errorf("repository: %w", err)
	}
	c.Repository.URL = repositoryURL
	cache, err := os.UserCacheDir()
	if err != nil {
		return Config{}, fmt.Errorf("find a folder for the state: %w. Set state.bolt.path in a configuration, and use --config", err)
	}
	c.State.Bolt = filepath.Join(cache, "gitlatch", "state.db")
	return c, nil
}

// ParseConfig parses a document of kind Config. Errors are *strict.Errors, which start
// with name and list every problem.
func ParseConfig(name string, data []byte) (Config, error) {
	c := start()
	if err := read(name, data, configDocument(&c)); err != nil {
		return Config{}, err
	}
	return c, nil
}

// configDocument returns the table of a Config. A fleet cannot set the fields that each of
// its sites sets itself.
func configDocument(c *Config) strict.Document {
	return document(KindConfig, strict.Fields(
		strict.Required("site", "name of the site, such as prod-eu; the name stays the same when you replace the cluster",
			strict.Into(&c.Site, strict.Label)),
		strict.Optional("cluster", "cluster that gitlatch samples; the default is the current context of the kubeconfig file", strict.Fields(
			strict.Optional("eks", "Amazon EKS cluster, to which gitlatch logs in with AWS credentials", eksFields(&c.Cluster.EKS)),
			strict.Optional("kubeconfig", "path of the kubeconfig file; the default is $KUBECONFIG, or ~/.kube/config if this variable is not set", file(&c.Cluster.Kubeconfig)),
			strict.Optional("context", "context in the kubeconfig file; the default is the current context", strict.Into(&c.Cluster.Context, anyText)),
		).With(
			strict.AtMostOne("eks", "kubeconfig"),
			strict.AtMostOne("eks", "context"),
		)),
		strict.Required("state", "storage of the site's state between ticks", strict.Fields(
			strict.Optional("bolt", "storage of the state in a bbolt file", strict.Fields(
				strict.Required("path", "path of the bbolt file; gitlatch creates the file if it does not exist", file(&c.State.Bolt)),
			)),
			strict.Optional("dynamodb", "storage of the state in an Amazon DynamoDB table", dynamoFields(&c.State.DynamoDB)),
			strict.Optional("memory", "storage of the state in memory; the state is lost when the command ends", strict.Fields().With(
				strict.Rule{Check: func(*strict.Reader, string) { c.State.Memory = true }},
			)),
		).With(strict.OneOf("bolt", "dynamodb", "memory"))),
		strict.Required("repository", "git repository for the checkpoint files", repositoryFields(&c.Repository)),
		strict.Optional("period", "time from one tick to the next, which must match your schedule", span(&c.Period, time.Second)),
		strict.Optional("commit", "settings for the commits of gitlatch", strict.Fields(
			strict.Optional("skipCI", "whether gitlatch adds [skip ci] to its commit messages in mode direct", yes(&c.Commit.SkipCI)),
			strict.Optional("author", "author of the commits; the default is gitlatch", strict.Fields(
				strict.Required("name", "name of the author", strict.Into(&c.Commit.Author.Name, strict.Text(`^[^<>\r\n]+$`, "a name on one line, without < and >"))),
				strict.Required("email", "email address of the author", strict.Into(&c.Commit.Author.Email, strict.Text(`^[^<>\s]+@[^<>\s]+$`, "an e-mail address"))),
			)),
			strict.Optional("signing", "SSH key that signs the commits; by default, the commits are not signed", signingFields(&c.Commit.Signing)),
		)),
		strict.Optional("alerts", "destination of the alerts; by default, gitlatch writes alerts only to its log", strict.Fields(
			strict.Optional("sns", "Amazon SNS topic that receives the alerts", snsFields(&c.Alerts.SNS)),
			strict.Optional("webhook", "webhook that receives the alerts; the webhook must accept JSON with a text field, as Slack and Mattermost do", webhookFields(&c.Alerts.Webhook)),
		).With(strict.OneOf("sns", "webhook"))),
		strict.Optional("demand", "sources of the demand on workloads, such as requests per second; by default, gitlatch measures no demand", items(&c.Demand, demandFields)),
		strict.Optional("drills", "storage of the drill reports; gitlatch compares each drill with the previous report; by default, gitlatch stores no reports", strict.Fields(
			strict.Optional("dir", "folder for the drill reports; gitlatch creates the folder if it does not exist", file(&c.Drills.Dir)),
			strict.Optional("s3", "Amazon S3 bucket for drill reports", s3Fields(&c.Drills.S3)),
		).With(strict.OneOf("dir", "s3"))),
		strict.Optional("gitops", gitopsMeaning, gitopsFields(&c.GitOps)),
		strict.Optional("fleet", "path of the fleet file on the branch; only the functions of a fleet use this field",
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

const gitopsMeaning = "hub cluster in which Argo CD runs, and the destination of the site's cluster in Argo CD"

func gitopsFields(g *GitOps) strict.Object {
	return strict.Fields(
		strict.Optional("context", "context of the hub cluster in the kubeconfig", strict.Into(&g.Context, anyText)),
		strict.Optional("eks", "hub cluster on Amazon EKS", eksFields(&g.EKS)),
		strict.Optional("destination", "destination of the site's cluster in Argo CD, as the name or server of the destination, or as the ARN of an EKS cluster", strict.Into(&g.Destination, anyText)),
	).With(strict.AtMostOne("context", "eks"), strict.AnyOf("context", "eks", "destination"))
}
