//go:build aws

package dynalite_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/gitlatch/gitlatch/internal/testenv/dynalite"
)

func TestServerEnforcesConditions(t *testing.T) {
	t.Parallel()
	client := dynalite.Start(t).Client()
	if _, err := client.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("notes"),
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
	}); err != nil {
		t.Fatal(err)
	}
	put := &dynamodb.PutItemInput{
		TableName:           aws.String("notes"),
		Item:                map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "a"}},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}
	if _, err := client.PutItem(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	if _, err := client.PutItem(t.Context(), put); !errors.As(err, new(*types.ConditionalCheckFailedException)) {
		t.Errorf("second put: error is %v", err)
	}
}
