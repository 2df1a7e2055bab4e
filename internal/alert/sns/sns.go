// Package sns sends alerts to an SNS topic: text for users, a notification for chats,
// JSON for programs, and attributes for filter policies.
package sns

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sns"
	"github.com/aws/aws-sdk-go-v2/service/sns/types"
	"github.com/aws/smithy-go"

	"github.com/gitlatch/gitlatch/internal/alert"
)

// Publisher is the part of the SDK's client that a Topic uses.
type Publisher interface {
	Publish(context.Context, *sns.PublishInput, ...func(*sns.Options)) (*sns.PublishOutput, error)
}

// A Topic is an SNS topic for alerts.
type Topic struct {
	ARN    string
	Client Publisher
}

// Send publishes a message. Subscribers can filter by the attributes site, kind,
// severity and state. If SNS would never accept the message, the error is an
// alert.RefusedError.
func (t Topic) Send(ctx context.Context, n alert.Notice) error {
	inChat, err := chat(n)
	if err != nil {
		return err
	}
	// Subscribers over email and SMS are users, and get the text. Subscribers over https
	// are chats, and get a notification. All other subscribers get the JSON, which is in
	// the message only once for all of them.
	body, err := json.Marshal(map[string]string{"default": string(n.Document), "https": inChat, "email": n.Text, "sms": n.Text})
	if err != nil {
		return err
	}
	_, err = t.Client.Publish(ctx, &sns.PublishInput{
		TopicArn:         aws.String(t.ARN),
		Subject:          aws.String(subject(n.Subject)),
		Message:          aws.String(string(body)),
		MessageStructure: aws.String("json"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"site":     attribute(n.Site),
			"kind":     attribute(n.Kind),
			"severity": attribute(string(n.Severity)),
			"state":    attribute(n.State),
			"id":       attribute(n.ID),
		},
	})
	return t.explain(err)
}

func attribute(value string) types.MessageAttributeValue {
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(value)}
}

// subject returns a valid SNS subject: fewer than 100 printable ASCII characters.
func subject(text string) string {
	text = strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
	return text[:min(len(text), 99)]
}

// faults are the errors of SNS with their remedies; the first match applies. SNS has one
// code for every invalid parameter, and names the parameter only in the text.
var faults = []struct {
	codes   []string
	words   string // "" matches any text
	remedy  string
	forGood bool // SNS would reject the message at any time
}{
	{[]string{"NotFound", "NotFoundException"}, "", "the topic does not exist: deploy the stack again, or correct alerts.topicArn", false},
	{[]string{"AuthorizationError", "AuthorizationErrorException"}, "", "the role may not publish to it: allow sns:Publish on the topic", false},
	{[]string{"InvalidSignatureException", "SignatureDoesNotMatch"}, "", "it does not accept the credentials: check them, and the clock of this machine", false},
	{[]string{"InvalidClientTokenId"}, "", "it does not accept the credentials: check them", false},
	{[]string{"ExpiredToken"}, "", "it does not accept the credentials: they have expired. Renew them", false},
	{[]string{"KMSAccessDenied"}, "", "the role may not use the topic's key: allow kms:GenerateDataKey* and kms:Decrypt on it", false},
	{[]string{"KMSDisabled"}, "", "the topic's key is disabled: enable it", false},
	{[]string{"InvalidParameter"}, "TopicArn", "alerts.topicArn is not the ARN of a topic", false},
	{[]string{"InvalidParameter", "ParameterValueInvalid", "ValidationException"}, "", "it rejects this message", true},
}

// explain adds the remedy to an error of SNS.
func (t Topic) explain(err error) error {
	if said, ok := errors.AsType[smithy.APIError](err); ok {
		for _, f := range faults {
			if !slices.Contains(f.codes, said.ErrorCode()) || !strings.Contains(said.ErrorMessage(), f.words) {
				continue
			}
			err = fmt.Errorf("topic %s: %s (%w)", t.ARN, f.remedy, err)
			if f.forGood {
				return &alert.RefusedError{Cause: err}
			}
			return err
		}
	}
	if err != nil {
		err = fmt.Errorf("topic %s: %w", t.ARN, err)
	}
	return err
}
