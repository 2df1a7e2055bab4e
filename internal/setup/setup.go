// Package setup prepares the deployment of gitlatch on AWS. It reads the cluster, the
// network and the credential with the AWS credentials of the caller, and returns the
// settings of SAM and the configuration of the site. It changes nothing on AWS.
package setup

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/codecommit"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gitlatch/gitlatch/internal/repo"
)

// Stack is the name of the stack in infra/samconfig.toml.
const Stack = "gitlatch"

// Answers are the answers of a user. Each is a parameter of the template, or decides one.
type Answers struct {
	Cluster        string // name of the EKS cluster
	Site           string // name of the site
	Repository     string // URL of the repository
	Credential     string // name of the secret with the git credential; unused with CodeCommit
	CredentialType string // app or token; used with GitHub alone
	AlertEmail     string // "" sends no alerts by e-mail
}

// A Host is the location of a repository. One of the fields is set.
type Host struct {
	GitHub     string // owner/name
	CodeCommit string // name of the repository, in the account and Region of the stack
	URL        string // of a repository on any other git server
}

var (
	codecommitHost = regexp.MustCompile(`^git-codecommit\.([-a-z0-9]+)\.amazonaws\.com(\.cn)?$`)
	// serverURL is the pattern of the parameter GitUrl.
	serverURL = regexp.MustCompile(`^((https://|ssh://[-_.0-9A-Za-z]+@)[-.0-9A-Za-z]+(:[0-9]+)?/[-._~/0-9A-Za-z]+)?$`)
)

// HostOf returns the location of the repository at a URL. region is the Region of the
// stack.
func HostOf(address, region string) (Host, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Host{}, errors.New("must be a URL, such as https://github.com/example/fleet")
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	at := codecommitHost.FindStringSubmatch(u.Hostname())
	switch {
	case u.Hostname() == "github.com" && strings.Count(name, "/") == 1:
		return Host{GitHub: name}, nil
	case at != nil && at[1] != region:
		return Host{}, fmt.Errorf("the CodeCommit repository is in %s, but the stack is in %s: use a repository in the Region of the stack", at[1], region)
	case at != nil && strings.HasPrefix(name, "v1/repos/"):
		return Host{CodeCommit: strings.TrimPrefix(name, "v1/repos/")}, nil
	case at == nil && u.Hostname() != "github.com" && u.Host != "" && serverURL.MatchString(address):
		return Host{URL: address}, nil
	}
	return Host{}, fmt.Errorf("must be a repository on GitHub (https://github.com/example/fleet), on CodeCommit (https://git-codecommit.%s.amazonaws.com/v1/repos/fleet), or the https or ssh URL of a repository without a password, got %q", region, u.Redacted())
}

// Facts are the values that AWS returns about a site and its future stack.
type Facts struct {
	Account   string
	Partition string // such as aws
	Region    string // of the stack
	Host      Host
	Branch    string // default branch of a CodeCommit repository; "" is unknown
	Network   Network
	Secret    bool   // true if the secret exists
	KeyARN    string // KMS key of the secret; "" is the key of AWS
	Table     string // DynamoDB table of the deployed stack; "" before the deployment
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

// Read reads the facts about a site. An error means that the caller or the cluster is
// unknown. All other failures are problems of the facts.
func (a AWS) Read(ctx context.Context, given Answers) (f Facts, err error) {
	f.Region = a.Region()
	f.Host, err = HostOf(given.Repository, f.Region)
	if err != nil {
		return f, fmt.Errorf("--repository: %w", err)
	}
	who, err := sts.NewFromConfig(a.config).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return f, fmt.Errorf("read the AWS identity of the caller: %w", err)
	}
	f.Account = aws.ToString(who.Account)
	parsed, err := arn.Parse(aws.ToString(who.Arn))
	if err != nil {
		return f, fmt.Errorf("read the AWS identity of the caller: %w", err)
	}
	f.Partition = parsed.Partition
	if err := a.cluster(ctx, given.Cluster, &f); err != nil {
		return f, err
	}
	if f.Host.CodeCommit != "" {
		a.codecommit(ctx, &f)
	} else {
		a.secret(ctx, given, &f)
	}
	a.table(ctx, &f)
	return f, nil
}

func (f *Facts) problem(fix, text string, args ...any) {
	f.Problems = append(f.Problems, Problem{fmt.Sprintf(text, args...), fix})
}

// codecommit reads the default branch.
func (a AWS) codecommit(ctx context.Context, f *Facts) {
	name := f.Host.CodeCommit
	answer, err := codecommit.NewFromConfig(a.config).GetRepository(ctx, &codecommit.GetRepositoryInput{RepositoryName: &name})
	switch {
	case err != nil:
		f.problem("create the repository, or allow codecommit:GetRepository", "The CodeCommit repository %s cannot be read: %v.", name, err)
	case aws.ToString(answer.RepositoryMetadata.DefaultBranch) == "":
		f.problem("push the first commit of the repository", "The CodeCommit repository %s has no branch.", name)
	default:
		f.Branch = *answer.RepositoryMetadata.DefaultBranch
	}
}

// secret checks that the secret exists, and reads its key. It does not read the value.
func (a AWS) secret(ctx context.Context, given Answers, f *Facts) {
	answer, err := secretsmanager.NewFromConfig(a.config).DescribeSecret(ctx, &secretsmanager.DescribeSecretInput{SecretId: &given.Credential})
	switch {
	case coded(err, "ResourceNotFoundException"):
		f.problem(fmt.Sprintf("aws secretsmanager create-secret --region %s --name %s --secret-string file://credential", f.Region, given.Credential),
			"The secret %s does not exist in %s. It must contain %s.", given.Credential, f.Region, credentialForm(f.Host, given.CredentialType))
	case err != nil:
		f.problem("allow secretsmanager:DescribeSecret", "The secret %s cannot be checked: %v.", given.Credential, err)
	case answer.DeletedDate != nil:
		f.problem("aws secretsmanager restore-secret --region "+f.Region+" --secret-id "+given.Credential, "The secret %s is being deleted.", given.Credential)
	default:
		f.Secret = true
		f.key(aws.ToString(answer.KmsKeyId), given.Credential)
	}
}

// credentialForm returns the content of the secret for a repository.
func credentialForm(host Host, credentialType string) string {
	switch {
	case repo.OverSSH(host.URL):
		return "the lines that ssh-keyscan prints, and then a private SSH key"
	case host.URL != "":
		return "an access token, or USER:TOKEN"
	case credentialType == "app":
		return `the JSON {"appId": ..., "installationId": ..., "privateKey": "..."} of a GitHub App`
	}
	return "a fine-grained access token"
}

// keyID matches the ID of a KMS key.
var keyID = regexp.MustCompile(`^[-0-9a-f]+$`)

// key sets the ARN of the secret's key. An alias does not contain the ID of its key.
func (f *Facts) key(id, secret string) {
	switch {
	case id == "" || strings.HasSuffix(id, "alias/aws/secretsmanager"):
	case strings.Contains(id, ":key/"):
		f.KeyARN = id
	case keyID.MatchString(id):
		f.KeyARN = f.arn("kms", "key/"+id)
	default:
		f.problem("add GitHubCredentialKeyArn=ARN to parameter_overrides in samconfig.toml", "The secret %s uses the KMS key %s, whose ARN is unknown.", secret, id)
	}
}

// arn returns an ARN in the account and Region of the stack.
func (f Facts) arn(service, resource string) string {
	return fmt.Sprintf("arn:%s:%s:%s:%s:%s", f.Partition, service, f.Region, f.Account, resource)
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
		f.problem("set state.dynamodb.table in the configuration of the site",
			"%s has %d tables whose names start with %s, so the table of the stack is unknown: %s.", f.Region, len(found), prefix, strings.Join(found, ", "))
	}
}

// network reads the subnets of the cluster, for a function that must run in its VPC.
func (a AWS) network(ctx context.Context, vpc string, subnets []string) (private []string, natless bool, err error) {
	answer, err := ec2.NewFromConfig(a.config).DescribeRouteTables(ctx, &ec2.DescribeRouteTablesInput{Filters: filter("vpc-id", vpc)})
	if err != nil {
		return nil, false, err
	}
	private, natless = routed(answer.RouteTables, subnets)
	return private, natless, nil
}
