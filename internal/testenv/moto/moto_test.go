//go:build aws

package moto_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	ekstypes "github.com/aws/aws-sdk-go-v2/service/eks/types"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

func TestServerStandsInForEachService(t *testing.T) {
	t.Parallel()
	server := moto.Start(t)
	config := server.Config()

	if who, err := sts.NewFromConfig(config).GetCallerIdentity(t.Context(), nil); err != nil || aws.ToString(who.Account) == "" {
		t.Errorf("sts: %+v, error %v", who, err)
	}

	secrets := secretsmanager.NewFromConfig(config)
	if _, err := secrets.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: aws.String("key"), SecretString: aws.String("value")}); err != nil {
		t.Fatalf("create secret: %v", err)
	}
	if secret, err := secrets.GetSecretValue(t.Context(), &secretsmanager.GetSecretValueInput{SecretId: aws.String("key")}); err != nil || *secret.SecretString != "value" {
		t.Errorf("get secret: %+v, error %v", secret, err)
	}

	clusters := eks.NewFromConfig(config)
	if _, err := clusters.CreateCluster(t.Context(), &eks.CreateClusterInput{
		Name:               aws.String("prod"),
		RoleArn:            aws.String("arn:aws:iam::123456789012:role/cluster"),
		ResourcesVpcConfig: &ekstypes.VpcConfigRequest{SubnetIds: []string{"subnet-1"}},
	}); err != nil {
		t.Fatalf("create cluster: %v", err)
	}
	if cluster, err := clusters.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("prod")}); err != nil || aws.ToString(cluster.Cluster.Endpoint) == "" {
		t.Errorf("describe cluster: %+v, error %v", cluster, err)
	}

	topics, queues := sns.NewFromConfig(config), sqs.NewFromConfig(config)
	topic, err := topics.CreateTopic(t.Context(), &sns.CreateTopicInput{Name: aws.String("alerts")})
	if err != nil {
		t.Fatalf("create topic: %v", err)
	}
	queue, err := queues.CreateQueue(t.Context(), &sqs.CreateQueueInput{QueueName: aws.String("read-back")})
	if err != nil {
		t.Fatalf("create queue: %v", err)
	}
	arn, err := queues.GetQueueAttributes(t.Context(), &sqs.GetQueueAttributesInput{QueueUrl: queue.QueueUrl, AttributeNames: []sqstypes.QueueAttributeName{sqstypes.QueueAttributeNameQueueArn}})
	if err != nil {
		t.Fatalf("get queue: %v", err)
	}
	if _, err := topics.Subscribe(t.Context(), &sns.SubscribeInput{TopicArn: topic.TopicArn, Protocol: aws.String("sqs"), Endpoint: aws.String(arn.Attributes["QueueArn"])}); err != nil {
		t.Fatalf("subscribe: %v", err)
	}
	if _, err := topics.Publish(t.Context(), &sns.PublishInput{TopicArn: topic.TopicArn, Message: aws.String("hello")}); err != nil {
		t.Fatalf("publish: %v", err)
	}
	if got, err := queues.ReceiveMessage(t.Context(), &sqs.ReceiveMessageInput{QueueUrl: queue.QueueUrl}); err != nil || len(got.Messages) != 1 {
		t.Errorf("receive: %+v, error %v", got, err)
	}

	server.Reset(t)
	if left, err := topics.ListTopics(t.Context(), nil); err != nil || len(left.Topics) > 0 {
		t.Errorf("after a reset: %+v, error %v", left, err)
	}
}
