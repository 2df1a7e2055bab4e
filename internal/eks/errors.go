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

// Group is the Kubernetes group that an access entry gives, and to which the
// manifests in infra/rbac give their rights.
const Group = "gitlatch:samplers"

// The codes of AWS that are told apart.
const codeNotFound = "ResourceNotFoundException"

// codesStale are of credentials that AWS does not take.
var codesStale = []string{"SignatureDoesNotMatch", "InvalidSignatureException", "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredToken", "ExpiredTokenException"}

var codesDenied = []string{"AccessDeniedException", "AccessDenied"}

// String names the cluster.
func (c *Cluster) String() string {
	return fmt.Sprintf("EKS cluster %s in %s", c.options.Name, c.options.Region)
}

// A callError is a call of AWS that failed, with what to do about it.
type callError struct {
	what  string
	cause error
	fix   string // "" where it is not known
}

// Error gives AWS's words, without the SDK's about the request.
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

// noCredentials says why there are no credentials: with a role, that it cannot be
// assumed.
func (c *Cluster) noCredentials(err error) error {
	role := c.options.RoleARN
	if role == "" {
		return &callError{what: "find AWS credentials", cause: err}
	}
	failed := &callError{what: "assume " + role + " for " + c.String(), cause: err}
	if hasCode(err, codesDenied...) {
		failed.fix = "allow sts:AssumeRole for this role in the policy of the function's role and in the trust policy of this role"
		if c.options.ExternalID != "" {
			failed.fix += " with the external id that is configured"
		}
	}
	return failed
}

// notDescribed says why a cluster could not be described.
func (c *Cluster) notDescribed(ctx context.Context, err error) error {
	failed := &callError{what: "describe " + c.String(), cause: err}
	switch {
	case hasCode(err, codeNotFound):
		failed.fix = fmt.Sprintf("the account of %s has no cluster with this name. Check cluster.eks.name and cluster.eks.region, or set cluster.eks.roleArn to a role of the cluster's account", c.principal(ctx))
	case hasCode(err, codesDenied...):
		failed.fix = fmt.Sprintf("allow %s eks:DescribeCluster on it", c.principal(ctx))
	case hasCode(err, codesStale...):
		failed.fix = "AWS rejects the credentials. Check whether they expired or were replaced, and check the clock of this machine. A function gets new credentials when you deploy it again"
	}
	return failed
}

// noAccess says why the cluster does not know who asks: it has no access entry,
// unless AWS does not know either.
func (c *Cluster) noAccess(ctx context.Context, err error) error {
	group := cmp.Or(c.options.Group, Group)
	who, unknown := c.whoAmI(ctx)
	if _, refused := errors.AsType[smithy.APIError](unknown); refused {
		return fmt.Errorf("%w. AWS also rejects the credentials: %w", err, &callError{what: "get caller identity", cause: unknown})
	}
	path := "" // an assumed role's ARN does not say the path of the role
	if c.options.RoleARN == "" {
		path = ". If the role has a path, the access entry requires the ARN with the path"
	}
	return fmt.Errorf("%w. Give the role an access entry with the group %s: aws eks create-access-entry --region %s --cluster-name %s --principal-arn %s --kubernetes-groups %s%s. If it has one, check that %s in cluster.eks.name is the name of the cluster",
		err, group, c.options.Region, c.options.Name, who, group, path, c.options.Name)
}

// noRights says why the cluster knows who asks and lets it see nothing.
func (c *Cluster) noRights(err error) error {
	return fmt.Errorf("%w. Give group %s its rights in %s: run \"kubectl apply -k %s\", and check that the access entry has this group", err, cmp.Or(c.options.Group, Group), c, cmp.Or(c.options.Rights, "infra/rbac"))
}

// reachable says what to look at where a server does not answer although it is
// where AWS says.
func (d description) reachable() string {
	if d.private {
		return "its endpoint is private. Run the function in the cluster's network"
	}
	return "its endpoint is public. Check that its public access CIDRs and the function's network let the function reach it"
}

// askedFor bounds a question that is asked for the words of an error alone, and
// that must not keep that error from being said.
const askedFor = 3 * time.Second

// whoAmI returns the ARN of the role that asks, as IAM and access entries have
// it; "ROLE" with an error.
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

// principal is whoAmI for a sentence.
func (c *Cluster) principal(ctx context.Context) string {
	if who, err := c.whoAmI(ctx); err == nil {
		return who
	}
	return "the function's role"
}
