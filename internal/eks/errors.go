package eks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"sigs.k8s.io/aws-iam-authenticator/pkg/arn"
)

// Group is the Kubernetes group in access entries. The manifests in infra/rbac grant
// their rights to it.
const Group = "gitlatch:samplers"

// An error code of AWS that gets a specific remedy.
const codeNotFound = "ResourceNotFoundException"

// codesStale are the error codes for credentials that AWS does not accept.
var codesStale = []string{"SignatureDoesNotMatch", "InvalidSignatureException", "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException"}

var codesDenied = []string{"AccessDeniedException", "AccessDenied"}

// String names the cluster.
func (c *Cluster) String() string {
	return fmt.Sprintf("EKS cluster %s in %s", c.options.Name, c.options.Region)
}

// A callError is a failed call of AWS, with a remedy.
type callError struct {
	what  string
	cause error
	fix   string // the remedy; "" is unknown
}

// Error returns the message of AWS, without the details that the SDK adds about the
// request.
func (e *callError) Error() string {
	text := e.what + ": "
	if api, ok := errors.AsType[smithy.APIError](e.cause); ok {
		text += api.ErrorCode() + ": " + api.ErrorMessage()
	} else {
		text += e.cause.Error()
	}
	if e.fix != "" {
		text += "; " + e.fix
	}
	return text
}

// Unwrap returns the SDK's error.
func (e *callError) Unwrap() error { return e.cause }

func hasCode(err error, codes ...string) bool {
	api, ok := errors.AsType[smithy.APIError](err)
	return ok && slices.Contains(codes, api.ErrorCode())
}

// noCredentials returns the error for missing credentials. If a role is configured, it
// could not be assumed.
func (c *Cluster) noCredentials(err error) error {
	role := c.options.RoleARN
	if role == "" {
		return &callError{what: "find AWS credentials", cause: err}
	}
	failed := &callError{what: "assume " + role + " for " + c.String(), cause: err}
	if hasCode(err, codesDenied...) {
		failed.fix = "allow sts:AssumeRole for this role in the policy of the function's role and in the trust policy of this role, with the external ID " + externalID(c.options.Site)
	}
	return failed
}

// notDescribed returns the error for a failed DescribeCluster.
func (c *Cluster) notDescribed(ctx context.Context, err error) error {
	failed := &callError{what: "describe " + c.String(), cause: err}
	switch {
	case hasCode(err, codeNotFound):
		failed.fix = fmt.Sprintf("the account of %s has no cluster with this name. Check the name and the Region in cluster.eks, or set cluster.roleArn to a role of the cluster's account", c.principal(ctx))
	case hasCode(err, codesDenied...):
		failed.fix = fmt.Sprintf("allow %s eks:DescribeCluster on it", c.principal(ctx))
	case hasCode(err, codesStale...):
		failed.fix = "AWS rejects the credentials. Check whether they expired or were replaced, and check the clock of this machine. A function gets new credentials when you deploy it again"
	}
	return failed
}

// noAccess returns the error for an identity that the cluster does not know. Usually it
// has no access entry. The error differs if AWS also refuses the credentials.
func (c *Cluster) noAccess(ctx context.Context, err error) error {
	group := cmp.Or(c.options.Group, Group)
	who, unknown := c.whoAmI(ctx)
	if _, refused := errors.AsType[smithy.APIError](unknown); refused {
		return fmt.Errorf("%w. AWS also rejects the credentials: %w", err, &callError{what: "get caller identity", cause: unknown})
	}
	path := "" // the ARN of an assumed role does not include the role's path
	if c.options.RoleARN == "" {
		path = ". If the role has a path, the access entry requires the ARN with the path"
	}
	return fmt.Errorf("%w. Give the role an access entry with the group %s: aws eks create-access-entry --region %s --cluster-name %s --principal-arn %s --kubernetes-groups %s%s. If it has one, check that %s in cluster.eks is the name of the cluster",
		err, group, c.options.Region, c.options.Name, who, group, path, c.options.Name)
}

// reachable returns the remedy for a server that does not answer, although AWS still
// returns its address.
func (d description) reachable() string {
	if d.private {
		return "its endpoint is private. Run the function in the cluster's network"
	}
	return "its endpoint is public. Check that its public access CIDRs and the function's network let the function reach it"
}

// askedFor is the timeout of a call whose answer only completes an error message. The
// message must not wait longer for it.
const askedFor = 3 * time.Second

// whoAmI returns the ARN of the caller's role in the form of IAM and access entries. With
// an error it returns "ROLE".
func (c *Cluster) whoAmI(ctx context.Context) (string, error) {
	if c.options.RoleARN != "" {
		return c.options.RoleARN, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	answer, err := c.caller.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil || answer.Arn == nil {
		return "ROLE", err
	}
	if _, canonical, err := arn.Canonicalize(*answer.Arn); err == nil {
		return canonical, nil
	}
	return *answer.Arn, nil
}

// principal returns the caller's role for use in a sentence.
func (c *Cluster) principal(ctx context.Context) string {
	if who, err := c.whoAmI(ctx); err == nil {
		return who
	}
	return "the function's role"
}
