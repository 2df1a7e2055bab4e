// Package setup prepares the deployment of gitlatch on AWS. It reads the cluster and its
// network with the AWS credentials of the caller, and returns the settings of SAM and the
// configuration of the site. It changes nothing on AWS.
package setup

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/eks"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Stack is the name of the stack in infra/samconfig.toml.
const Stack = "gitlatch"

// Answers are the answers of a user. Each is a parameter of the template.
type Answers struct {
	Cluster    string // name of the EKS cluster
	Site       string // name of the site
	Repository string // address of the repository
	Credential string // name of the secret with the git credential; unused with CodeCommit
	AlertEmail string // "" sends no alerts by e-mail
}

// addresses is the pattern of the parameter RepositoryUrl.
var addresses = regexp.MustCompile(`^(((github|gitlab)::)?https://|ssh://[-_.0-9A-Za-z]+@)[-.0-9A-Za-z]+(:[0-9]+)?/[-._~/0-9A-Za-z]+$`)

// HostOf returns the host of a repository that the template accepts. Errors do not show
// the address.
func HostOf(address string) (repo.Host, error) {
	host, err := repo.ParseHost(address)
	if err == nil && !addresses.MatchString(address) {
		err = fmt.Errorf("must be the https or ssh URL of a repository, such as https://github.com/example/fleet")
	}
	return host, err
}

// Facts are the values that AWS returns about a site and its future stack.
type Facts struct {
	Region  string // of the stack
	Cluster arn.ARN
	Network Network
	Table   string // DynamoDB table of the deployed stack; "" before the deployment
	// Problems prevent the deployment or the first tick.
	Problems []Problem
}

// A Problem is a state on AWS that a user must change, or that could not be read.
type Problem struct {
	Text string // the object and its problem
	Fix  string // a command or a field
}

// A Network is where the function runs. The zero value is outside a VPC.
type Network struct {
	VPC           string
	Subnets       []string
	SecurityGroup string // of the cluster
}

// AWS contains the clients of one Region.
type AWS struct {
	config aws.Config
}

// New returns the clients. The configuration must name a Region.
func New(config aws.Config) AWS { return AWS{config} }

// Region is the Region of the clients.
func (a AWS) Region() string { return a.config.Region }

// Clusters returns the names of the EKS clusters in the Region.
func (a AWS) Clusters(ctx context.Context) (names []string, err error) {
	pages := eks.NewListClustersPaginator(eks.NewFromConfig(a.config), &eks.ListClustersInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("list the EKS clusters in %s: %w", a.Region(), err)
		}
		names = append(names, page.Clusters...)
	}
	return names, nil
}

// Read reads the facts about a site. An error means that the cluster is unknown. All other
// failures are problems of the facts.
func (a AWS) Read(ctx context.Context, given Answers) (f Facts, err error) {
	f.Region = a.Region()
	if err := a.cluster(ctx, given.Cluster, &f); err != nil {
		return f, err
	}
	a.table(ctx, &f)
	return f, nil
}

func (f *Facts) problem(fix, text string, args ...any) {
	f.Problems = append(f.Problems, Problem{fmt.Sprintf(text, args...), fix})
}

// table finds the table of a deployed stack by its name. CloudFormation adds a random
// part to the name.
func (a AWS) table(ctx context.Context, f *Facts) {
	var found []string
	prefix := Stack + "-StateTable-"
	pages := dynamodb.NewListTablesPaginator(dynamodb.NewFromConfig(a.config), &dynamodb.ListTablesInput{})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			f.problem("allow dynamodb:ListTables", "The tables in %s could not be listed: %v.", f.Region, err)
			return
		}
		for _, name := range page.TableNames {
			if strings.HasPrefix(name, prefix) {
				found = append(found, name)
			}
		}
	}
	switch len(found) {
	case 0:
	case 1:
		f.Table = found[0]
	default:
		f.problem("set state.dynamodb in the configuration of the site",
			"%s has %d tables whose names start with %s, so the table of the stack is unknown: %s.", f.Region, len(found), prefix, strings.Join(found, ", "))
	}
}

// SecretContent returns the content of the secret for a repository. "" needs no secret.
func SecretContent(host repo.Host) string {
	switch {
	case host.Kind == repo.CodeCommit:
		return ""
	case host.Kind == repo.GitHub:
		return `the JSON {"appId": ..., "installationId": ..., "privateKey": "..."} of a GitHub App, or a fine-grained access token`
	case repo.OverSSH(host.URL):
		return "the lines that ssh-keyscan prints, and then a private SSH key"
	}
	if host.Kind == repo.GitLab {
		return "a project access token with the scope api and the role Developer"
	}
	return "an access token, or USER:TOKEN"
}
