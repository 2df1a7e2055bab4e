//go:build aws

package sns_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	awssns "github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/gitlatch/gitlatch/internal/alert"
	"github.com/gitlatch/gitlatch/internal/alert/sns"
	"github.com/gitlatch/gitlatch/internal/testenv/moto"
)

// A stand-in for SNS accepts the alert about a broken checkpoint file, and refuses a
// message that is too long, like SNS.
func TestAStandInForSNSTakesAndRefuses(t *testing.T) {
	t.Parallel()
	client := awssns.NewFromConfig(moto.Start(t).Config())
	made, err := client.CreateTopic(t.Context(), &awssns.CreateTopicInput{Name: aws.String("gitlatch")})
	if err != nil {
		t.Fatal(err)
	}
	of, a := sns.Topic{ARN: *made.TopicArn, Client: client}, broken(t)
	if err := send(t, of, a); err != nil {
		t.Error(err)
	}
	a.Text = strings.Repeat("too long ", 20_000)
	var refused *alert.RefusedError
	if err := send(t, of, a); !errors.As(err, &refused) {
		t.Errorf("a text of %d bytes: %v", len(a.Text), err)
	}
	of.ARN += "-of-another"
	if err := send(t, of, broken(t)); err == nil || errors.As(err, &refused) {
		t.Errorf("a topic that is not there: %v", err)
	}
}
