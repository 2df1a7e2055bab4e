package config

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gitlatch/gitlatch/internal/workload"
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

	// Kinds are the kinds of workloads that it has beside those that gitlatch knows.
	Kinds workload.Kinds
}

// State is where the site's state is kept; one of the fields is set.
type State struct {
	Bolt     string // path of a bbolt file; its folder may not exist yet
	DynamoDB DynamoDB
	Memory   bool // kept for one run only
}

// Alerts is where people are told of what needs them. The zero value is
// nowhere.
type Alerts struct {
	SNS SNS
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
	wrong := wrongURL(repositoryURL)
	if overSSH(repositoryURL) {
		wrong = "must not be one over SSH here, which needs a deploy key and a pinned host key: write a configuration that names them"
	}
	if wrong != "" {
		return Config{}, fmt.Errorf("repository: %s", wrong)
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
// are *Errors and hold all that is wrong.
func ParseConfig(name string, data []byte) (Config, error) {
	c := start()
	r := newReader(name)
	r.read(KindConfig, data, configFields(&c), configRules()...)
	checkDemand(r, c)
	if err := r.err(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// configRules are about the fields of a Config as a whole. What a fleet's sites
// have each of its own is not the fleet's.
func configRules() []rule {
	return []rule{signable{}, choice{[]string{"fleet", "cluster"}, false}, choice{[]string{"fleet", "demand"}, false}, choice{[]string{"fleet", "drills"}, false}}
}

const labelShape = `^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`

// configFields is the table of a Config.
func configFields(c *Config) []field {
	return []field{
		{"site", "the name that a cluster fills, such as prod-eu; it outlives clusters", true,
			text{into: &c.Site, pattern: labelShape, must: "a DNS label: lower case letters, digits and dashes, at most 63"}},
		{"cluster", "the cluster to sample; without it the current kube context", false, object{
			fields: []field{
				{"eks", "a cluster of Amazon EKS, which AWS credentials log in to", false, eksFields(&c.Cluster.EKS)},
				{"kubeconfig", "the kubeconfig file", false, file{&c.Cluster.Kubeconfig}},
				{"context", "the context of the kubeconfig", false, text{into: &c.Cluster.Context}},
				{"kinds", "the kinds with a scale subresource to sample beside those that gitlatch knows", false, kindList{&c.Cluster.Kinds}},
			},
			rules: []rule{
				choice{[]string{"eks", "kubeconfig"}, false},
				choice{[]string{"eks", "context"}, false},
			},
		}},
		{"state", "where the state is kept between ticks", true, object{
			fields: []field{
				{"bolt", "a bbolt file", false, object{fields: []field{
					{"path", "the file, made where it is not there", true, file{&c.State.Bolt}},
				}}},
				{"dynamodb", "a table of Amazon DynamoDB", false, dynamoFields(&c.State.DynamoDB)},
				{"memory", "nowhere: for trying things, each run starts anew", false, presence{into: &c.State.Memory}},
			},
			rules: []rule{choice{[]string{"bolt", "dynamodb", "memory"}, true}},
		}},
		{"repository", "the git repository that checkpoints are committed to", true, repositoryFields(&c.Repository)},
		{"period", "the time from one tick to the next, as the schedule has it", false, span{into: &c.Period, least: time.Second}},
		{"commit", "how commits are made", false, object{fields: []field{
			{"skipCI", "adds [skip ci] to each message", false, truth{&c.Commit.SkipCI}},
			{"author", "who commits are made as", false, object{fields: []field{
				{"name", "the name", true, text{into: &c.Commit.Author.Name, pattern: `^[^<>\r\n]+$`, must: "a name on one line, without < and >"}},
				{"email", "the e-mail address", true, text{into: &c.Commit.Author.Email, pattern: `^[^<>\s]+@[^<>\s]+$`, must: "an e-mail address"}},
			}}},
			{"signing", "the key that commits are signed by; without it they are not", false, signingFields(&c.Commit.Signing)},
		}}},
		{"alerts", "where people are told of what needs them; without it nowhere but in the log", false, object{fields: []field{
			{"sns", "a topic of Amazon SNS", true, snsFields(&c.Alerts.SNS)},
		}}},
		{"demand", "where it is measured how much is asked of workloads; without it that is not known", false, demandList(c)},
		{"drills", "where the reports of drills are kept, and the last one is found; without it nowhere", false, object{
			fields: []field{
				{"dir", "a folder, made where it is not there", false, file{&c.Drills.Dir}},
				{"s3", "a bucket of Amazon S3", false, s3Fields(&c.Drills.S3)},
			},
			rules: []rule{choice{[]string{"dir", "s3"}, true}},
		}},
		{"fleet", "the file on the branch that lists the sites of a fleet, whose functions this configures; without it this is one site's", false,
			text{into: &c.Fleet, check: wrongPolicyFile}},
	}
}
