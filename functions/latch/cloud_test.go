package main

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/gitlatch/gitlatch/internal/eks"
	"github.com/gitlatch/gitlatch/internal/kube"
	"github.com/gitlatch/gitlatch/internal/testenv/codecommit"
	"github.com/gitlatch/gitlatch/internal/testenv/controlplane"
	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
	standeks "github.com/gitlatch/gitlatch/internal/testenv/eks"
	"github.com/gitlatch/gitlatch/internal/testenv/github"
	"github.com/gitlatch/gitlatch/internal/testenv/gitserver"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
	"github.com/gitlatch/gitlatch/internal/testenv/runtimeapi"
)

const (
	account      = "123456789012"
	functionRole = "arn:aws:iam::" + account + ":role/latch"
	session      = "arn:aws:sts::" + account + ":assumed-role/latch/gitlatch"
)

// cloud is what a function is deployed among: a cluster that is logged in to as
// one of EKS is, and stand-ins of all else.
type cloud struct {
	*deployment
	eks        *standeks.Server
	moto       *moto.Server
	codecommit *codecommit.Server
	github     *github.Server
	topic      string
	queue      *string
	env        []string
}

func startCloud(t *testing.T) *cloud {
	t.Helper()
	c := &cloud{eks: standeks.Start(t), moto: moto.Start(t), codecommit: codecommit.Start(t), github: github.Start(t)}
	state := dynalite.Start(t)
	hook := c.eks.Authenticate(t, "prod-eu", standeks.Access{functionRole: {eks.Group}})
	c.deployment = &deployment{cp: controlplane.Start(t, controlplane.Options{APIServerFlags: hook.Flags})}
	c.cp.Nodes(t, 1)
	c.cp.Metrics(t, func(string) string { return "7m" })
	c.cp.Apply(t, read(t, role), read(t, "../../infra/rbac/clusterrolebinding.yaml"))
	c.cp.Kubectl(t, "", "create", "namespace", "shop")
	c.cp.Apply(t, controlplane.Workload("Deployment", "shop", "web"), controlplane.Autoscaler("Deployment", "shop", "web"),
		controlplane.Workload("StatefulSet", "shop", "db"), controlplane.Autoscaler("StatefulSet", "shop", "db"))
	var err error
	if c.sampler, err = kube.New(c.cp.As("gitlatch", eks.Group), kube.Options{Site: "prod-eu", Clock: time.Now}); err != nil {
		t.Fatal(err)
	}
	admin := c.cp.Config()
	c.eks.Describe("prod-eu", standeks.Cluster{Account: account, Endpoint: admin.Host, CA: admin.CAData})
	c.env = append(c.eks.Environment(c.eks.Key(session)),
		"AWS_ENDPOINT_URL_DYNAMODB="+state.URL,
		"AWS_ENDPOINT_URL_CODECOMMIT="+c.codecommit.Endpoint(),
		"AWS_ENDPOINT_URL_SNS="+c.moto.URL,
		"AWS_ENDPOINT_URL_SECRETS_MANAGER="+c.moto.URL,
	)
	c.binary = runtimeapi.Build(t, ".")
	createTable(t, state.Client())
	c.subscribe(t)
	c.install(t)
	return c
}

func createTable(t *testing.T, client *dynamodb.Client) {
	t.Helper()
	key := func(name string, of dynamotypes.KeyType) dynamotypes.KeySchemaElement {
		return dynamotypes.KeySchemaElement{AttributeName: aws.String(name), KeyType: of}
	}
	text := func(name string) dynamotypes.AttributeDefinition {
		return dynamotypes.AttributeDefinition{AttributeName: aws.String(name), AttributeType: dynamotypes.ScalarAttributeTypeS}
	}
	table := aws.String("gitlatch")
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName: table, BillingMode: dynamotypes.BillingModePayPerRequest,
		KeySchema:            []dynamotypes.KeySchemaElement{key("pk", dynamotypes.KeyTypeHash), key("sk", dynamotypes.KeyTypeRange)},
		AttributeDefinitions: []dynamotypes.AttributeDefinition{text("pk"), text("sk")},
	}); err != nil {
		t.Fatal(err)
	}
	if err := dynamodb.NewTableExistsWaiter(client, func(o *dynamodb.TableExistsWaiterOptions) { o.MinDelay = 50 * time.Millisecond }).
		Wait(t.Context(), &dynamodb.DescribeTableInput{TableName: table}, time.Minute); err != nil {
		t.Fatal(err)
	}
}

// subscribe makes a queue of what goes to the topic.
func (c *cloud) subscribe(t *testing.T) {
	t.Helper()
	topics, queues := sns.NewFromConfig(c.moto.Config()), sqs.NewFromConfig(c.moto.Config())
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("gitlatch")})
	if err != nil {
		t.Fatal(err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("read-back")})
	if err != nil {
		t.Fatal(err)
	}
	c.topic, c.queue = *topic.TopicArn, queue.QueueUrl
	if _, err := topics.Subscribe(t.Context(), &sns.SubscribeInput{
		TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String("arn:aws:sqs:" + moto.Region + ":" + account + ":read-back"),
		Attributes: map[string]string{"RawMessageDelivery": "true"},
	}); err != nil {
		t.Fatal(err)
	}
}

// install makes an App of the GitHub stand-in, and keeps its key as a secret.
func (c *cloud) install(t *testing.T) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c.github.Install(github.App{ID: 7, InstallationID: 70, Key: &key.PublicKey})
	held, err := json.Marshal(map[string]any{
		"appId": 7, "installationId": 70,
		"privateKey": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := secretsmanager.NewFromConfig(c.moto.Config()).CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{
		Name: aws.String("gitlatch/app"), SecretString: aws.String(string(held)),
	}); err != nil {
		t.Fatal(err)
	}
}

// A host makes a repository, and returns how it is configured and how a proposal
// of it is merged.
type host func(t *testing.T, name string, files map[string]string) (*gitserver.Origin, string, func(testing.TB, string, bool))

func (c *cloud) onCodeCommit(mode string) host {
	return func(t *testing.T, name string, files map[string]string) (*gitserver.Origin, string, func(testing.TB, string, bool)) {
		return c.codecommit.Create(t, name, files), fmt.Sprintf("{codecommit: {name: %s}, mode: %s}", name, mode), c.codecommit.Merge
	}
}

func (c *cloud) onGitHub(mode string) host {
	return func(t *testing.T, name string, files map[string]string) (*gitserver.Origin, string, func(testing.TB, string, bool)) {
		return c.github.Create(t, name, files), fmt.Sprintf("{github: {repository: %s/%s, apiURL: %q, appSecret: gitlatch/app}, mode: %s}", github.Owner, name, c.github.APIURL(), mode), c.github.Merge
	}
}
