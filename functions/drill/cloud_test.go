//go:build aws

package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.yaml.in/yaml/v3"

	"github.com/gitlatch/gitlatch/internal/admission"
	"github.com/gitlatch/gitlatch/internal/config"
	"github.com/gitlatch/gitlatch/internal/drill/open"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/gateway"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/levels"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

const (
	account     = "123456789012"
	clusterName = "prod-eu"
	table       = "gitlatch"
	bucket      = "fleet-reports"
	rbac        = "../../infra/rbac/doctor/"
	latching    = "apiVersion: gitlatch.dev/v1alpha1\nkind: Policy\nmode: latch\npolicies: [{name: default, match: {}, series: 1-2-5}]\n"
)

// kustomizations is a CRD that accepts any fields.
const kustomizations = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kustomizations.kustomize.toolkit.fluxcd.io}
spec:
  group: kustomize.toolkit.fluxcd.io
  scope: Namespaced
  names: {kind: Kustomization, plural: kustomizations, singular: kustomization}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
`

// leveled are the levels of a namespace, as Flux applies them.
const leveled = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: gitlatch-levels, labels: {kustomize.toolkit.fluxcd.io/name: levels, kustomize.toolkit.fluxcd.io/namespace: flux-system}}\n"

// A cloud contains the parts that the sites of these tests share: one cluster with a
// login like EKS's, and stand-ins of the other AWS services.
type cloud struct {
	cp     *controlplane.ControlPlane
	eks    *standeks.Server
	hook   *standeks.Webhook
	moto   *moto.Server
	state  *dynalite.Server
	access standeks.Access
	topic  string
	queue  string // receives the alerts
	binary string
	config string // the template's text of GITLATCH_CONFIG
}

// A stack is one site in the cloud: a function, its role and its repository.
type stack struct {
	*cloud
	name, provider string
	gateway        *gateway.Gateway
	key            aws.Credentials
	function       *runtimeapi.Function
}

func startCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{eks: standeks.Start(t), moto: moto.Start(t), state: dynalite.Start(t), access: standeks.Access{}}
	c.hook = c.eks.Authenticate(t, clusterName, c.access)
	c.cp = controlplane.Start(t, controlplane.Options{APIServerFlags: c.hook.Flags})
	c.cp.Nodes(t, 1)
	c.cp.Apply(t, read(t, rbac+"clusterrole.yaml"), read(t, rbac+"clusterrolebinding.yaml"))
	c.cp.Apply(t, kustomizations, "{apiVersion: v1, kind: Namespace, metadata: {name: flux-system}}")
	c.cp.Apply(t, levels.Kustomizations)
	c.cp.Kubectl(t, "", "wait", "--for=condition=Established", "crd", "--all", "--timeout=180s")
	config := c.cp.Config()
	c.eks.Describe(clusterName, standeks.Cluster{Endpoint: config.Host, CA: config.CAData})
	c.makeTable(t)
	c.makeTopic(t)
	client := s3.NewFromConfig(c.moto.Config(), func(o *s3.Options) { o.UsePathStyle = true })
	if _, err := client.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String(bucket),
		CreateBucketConfiguration: &s3types.CreateBucketConfiguration{LocationConstraint: s3types.BucketLocationConstraint(moto.Region)}}); err != nil {
		t.Fatal(err)
	}
	c.binary = runtimeapi.Build(t, ".")
	c.config = configOf(t)
	return c
}

func (c *cloud) makeTable(t *testing.T) {
	t.Helper()
	in := &dynamodb.CreateTableInput{TableName: aws.String(table), BillingMode: types.BillingModePayPerRequest}
	for i, key := range []string{"pk", "sk"} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(key), AttributeType: types.ScalarAttributeTypeS})
		in.KeySchema = append(in.KeySchema, types.KeySchemaElement{AttributeName: aws.String(key), KeyType: []types.KeyType{types.KeyTypeHash, types.KeyTypeRange}[i]})
	}
	client := c.state.Client()
	if _, err := client.CreateTable(t.Context(), in); err != nil {
		t.Fatal(err)
	}
	soon := func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay, o.MaxDelay = 20*time.Millisecond, time.Second }
	if err := dynamodb.NewTableExistsWaiter(client, soon).Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: in.TableName}, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// makeTopic creates a topic, and a queue that subscribes to it.
func (c *cloud) makeTopic(t *testing.T) {
	t.Helper()
	topics, queues := sns.NewFromConfig(c.moto.Config()), sqs.NewFromConfig(c.moto.Config())
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("alerts")})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("told")})
	if err != nil {
		t.Fatal(err)
	}
	about, err := queues.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: queue.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	if err != nil {
		t.Fatal(err)
	}
	c.topic, c.queue = *topic.TopicArn, *queue.QueueUrl
	if _, err := topics.Subscribe(t.Context(), &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(about.Attributes["QueueArn"])}); err != nil {
		t.Fatal(err)
	}
}

// told returns the messages that arrived since it was last called. A queue gives a message
// again once its visibility timeout is over, which is far beyond the length of a test.
func (c *cloud) told(t *testing.T) string {
	t.Helper()
	answer, err := sqs.NewFromConfig(c.moto.Config()).ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: &c.queue, MaxNumberOfMessages: 10, VisibilityTimeout: 3600})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range answer.Messages {
		all = append(all, *m.Body)
	}
	return strings.Join(all, "\n")
}

// configOf returns the configuration of the function in the template, before values are
// filled in.
func configOf(t *testing.T) string {
	t.Helper()
	var tree struct {
		Resources struct {
			DrillFunction struct {
				Properties struct {
					Environment struct {
						Variables map[string]yaml.Node `yaml:"Variables"`
					} `yaml:"Environment"`
				} `yaml:"Properties"`
			} `yaml:"DrillFunction"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "../../infra/drill.yaml")), &tree); err != nil {
		t.Fatal(err)
	}
	found := tree.Resources.DrillFunction.Properties.Environment.Variables[config.Variable]
	if len(found.Content) != 2 {
		t.Fatalf("the template sets no %s", config.Variable)
	}
	return found.Content[0].Value
}

// files returns a repository with the admission policy.
func files() map[string]string {
	return map[string]string{"gitlatch.yaml": latching, admission.Path: string(levels.Policy())}
}

// newAccount answers the calls for the room in the account, as for an account with one
// quota, and without instances, subnets and node groups.
func (s *stack) newAccount(t *testing.T) {
	t.Helper()
	quota := map[string]any{"QuotaCode": "L-1216C47A", "QuotaName": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances", "Value": 32}
	for _, of := range []struct {
		service, operation string
		members            map[string]any
	}{
		{"ec2", "DescribeInstances", map[string]any{}},
		{"eks", "ListNodegroups", map[string]any{"nodegroups": []string{"base"}}},
		{"eks", "DescribeNodegroup", map[string]any{"nodegroup": map[string]any{"nodegroupName": "base", "subnets": []string{"subnet-1"}}}},
		{"ec2", "DescribeSubnets", map[string]any{"Subnets": []any{map[string]any{"SubnetId": "subnet-1", "AvailabilityZone": "eu-west-1a", "AvailableIpAddressCount": 11}}}},
		{"service-quotas", "ListServiceQuotas", map[string]any{"Quotas": []any{quota}}},
	} {
		s.gateway.Instead(strings.ReplaceAll(of.service, "-", "")+":"+of.operation, moto.Answer(t, of.service, of.operation, of.members))
	}
}

// deploy deploys a site with 12 pods of web and 4 of stray.
func (c *cloud) deploy(t *testing.T, provider string) *stack {
	t.Helper()
	s := &stack{cloud: c, name: provider, provider: provider}
	services := map[string]string{"eks": c.eks.URL, "sts": c.eks.URL, "dynamodb": c.state.URL, "secretsmanager": c.moto.URL, "sns": c.moto.URL, "s3": c.moto.URL, "ec2": c.moto.URL, "servicequotas": c.moto.URL}
	var address, login string
	if provider == "codecommit" {
		host := codecommit.Start(t)
		host.Create(t, s.name, files())
		services["codecommit"] = host.Endpoint()
		address = "https://git-codecommit." + moto.Region + ".amazonaws.com/v1/repos/" + s.name
	} else {
		host := github.Start(t)
		host.Create(t, s.name, files())
		host.Grant("github_pat_" + s.name)
		secret := "gitlatch/" + s.name
		if _, err := secretsmanager.NewFromConfig(c.moto.Config()).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &secret, SecretString: aws.String("github_pat_" + s.name)}); err != nil {
			t.Fatal(err)
		}
		address, login = host.Address(s.name), fmt.Sprintf(`, credential: "secret:%s"`, secret)
	}
	s.gateway = gateway.Start(t, services)
	s.newAccount(t)
	s.key = c.eks.Key("arn:aws:sts::" + account + ":assumed-role/" + s.name + "/gitlatch")
	c.access["arn:aws:iam::"+account+":role/"+s.name] = []string{open.Group}
	c.hook.Set(t, c.access)
	s.start(t, address, login)
	c.cp.Kubectl(t, "", "create", "namespace", s.name)
	c.cp.Apply(t, string(levels.Applied()), string(admission.Binding(s.name)), fmt.Sprintf(leveled, s.name))
	owned := "labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}, name:"
	for name, pods := range map[string]string{"web": "12", "stray": "4"} {
		manifest := controlplane.Workload("Deployment", s.name, name)
		if name == "web" {
			manifest = strings.Replace(manifest, "name:", owned, 1)
		}
		c.cp.Apply(t, manifest)
		c.cp.Kubectl(t, "", "scale", "-n", s.name, "deployment", name, "--replicas", pods)
	}
	c.cp.Kubectl(t, "", "wait", "-n", s.name, "--for=condition=Available", "deployment", "--all", "--timeout=180s")
	// An autoscaler that still sees one pod sets its minimum, so it comes after the scale.
	for _, name := range []string{"web", "stray"} {
		c.cp.Apply(t, controlplane.Autoscaler("Deployment", s.name, name))
	}
	return s
}

// start starts the function with the template's configuration, with values filled in.
func (s *stack) start(t *testing.T, address, login string) {
	t.Helper()
	filled := map[string]string{
		"Site": s.name, "ClusterName": clusterName, "AWS::Region": moto.Region, "RepositoryUrl": address, "Login": login, "Branch": "main", "PublishMode": "direct", "PeriodMinutes": "5",
		"Table": table, "Topic": s.topic, "Hub": "", "Standby": "", "Signing": "", "Drills": fmt.Sprintf("drills: s3://%s/gitlatch/drills", bucket),
	}
	document := os.Expand(s.config, func(name string) string {
		value, known := filled[name]
		if !known {
			t.Errorf("the template's configuration has ${%s}, which is not filled in", name)
		}
		return value
	})
	s.function = runtimeapi.Start(t, s.binary,
		config.Variable+"="+document,
		"AWS_ENDPOINT_URL="+s.gateway.URL, "AWS_REGION="+moto.Region,
		"AWS_ACCESS_KEY_ID="+s.key.AccessKeyID, "AWS_SECRET_ACCESS_KEY="+s.key.SecretAccessKey, "AWS_SESSION_TOKEN="+s.key.SessionToken,
	)
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
