package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitlatch/gitlatch/internal/repo"
	"github.com/gitlatch/gitlatch/internal/yamldoc"
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
	Standby    Standby
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
}

// Standby is the cluster in which a rebuild runs, if it is another cluster than the site's.
// Without Context and EKS, it is the site's cluster.
type Standby struct {
	Context string // in the kubeconfig of the site's cluster; "" logs in to EKS
	EKS     EKS    // names the account and the Region of the quotas and subnets
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
// current kube context, and state in the user's cache folder. Each repository has its own
// state file. The repository has no default.
func Default(repositoryURL string) (Config, error) {
	c := start()
	c.Site = "local"
	if repo.OverSSH(repositoryURL) {
		return Config{}, errors.New("repository: an SSH URL requires a private key and the keys of the host. Set repository.credentialFile in a configuration, and use --config")
	}
	if _, err := repo.ParseHost(repositoryURL); err != nil {
		return Config{}, fmt.Errorf("repository: %w", err)
	}
	c.Repository.URL = repositoryURL
	cache, err := os.UserCacheDir()
	if err != nil {
		return Config{}, fmt.Errorf("find a folder for the state: %w. Set state.bolt.path in a configuration, and use --config", err)
	}
	c.State.Bolt = filepath.Join(cache, "gitlatch", stateFile(repositoryURL))
	return c, nil
}

// stateFile returns the name of the default state file for the URL or path of a repository.
func stateFile(repositoryURL string) string {
	if !strings.Contains(repositoryURL, "://") {
		repositoryURL, _ = filepath.Abs(repositoryURL) // it is relative if the working directory is gone
	}
	return fmt.Sprintf("%s-%.4x.db", strings.TrimSuffix(path.Base(repositoryURL), ".git"), sha256.Sum256([]byte(repositoryURL)))
}

// ParseConfig parses a document of kind Config. Errors are *yamldoc.Errors, which start
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
func configDocument(c *Config) yamldoc.Document {
	return document(KindConfig, yamldoc.Fields(
		yamldoc.Required("site", "name of the site, such as prod-eu; a site keeps its name when you replace its cluster",
			yamldoc.Into(&c.Site, yamldoc.Label, WrongSite)),
		yamldoc.Optional("cluster", "Kubernetes cluster that gitlatch samples; by default, gitlatch uses the current context of the kubeconfig file", yamldoc.Fields(
			yamldoc.Optional("eks", "Amazon EKS cluster that gitlatch accesses with AWS credentials", eksFields(&c.Cluster.EKS)),
			yamldoc.Optional("kubeconfig", "path of the kubeconfig file; the default is the path in `$KUBECONFIG`, or `~/.kube/config` if `$KUBECONFIG` is not set", file(&c.Cluster.Kubeconfig)),
			yamldoc.Optional("context", "name of a context in the kubeconfig file; the default is the current context of the kubeconfig file", yamldoc.Into(&c.Cluster.Context, anyText)),
		).With(
			yamldoc.AtMostOne("eks", "kubeconfig"),
			yamldoc.AtMostOne("eks", "context"),
		)),
		yamldoc.Required("state", "storage for the state that gitlatch saves between ticks", yamldoc.Fields(
			yamldoc.Optional("bolt", "local bbolt file that stores the state of the site", yamldoc.Fields(
				yamldoc.Required("path", "path of the bbolt file; gitlatch creates the file if it does not exist", file(&c.State.Bolt)),
			)),
			yamldoc.Optional("dynamodb", "Amazon DynamoDB table that stores the state of the site", dynamoFields(&c.State.DynamoDB)),
			yamldoc.Optional("memory", "in-memory storage for the state of the site; gitlatch loses the state when the command ends", yamldoc.Fields().With(
				yamldoc.Rule{Check: func(*yamldoc.Reader, string) { c.State.Memory = true }},
			)),
		).With(yamldoc.OneOf("bolt", "dynamodb", "memory"))),
		yamldoc.Required("repository", "git repository that contains the policy and the checkpoint files", repositoryFields(&c.Repository)),
		yamldoc.Optional("period", "time between two ticks; set this field to the interval of the schedule that starts the ticks", span(&c.Period, time.Second)),
		yamldoc.Optional("commit", "settings for the commits that gitlatch creates", yamldoc.Fields(
			yamldoc.Optional("skipCI", "whether gitlatch adds `[skip ci]` to the messages of direct commits; the commits of a pull request never contain `[skip ci]`", yes(&c.Commit.SkipCI)),
			yamldoc.Optional("author", "author of the commits that gitlatch creates; the default author is gitlatch", yamldoc.Fields(
				yamldoc.Required("name", "name of the commit author", yamldoc.Into(&c.Commit.Author.Name, yamldoc.Text(`^[^<>\r\n]+$`, "a name on one line, without < and >"))),
				yamldoc.Required("email", "email address of the commit author", yamldoc.Into(&c.Commit.Author.Email, yamldoc.Text(`^[^<>\s]+@[^<>\s]+$`, "an e-mail address"))),
			)),
			yamldoc.Optional("signing", "SSH key that gitlatch uses to sign its commits; by default, gitlatch does not sign commits", signingFields(&c.Commit.Signing)),
		)),
		yamldoc.Optional("alerts", "destination of the alerts; by default, gitlatch writes alerts only to its log", yamldoc.Fields(
			yamldoc.Optional("sns", "Amazon SNS topic that receives the alerts", snsFields(&c.Alerts.SNS)),
			yamldoc.Optional("webhook", "webhook that receives the alerts; the webhook must accept a JSON object with the field `text`, like the webhooks of Slack and Mattermost", webhookFields(&c.Alerts.Webhook)),
		).With(yamldoc.OneOf("sns", "webhook"))),
		yamldoc.Optional("demand", "metrics that measure the demand on workloads, such as requests per second; by default, gitlatch does not measure demand", items(&c.Demand, demandFields)),
		yamldoc.Optional("drills", "storage for drill reports; gitlatch compares the result of each drill with the previous report; by default, gitlatch does not store drill reports", yamldoc.Fields(
			yamldoc.Optional("dir", "path of the folder for drill reports; gitlatch creates the folder if it does not exist", file(&c.Drills.Dir)),
			yamldoc.Optional("s3", "Amazon S3 bucket for drill reports", s3Fields(&c.Drills.S3)),
		).With(yamldoc.OneOf("dir", "s3"))),
		yamldoc.Optional("gitops", gitopsMeaning, gitopsFields(&c.GitOps)),
		yamldoc.Optional("standby", "cluster in which a rebuild of the site runs; the default is the site's cluster", yamldoc.Fields(
			yamldoc.Optional("context", "name of the kubeconfig context for the standby cluster; by default, gitlatch logs in to the cluster in `eks`", yamldoc.Into(&c.Standby.Context, anyText)),
			yamldoc.Optional("eks", "Amazon EKS cluster that is the standby cluster", eksFields(&c.Standby.EKS)),
		).With(yamldoc.AnyOf("context", "eks"))),
		yamldoc.Optional("fleet", "path of the fleet file on the branch; set this field only in the configuration of a fleet",
			yamldoc.Into(&c.Fleet, anyText, wrongPolicyFile)),
	).With(
		signable(&c.Repository),
		yamldoc.Rule{Check: c.measurable},
		yamldoc.AtMostOne("fleet", "cluster"),
		yamldoc.AtMostOne("fleet", "demand"),
		yamldoc.AtMostOne("fleet", "drills"),
		yamldoc.AtMostOne("fleet", "gitops"),
		yamldoc.AtMostOne("fleet", "standby"),
	))
}

const gitopsMeaning = "hub cluster that runs Argo CD; by default, gitlatch looks for Applications in the site's cluster"

func gitopsFields(g *GitOps) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("context", "name of the kubeconfig context for the hub cluster that runs Argo CD", yamldoc.Into(&g.Context, anyText)),
		yamldoc.Optional("eks", "Amazon EKS cluster that runs Argo CD", eksFields(&g.EKS)),
	).With(yamldoc.AtMostOne("context", "eks"), yamldoc.AnyOf("context", "eks"))
}
