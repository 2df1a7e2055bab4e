package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/iam/types"
)

// A Right is a policy statement that the caller needs.
type Right struct {
	Sid      string
	Actions  []string
	Resource string // an ARN, with * for the random parts of names
	// Service is the service that a role is passed to; "" for other rights.
	Service string
}

// MarshalJSON returns the right as a statement of an IAM policy.
func (r Right) MarshalJSON() ([]byte, error) {
	statement := struct {
		Sid, Effect string
		Action      []string
		Resource    string
		Condition   map[string]map[string]string `json:",omitempty"`
	}{Sid: r.Sid, Effect: "Allow", Action: r.Actions, Resource: r.Resource}
	if r.Service != "" {
		statement.Condition = map[string]map[string]string{"StringEquals": {"iam:PassedToService": r.Service}}
	}
	return json.Marshal(statement)
}

// Rights returns the rights that the caller needs: to deploy the stack, to update it, and
// to run the commands of the site.
func Rights(f Facts, given Answers) []Right {
	named := Stack + "-*"
	iamARN := func(resource string) string {
		return fmt.Sprintf("arn:%s:iam::%s:%s", f.Partition, f.Account, resource)
	}
	all := []Right{
		{Sid: "DeployTheStack", Resource: f.arn("cloudformation", "stack/"+Stack+"/*"), Actions: changes},
		{Sid: "DeployTheBucketOfSam", Resource: f.arn("cloudformation", "stack/aws-sam-cli-managed-default/*"), Actions: changes},
		{Sid: "TransformTheTemplate", Resource: fmt.Sprintf("arn:%s:cloudformation:%s:aws:transform/Serverless-2016-10-31", f.Partition, f.Region),
			Actions: []string{"cloudformation:CreateChangeSet"}},
		{Sid: "CreateTheBucketOfSam", Resource: fmt.Sprintf("arn:%s:s3:::aws-sam-cli-managed-default-*", f.Partition), Actions: []string{
			"s3:CreateBucket", "s3:ListBucket", "s3:PutBucketPolicy", "s3:PutBucketPublicAccessBlock", "s3:PutBucketTagging", "s3:PutBucketVersioning",
			"s3:PutEncryptionConfiguration"}},
		{Sid: "UploadTheCode", Resource: fmt.Sprintf("arn:%s:s3:::aws-sam-cli-managed-default-*/*", f.Partition), Actions: []string{"s3:GetObject", "s3:PutObject"}},
		{Sid: "CreateTheRoles", Resource: iamARN("role/" + named), Actions: []string{
			"iam:CreateRole", "iam:DeleteRole", "iam:DeleteRolePolicy", "iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies",
			"iam:ListRolePolicies", "iam:PutRolePolicy", "iam:UpdateAssumeRolePolicy"}},
		{Sid: "RunTheFunctionWithItsRole", Resource: iamARN("role/" + named), Actions: []string{"iam:PassRole"}, Service: "lambda.amazonaws.com"},
		{Sid: "RunTheScheduleWithItsRole", Resource: iamARN("role/" + named), Actions: []string{"iam:PassRole"}, Service: "scheduler.amazonaws.com"},
		{Sid: "CreateTheFunction", Resource: f.arn("lambda", "function:"+named), Actions: []string{
			"lambda:CreateFunction", "lambda:DeleteFunction", "lambda:DeleteFunctionEventInvokeConfig", "lambda:GetFunction", "lambda:GetFunctionCodeSigningConfig",
			"lambda:GetFunctionEventInvokeConfig", "lambda:GetFunctionRecursionConfig", "lambda:GetRuntimeManagementConfig",
			"lambda:PutFunctionEventInvokeConfig", "lambda:TagResource", "lambda:UpdateFunctionCode", "lambda:UpdateFunctionConfiguration",
			"lambda:UpdateFunctionEventInvokeConfig"}},
		{Sid: "CreateTheSchedule", Resource: f.arn("scheduler", "schedule/default/"+named), Actions: []string{
			"scheduler:CreateSchedule", "scheduler:DeleteSchedule", "scheduler:GetSchedule", "scheduler:UpdateSchedule"}},
		{Sid: "CreateTheLogGroup", Resource: f.arn("logs", "log-group:"+named), Actions: []string{
			"logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:ListTagsForResource", "logs:PutRetentionPolicy"}},
		{Sid: "FindTheLogGroup", Resource: "*", Actions: []string{"logs:DescribeLogGroups"}},
		{Sid: "CreateTheQueues", Resource: f.arn("sqs", named), Actions: []string{
			"sqs:CreateQueue", "sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListQueueTags", "sqs:SetQueueAttributes"}},
		{Sid: "CreateTheKey", Resource: "*", Actions: []string{"kms:CreateKey"}},
		{Sid: "UseTheKey", Resource: f.arn("kms", "key/*"), Actions: []string{
			"kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:EnableKeyRotation", "kms:Encrypt", "kms:GetKeyPolicy", "kms:GetKeyRotationStatus",
			"kms:ListResourceTags", "kms:PutKeyPolicy", "kms:ScheduleKeyDeletion"}},
		{Sid: "CreateTheTable", Resource: f.arn("dynamodb", "table/"+named), Actions: []string{
			"dynamodb:CreateTable", "dynamodb:DescribeContinuousBackups", "dynamodb:DescribeContributorInsights",
			"dynamodb:DescribeKinesisStreamingDestination", "dynamodb:DescribeTable", "dynamodb:DescribeTimeToLive", "dynamodb:GetResourcePolicy",
			"dynamodb:ListTagsOfResource", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTable"}},
		{Sid: "CreateTheTopic", Resource: f.arn("sns", named), Actions: []string{
			"sns:CreateTopic", "sns:DeleteTopic", "sns:GetDataProtectionPolicy", "sns:GetTopicAttributes", "sns:ListSubscriptionsByTopic",
			"sns:ListTagsForResource", "sns:SetTopicAttributes"}},
		{Sid: "CreateTheAlarms", Resource: f.arn("cloudwatch", "alarm:"+named), Actions: []string{
			"cloudwatch:DeleteAlarms", "cloudwatch:DescribeAlarms", "cloudwatch:ListTagsForResource", "cloudwatch:PutMetricAlarm"}},
		{Sid: "ReadTheCluster", Resource: f.arn("eks", "cluster/"+given.Cluster), Actions: []string{"eks:CreateAccessEntry", "eks:DescribeCluster"}},
		{Sid: "CreateTheAccessEntry", Resource: f.arn("eks", fmt.Sprintf("access-entry/%s/role/%s/%s/*", given.Cluster, f.Account, named)), Actions: []string{
			"eks:DeleteAccessEntry", "eks:DescribeAccessEntry", "eks:ListAssociatedAccessPolicies", "eks:UpdateAccessEntry"}},
		{Sid: "RunATick", Resource: f.arn("lambda", "function:"+named), Actions: []string{"lambda:InvokeFunction"}},
	}
	if given.AlertEmail != "" {
		all = append(all, Right{Sid: "SubscribeToTheAlerts", Resource: f.arn("sns", named), Actions: []string{
			"sns:GetSubscriptionAttributes", "sns:Subscribe", "sns:Unsubscribe"}})
	}
	if f.Network.VPC != "" {
		all = append(all, Right{Sid: "ConnectTheFunctionToTheVpc", Resource: "*", Actions: []string{
			"ec2:AuthorizeSecurityGroupEgress", "ec2:AuthorizeSecurityGroupIngress", "ec2:CreateSecurityGroup", "ec2:DeleteSecurityGroup",
			"ec2:DescribeNetworkInterfaces", "ec2:DescribeSecurityGroupRules", "ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs",
			"ec2:RevokeSecurityGroupEgress", "ec2:RevokeSecurityGroupIngress"}})
	}
	if f.Host.CodeCommit != "" {
		return append(all, Right{Sid: "UseTheRepository", Resource: f.arn("codecommit", f.Host.CodeCommit), Actions: []string{
			"codecommit:CreateCommit", "codecommit:GetBlob", "codecommit:GetBranch", "codecommit:GetCommit", "codecommit:GetFolder"}})
	}
	return append(all, Right{Sid: "ReadTheCredential", Resource: f.arn("secretsmanager", "secret:"+given.Credential+"-??????"), Actions: []string{
		"secretsmanager:GetSecretValue"}})
}

// changes are the actions of sam deploy on a stack.
var changes = []string{
	"cloudformation:CreateChangeSet", "cloudformation:DescribeChangeSet", "cloudformation:DescribeStackEvents", "cloudformation:DescribeStacks",
	"cloudformation:ExecuteChangeSet", "cloudformation:GetTemplateSummary",
}

// A Simulator is the part of the IAM client that Check uses.
type Simulator interface {
	iam.SimulatePrincipalPolicyAPIClient
	GetRole(context.Context, *iam.GetRoleInput, ...func(*iam.Options)) (*iam.GetRoleOutput, error)
}

// A Report is the result of Check. A right without an answer is unknown, never granted.
type Report struct {
	Principal string // ARN of the user or role
	Granted   int    // number of actions
	Missing   []Lack
	Unknown   []Lack
}

// A Lack is a right that IAM denies or does not decide. It has one action.
type Lack struct {
	Right
	Why string
}

// Check asks IAM for each right. It sends no other request than simulations, and reads the
// ARN of the caller's role.
func Check(ctx context.Context, by Simulator, f Facts, rights []Right) Report {
	principal, err := principalOf(ctx, by, f.Caller)
	report := Report{Principal: principal}
	for _, r := range rights {
		var answers map[string]types.EvaluationResult
		if err == nil {
			answers, err = simulate(ctx, by, principal, f.Region, r)
		}
		for _, action := range r.Actions {
			state, why := decided(answers[action], err)
			lack := Lack{r, why}
			lack.Actions = []string{action}
			switch state {
			case granted:
				report.Granted++
			case missing:
				report.Missing = append(report.Missing, lack)
			default:
				report.Unknown = append(report.Unknown, lack)
			}
		}
	}
	return report
}

// Statements returns rights as one statement for each purpose and reason.
func Statements(lacks []Lack) (all []Lack) {
	for _, lack := range lacks {
		last := len(all) - 1
		if last >= 0 && all[last].Sid == lack.Sid && all[last].Why == lack.Why {
			all[last].Actions = append(all[last].Actions, lack.Actions...)
			continue
		}
		all = append(all, lack)
	}
	return all
}

// Policy returns an IAM policy that grants the missing and the unknown rights, as indented
// JSON; "" if every right is granted.
func (r Report) Policy() string {
	var statements []Right
	for _, lack := range slices.Concat(r.Missing, r.Unknown) {
		at := slices.IndexFunc(statements, func(s Right) bool { return s.Sid == lack.Sid })
		if at < 0 {
			statements = append(statements, lack.Right)
			continue
		}
		statements[at].Actions = append(statements[at].Actions, lack.Actions...)
	}
	if len(statements) == 0 {
		return ""
	}
	text, err := json.MarshalIndent(struct {
		Version   string
		Statement []Right
	}{"2012-10-17", statements}, "", "  ")
	if err != nil {
		panic(err) // a Right contains only texts
	}
	return string(text)
}

// principalOf returns the ARN whose policies IAM can simulate. The ARN of a session does
// not contain the path of its role.
func principalOf(ctx context.Context, by Simulator, caller string) (string, error) {
	parsed, err := arn.Parse(caller)
	if err != nil {
		return caller, err
	}
	kind, rest, _ := strings.Cut(parsed.Resource, "/")
	switch kind {
	case "user":
		return caller, nil
	case "assumed-role":
		name, _, _ := strings.Cut(rest, "/")
		answer, err := by.GetRole(ctx, &iam.GetRoleInput{RoleName: &name})
		if err != nil {
			return caller, fmt.Errorf("iam:GetRole: %w", err)
		}
		return aws.ToString(answer.Role.Arn), nil
	case "root":
		return caller, errors.New("IAM cannot simulate the permissions of the root user. Log in as a role or a user")
	}
	return caller, fmt.Errorf("IAM cannot simulate the permissions of a %s", kind)
}

// simulate returns the answers of IAM by action.
func simulate(ctx context.Context, by Simulator, principal, region string, r Right) (map[string]types.EvaluationResult, error) {
	values := map[string]string{"aws:RequestedRegion": region}
	if r.Service != "" {
		values["iam:PassedToService"] = r.Service
	}
	input := &iam.SimulatePrincipalPolicyInput{
		PolicySourceArn: &principal,
		ActionNames:     r.Actions,
		ResourceArns:    []string{example(r.Resource)},
	}
	for _, key := range []string{"aws:RequestedRegion", "iam:PassedToService"} {
		if value := values[key]; value != "" {
			input.ContextEntries = append(input.ContextEntries, types.ContextEntry{
				ContextKeyName: &key, ContextKeyType: types.ContextKeyTypeEnumString, ContextKeyValues: []string{value}})
		}
	}
	answers := map[string]types.EvaluationResult{}
	pages := iam.NewSimulatePrincipalPolicyPaginator(by, input)
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("iam:SimulatePrincipalPolicy: %w", err)
		}
		for _, result := range page.EvaluationResults {
			answers[aws.ToString(result.EvalActionName)] = result
		}
	}
	return answers, nil
}

// example returns the ARN of one resource that a pattern matches.
func example(pattern string) string {
	if pattern == "*" {
		return pattern
	}
	return strings.NewReplacer("*", "example", "?", "x").Replace(pattern)
}

// A state is the state of one right.
type state int

const (
	unknown state = iota
	missing
	granted
)

// decided returns the state of a right and the reason. A condition key without a value can
// change the decision in both directions.
func decided(answer types.EvaluationResult, err error) (state, string) {
	organization := answer.OrganizationsDecisionDetail
	boundary := answer.PermissionsBoundaryDecisionDetail
	switch {
	case err != nil:
		return unknown, err.Error()
	case answer.EvalActionName == nil:
		return unknown, "IAM returned no decision"
	case len(answer.MissingContextValues) > 0:
		return unknown, "the decision depends on " + strings.Join(answer.MissingContextValues, ", ")
	case organization != nil && !organization.AllowedByOrganizations:
		return missing, "a service control policy of the organization does not allow it"
	case boundary != nil && !boundary.AllowedByPermissionsBoundary:
		return missing, "the permissions boundary does not allow it"
	case answer.EvalDecision == types.PolicyEvaluationDecisionTypeExplicitDeny:
		return missing, "a policy denies it. A statement that allows it has no effect until you remove the Deny"
	case answer.EvalDecision == types.PolicyEvaluationDecisionTypeAllowed:
		return granted, ""
	case answer.EvalDecision == types.PolicyEvaluationDecisionTypeImplicitDeny:
		return missing, "no policy allows it"
	}
	return unknown, fmt.Sprintf("IAM returned the decision %q", answer.EvalDecision)
}
