package wiring

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/gitlatch/gitlatch/internal/clean/redact"
)

// answerWithin is how long an AWS service may take for one answer. The SDK tries three
// times. A service that accepts a request and never answers costs half a minute, and not
// the complete tick.
const answerWithin = 10 * time.Second

// load returns the AWS configuration. It loads it once.
func (o *Opener) load(ctx context.Context) (aws.Config, error) {
	if o.fleet != nil {
		return o.fleet.load(ctx)
	}
	o.once.Do(func() {
		client := awshttp.NewBuildableClient().WithTimeout(answerWithin)
		o.aws, o.awsErr = awsconfig.LoadDefaultConfig(ctx, awsconfig.WithHTTPClient(client),
			awsconfig.WithAPIOptions([]func(*middleware.Stack) error{hushed}))
	})
	if o.awsErr != nil {
		return aws.Config{}, fmt.Errorf("load the configuration of AWS: %w", o.awsErr)
	}
	return o.aws.Copy(), nil
}

// hushed removes the session token from the answers of AWS. If a signature is wrong, AWS
// repeats the data that should have been signed.
func hushed(stack *middleware.Stack) error {
	return stack.Deserialize.Add(middleware.DeserializeMiddlewareFunc("Hushed", func(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (middleware.DeserializeOutput, middleware.Metadata, error) {
		out, metadata, err := next.HandleDeserialize(ctx, in)
		request, sent := in.Request.(*smithyhttp.Request)
		if answer, ok := out.RawResponse.(*smithyhttp.Response); sent && ok {
			redact.Answer(request.Request, answer.Response)
		}
		return out, metadata, err
	}), middleware.After) // directly above the HTTP client
}

// In returns the AWS configuration for a region; "" is the region in which the program
// runs. If the region is unknown, the error names the configuration field.
func (o *Opener) In(ctx context.Context, field, region string) (aws.Config, error) {
	own, err := o.load(ctx)
	if region != "" {
		own.Region = region
	}
	if err == nil && own.Region == "" {
		err = noRegion(field)
	}
	return own, err
}

func noRegion(field string) error {
	return fmt.Errorf("%s: no Region is configured. Set AWS_REGION", field)
}

// regionOf returns the region of an ARN; "" if resource is a name.
func regionOf(resource string) string {
	parsed, _ := arn.Parse(resource)
	return parsed.Region
}

// A Vault is the part of the SDK's client of Secrets Manager that site uses.
type Vault interface {
	GetSecretValue(
		context.Context, *secretsmanager.GetSecretValueInput, ...func(*secretsmanager.Options),
	) (*secretsmanager.GetSecretValueOutput, error)
}

// A secret is the location of credentials in Secrets Manager.
type secret struct {
	field string // of the configuration
	name  string // or ARN
}

// Remedies for the errors of Secrets Manager, by code.
var remedies = map[string]string{
	"ResourceNotFoundException": "create the secret, or correct its name and region",
	"AccessDeniedException":     "allow the role secretsmanager:GetSecretValue on the secret, and kms:Decrypt if the secret has a separate KMS key",
	"DecryptionFailure":         "allow the role kms:Decrypt on the key of the secret",
	"InvalidRequestException":   "restore the secret if it is being deleted, and give it a value",
}

// failed returns an error of a secret, with its location.
func (s secret) failed(err error) error {
	return fmt.Errorf("%s: secret %s: %w", s.field, s.name, err)
}

// text reads the content without the spaces around it. An empty secret is an error.
func (s secret) text(ctx context.Context, vault Vault) (string, error) {
	answer, err := vault.GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: aws.String(s.name)})
	var said smithy.APIError
	switch {
	case errors.As(err, &said) && remedies[said.ErrorCode()] != "":
		return "", s.failed(fmt.Errorf("%s (%w)", remedies[said.ErrorCode()], err))
	case err != nil:
		return "", s.failed(err)
	case answer.SecretString == nil:
		return "", s.failed(errors.New("is binary. Store it as text"))
	}
	text := strings.TrimSpace(*answer.SecretString)
	if text == "" {
		return "", s.failed(errors.New("is empty"))
	}
	return text, nil
}
