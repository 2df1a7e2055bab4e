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
	GitOps     Cluster // in which Argo CD runs: a hub; the zero value is the site's cluster
	Standby    Cluster // in which a rebuild runs; the zero value is the site's cluster
	// Fleet is the path of the fleet file on the branch, from the root of the repository;
	// "" is the Config of one site. See Of.
	Fleet string
}

// Cluster is the location of a cluster. The zero value is the current context of the usual
// kubeconfig.
type Cluster struct {
	Kubeconfig string // path; "" is $KUBECONFIG, else ~/.kube/config
	Context    string // "" is the current one
	EKS        EKS    // if set, it is the cluster, and Kubeconfig and Context are empty
}

// State is the storage of the site's state. One of the fields is set.
type State struct {
	Bolt     string // path of a bbolt file; its folder need not exist
	DynamoDB string // name or ARN of a table
	Memory   bool   // until the end of the process
}

// Alerts is the destination of alerts. At most one of the fields is set. The zero value
// sends no alerts.
type Alerts struct {
	TopicARN string // of a topic of Amazon SNS
	Webhook  Secret // the URL, which accepts JSON with a text
}

// Drills is the storage of drill reports. At most one of the fields is set. The zero
// value stores no reports.
type Drills struct {
	Dir    string // a folder, which need not exist
	Bucket string // of Amazon S3
	Prefix string // of all keys in Bucket, with a slash at its end; may be ""
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
		return Config{}, errors.New("repository: an SSH URL requires a private key and the keys of the host. Set repository.credential in a configuration, and use --config")
	}
	if _, err := repo.ParseHost(repositoryURL); err != nil {
		return Config{}, fmt.Errorf("repository: %w", err)
	}
	c.Repository.URL = repositoryURL
	cache, err := os.UserCacheDir()
	if err != nil {
		return Config{}, fmt.Errorf("find a folder for the state: %w. Set state.bolt in a configuration, and use --config", err)
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
		yamldoc.Optional("cluster", "Kubernetes cluster that gitlatch samples; by default, gitlatch uses the current context of the kubeconfig file", clusterFields(&c.Cluster)),
		yamldoc.Required("state", "storage for the state that gitlatch saves between ticks", yamldoc.Fields(
			yamldoc.Optional("bolt", "path of the local bbolt file that stores the state of the site; if the bbolt file does not exist, gitlatch creates it", file(&c.State.Bolt)),
			yamldoc.Optional("dynamodb", "name or ARN of the Amazon DynamoDB table that stores the state of the site", yamldoc.Into(&c.State.DynamoDB, table)),
			yamldoc.Optional("memory", "in-memory storage for the state of the site; gitlatch loses the state when the command ends", yamldoc.Fields().With(
				yamldoc.Rule{Check: func(*yamldoc.Reader, string) { c.State.Memory = true }},
			)),
		).With(yamldoc.OneOf("bolt", "dynamodb", "memory"))),
		yamldoc.Required("repository", "git repository that contains the policy and the checkpoint files", repositoryFields(&c.Repository)),
		yamldoc.Optional("period", "time between two ticks; set `period` to the interval of your scheduler", span(&c.Period, time.Second)),
		yamldoc.Optional("commit", "settings for the commits that gitlatch creates", yamldoc.Fields(
			yamldoc.Optional("skipCI", "adds `[skip ci]` to the messages of commits outside pull requests", yes(&c.Commit.SkipCI)),
			yamldoc.Optional("author", "author of the commits that gitlatch creates; the default is gitlatch", yamldoc.Fields(
				yamldoc.Required("name", "name of the commit author", yamldoc.Into(&c.Commit.Author.Name, yamldoc.Text(`^[^<>\r\n]+$`, "a name on one line, without < and >"))),
				yamldoc.Required("email", "email address of the commit author", yamldoc.Into(&c.Commit.Author.Email, yamldoc.Text(`^[^<>\s]+@[^<>\s]+$`, "an e-mail address"))),
			)),
			yamldoc.Optional("signingKey", "location of the private SSH key for signing commits"+secretForms+"; by default, gitlatch does not sign commits", secret(&c.Commit.Signing.Key)),
			yamldoc.Optional("signingPassphrase", "location of the signing key's passphrase, if the key has one"+secretForms, secret(&c.Commit.Signing.Passphrase)),
		).With(yamldoc.Needs("signingPassphrase", "it is the passphrase of this key", "signingKey"))),
		yamldoc.Optional("alerts", "destination of the alerts; by default, gitlatch writes alerts only to its log", yamldoc.Fields(
			yamldoc.Optional("topicArn", "ARN of the Amazon SNS topic that receives the alerts", yamldoc.Into(&c.Alerts.TopicARN, topic)),
			yamldoc.Optional("webhook", "location of the webhook URL for alerts"+secretForms+"; the webhook must accept a JSON object with the field `text`, as Slack and Mattermost do", secret(&c.Alerts.Webhook)),
		).With(yamldoc.OneOf("topicArn", "webhook"))),
		yamldoc.Optional("demand", "metrics that measure the load on workloads, such as requests per second", items(&c.Demand, demandFields)),
		yamldoc.Optional("drills", "folder for drill reports, or `s3://BUCKET/PREFIX` for an Amazon S3 bucket; each drill compares its result with the previous report; by default, gitlatch stores no drill reports", drills(&c.Drills)),
		yamldoc.Optional("gitops", gitopsMeaning, otherCluster(&c.GitOps)),
		yamldoc.Optional("standby", "cluster in which a rebuild of the site will run; the default is the site's cluster", otherCluster(&c.Standby)),
		yamldoc.Optional("fleet", "path of the fleet file, relative to the root of the git repository; set this field only in the Config of a fleet",
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

// clusterFields returns the fields of a cluster: of EKS, or of a kubeconfig.
func clusterFields(c *Cluster) yamldoc.Object {
	return fieldsOf(c, "the default is the path in `$KUBECONFIG`, or `~/.kube/config` if `$KUBECONFIG` is not set")
}

// fieldsOf is clusterFields with a description of the default of kubeconfig.
func fieldsOf(c *Cluster, kubeconfigDefault string) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Optional("eks", eksMeaning, eksName(&c.EKS)),
		yamldoc.Optional("roleArn", roleMeaning, yamldoc.Into(&c.EKS.RoleARN, role)),
		yamldoc.Optional("context", "name of a context in the kubeconfig file; the default is the current context", yamldoc.Into(&c.Context, anyText)),
		yamldoc.Optional("kubeconfig", "path of the kubeconfig file; "+kubeconfigDefault, file(&c.Kubeconfig)),
	).With(
		yamldoc.AtMostOne("eks", "context"),
		yamldoc.AtMostOne("eks", "kubeconfig"),
		yamldoc.Needs("roleArn", "a kubeconfig has its own login", "eks"),
	)
}

// otherCluster returns the fields of a cluster beside the site's.
func otherCluster(c *Cluster) yamldoc.Object {
	return fieldsOf(c, "by default, gitlatch uses the same kubeconfig file as for the site's cluster").With(yamldoc.AnyOf("eks", "context", "kubeconfig"))
}

// drills binds a folder, or the bucket and the prefix of s3://bucket/prefix.
func drills(into *Drills) yamldoc.Scalar {
	s := file(&into.Dir)
	folder := s.Take
	s.Form = yamldoc.Text("", "a folder, or s3://BUCKET/PREFIX")
	s.Take = func(text string) error {
		address, is := strings.CutPrefix(text, "s3://")
		if !is {
			return folder(text)
		}
		bucket, prefix, _ := strings.Cut(address, "/")
		prefix = strings.TrimSuffix(prefix, "/")
		if prefix != "" {
			prefix += "/"
		}
		if !bucketName.Fits(bucket) || prefix != "" && !bucketPrefix.Fits(prefix) {
			return fmt.Errorf("must be s3://BUCKET/PREFIX, such as s3://example-drills/gitlatch, got %s", yamldoc.Quote(text))
		}
		*into = Drills{Bucket: bucket, Prefix: prefix}
		return nil
	}
	return s
}
