package stack

import (
	"slices"
	"testing"

	"github.com/gitlatch/gitlatch/internal/latch/dynamo"
)

// A request is a question to IAM: may a principal perform an action on a resource?
type request struct {
	name    string
	allowed bool

	of       string // the deployed sample, or theSpoke
	role     string // the role whose policies decide; "" if it is not in this account
	as       string // the principal without a role
	action   string
	resource string            // an ARN, or the logical id of a resource with an ARN
	policy   string            // the resource's own policy: a property of a resource, such as Key.KeyPolicy
	context  map[string]string // of the request
}

const (
	// theSpoke is the deployed infra/spoke.yaml.
	theSpoke = "infra/spoke.yaml"

	// accountDecides is the policy of a key outside the stack: the default policy,
	// which delegates to the policies of the account.
	accountDecides = "account"

	otherAccount = "999988887777"
	elsewhere    = "arn:aws:iam::" + otherAccount + ":role/other"
	repositories = "arn:aws:codecommit:" + region + ":" + account + ":"
	clusters     = "arn:aws:eks:" + region + ":" + account + ":cluster/"
	secrets      = "arn:aws:secretsmanager:" + region + ":" + account + ":secret:"
	allTables    = "arn:aws:dynamodb:" + region + ":" + account + ":table/"
)

func keyed(site string) map[string]string {
	return map[string]string{"dynamodb:LeadingKeys": dynamo.Partition(site)}
}
func reference(branch string) map[string]string {
	return map[string]string{"codecommit:References": "refs/heads/" + branch}
}
func via(service string) map[string]string {
	return map[string]string{"kms:ViaService": service + "." + region + ".amazonaws.com"}
}

// secretOf is the context of a call of KMS for a secret, through a service.
func secretOf(service, secret string) map[string]string {
	context := via(service)
	context["kms:EncryptionContext:SecretARN"] = secrets + secret
	return context
}
func from(account string) map[string]string {
	return map[string]string{"aws:SourceAccount": account, "aws:SecureTransport": "true"}
}
func in(region string) map[string]string     { return map[string]string{"aws:RequestedRegion": region} }
func nodegroups(region string) string        { return "arn:aws:eks:" + region + ":" + account + ":nodegroup/" }
func externally(id string) map[string]string { return map[string]string{"sts:ExternalId": id} }

const (
	allow = true
	deny  = false
)

// owned returns a request for a resource of this account.
var owned = map[string]string{"aws:ResourceAccount": account}

// requests are the operations that each role must be allowed, and the likely next steps
// of an attacker who took it over.
var requests = []request{
	{"find the cluster", allow, "github", "LatchRole", "", "eks:DescribeCluster", clusters + "prod-eu-blue", "", nil},
	{"find another cluster", deny, "github", "LatchRole", "", "eks:DescribeCluster", clusters + "prod-eu", "", nil},
	{"assume the spoke's role", allow, "spoke", "LatchRole", "", "sts:AssumeRole", "arn:aws:iam::444455556666:role/gitlatch-edge", "", nil},
	{"assume another role of the spoke's account", deny, "spoke", "LatchRole", "", "sts:AssumeRole", "arn:aws:iam::444455556666:role/admin", "", nil},

	{"read the site's latches", allow, "github", "LatchRole", "", "dynamodb:Query", "StateTable", "", keyed("prod-eu")},
	{"read the site's head", allow, "github", "LatchRole", "", "dynamodb:GetItem", "StateTable", "", keyed("prod-eu")},
	{"write the site's latches", allow, "github", "LatchRole", "", "dynamodb:UpdateItem", "StateTable", "", keyed("prod-eu")},
	{"retire a latch of the site", allow, "github", "LatchRole", "", "dynamodb:DeleteItem", "StateTable", "", keyed("prod-eu")},
	{"read a site whose name only begins alike", deny, "github", "LatchRole", "", "dynamodb:Query", "StateTable", "", keyed("prod-eu2")},
	{"write a site whose name is a beginning", deny, "github", "LatchRole", "", "dynamodb:UpdateItem", "StateTable", "", keyed("prod")},
	{"query without a key", deny, "github", "LatchRole", "", "dynamodb:Query", "StateTable", "", nil},
	{"write without a key", deny, "github", "LatchRole", "", "dynamodb:UpdateItem", "StateTable", "", nil},
	{"read another table", deny, "github", "LatchRole", "", "dynamodb:GetItem", allTables + "orders", "", keyed("prod-eu")},
	{"use the table of the stack that shares it", allow, "spoke", "LatchRole", "", "dynamodb:UpdateItem", allTables + hub + "-StateTable-1A2B3C4D5E6F", "", keyed("123")},
	{"use the hub's own partition", deny, "spoke", "LatchRole", "", "dynamodb:UpdateItem", allTables + hub + "-StateTable-1A2B3C4D5E6F", "", keyed("prod-eu")},

	{"use the key by way of the table", allow, "github", "LatchRole", "", "kms:Decrypt", "Key", "Key.KeyPolicy", via("dynamodb")},
	{"use the key by way of the topic", allow, "github", "LatchRole", "", "kms:GenerateDataKey", "Key", "Key.KeyPolicy", via("sns")},
	{"use the key by itself", deny, "github", "LatchRole", "", "kms:Decrypt", "Key", "Key.KeyPolicy", nil},
	{"use the key by way of another service", deny, "github", "LatchRole", "", "kms:Decrypt", "Key", "Key.KeyPolicy", via("s3")},
	{"delete the key", deny, "github", "LatchRole", "", "kms:ScheduleKeyDeletion", "Key", "Key.KeyPolicy", nil},
	{"alert", allow, "github", "LatchRole", "", "sns:Publish", "AlertTopic", "", map[string]string{"aws:SecureTransport": "true"}},
	{"publish to another topic", deny, "github", "LatchRole", "", "sns:Publish", "arn:aws:sns:" + region + ":" + account + ":orders", "", nil},

	{"read a metric where demand is measured", allow, "codecommit by proposal", "LatchRole", "", "cloudwatch:GetMetricData", "*", "", nil},

	{"read the credential", allow, "github", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-AbCdEf", "", nil},
	{"read a secret whose name only begins alike", deny, "github", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-admin-AbCdEf", "", nil},
	{"decrypt the credential", allow, "spoke", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/token-AbCdEf")},
	{"decrypt something else with that key", deny, "spoke", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("s3", "gitlatch/token-AbCdEf")},
	{"decrypt another secret with that key", deny, "spoke", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/token-admin-AbCdEf")},
	{"decrypt without a secret", deny, "spoke", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, via("secretsmanager")},
	{"read the credential of a server", allow, "ssh", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/git-AbCdEf", "", nil},
	{"read the signing key", allow, "ssh", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/signing-AbCdEf", "", nil},
	{"read a third secret", deny, "ssh", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/git-admin-AbCdEf", "", nil},
	{"read a signing key that is not set", deny, "gitlab", "LatchRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/signing-AbCdEf", "", nil},
	{"decrypt the credential of a server", allow, "ssh", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/git-AbCdEf")},
	{"decrypt the signing key", allow, "ssh", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/signing-AbCdEf")},
	{"decrypt something else with the key of the secrets", deny, "ssh", "LatchRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("s3", "gitlatch/git-AbCdEf")},

	{"read the repository", allow, "codecommit", "LatchRole", "", "codecommit:GetBlob", repositories + "fleet", "", nil},
	{"read another repository", deny, "codecommit", "LatchRole", "", "codecommit:GetBlob", repositories + "fleet2", "", nil},
	{"commit to the branch", allow, "codecommit", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("checkpoints/live")},
	{"commit to another branch", deny, "codecommit", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("main")},
	{"commit to no branch by name", deny, "codecommit", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", nil},
	{"delete no branch by name", deny, "codecommit", "LatchRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", nil},
	{"make the branch", deny, "codecommit", "LatchRole", "", "codecommit:CreateBranch", repositories + "fleet", "", reference("checkpoints/live")},
	{"delete the branch", deny, "codecommit", "LatchRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", reference("checkpoints/live")},
	{"propose", allow, "codecommit by proposal", "LatchRole", "", "codecommit:CreatePullRequest", repositories + "fleet", "", nil},
	{"commit to the proposal", allow, "codecommit by proposal", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("gitlatch/prod-ap")},
	{"make the proposal anew beside its branch", allow, "codecommit by proposal", "LatchRole", "", "codecommit:CreateBranch", repositories + "fleet", "", reference("gitlatch/prod-ap.next")},
	{"remove the proposal's branch", allow, "codecommit by proposal", "LatchRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", reference("gitlatch/prod-ap")},
	{"commit to another site's proposal", deny, "codecommit by proposal", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("gitlatch/prod-us")},
	{"commit past the people who review", deny, "codecommit by proposal", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("main")},
	{"commit to no branch by name past the people who review", deny, "codecommit by proposal", "LatchRole", "", "codecommit:CreateCommit", repositories + "fleet", "", nil},
	{"make no branch by name", deny, "codecommit by proposal", "LatchRole", "", "codecommit:CreateBranch", repositories + "fleet", "", nil},
	{"remove no branch by name", deny, "codecommit by proposal", "LatchRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", nil},
	{"remove the branch that people review for", deny, "codecommit by proposal", "LatchRole", "", "codecommit:DeleteBranch", repositories + "fleet", "", reference("main")},

	{"log", allow, "github", "LatchRole", "", "logs:PutLogEvents", "LatchLogs", "", nil},
	{"log elsewhere", deny, "github", "LatchRole", "", "logs:PutLogEvents", "arn:aws:logs:" + region + ":" + account + ":log-group:other:log-stream:s", "", nil},
	{"keep a failed tick", allow, "github", "LatchRole", "", "sqs:SendMessage", "FailedTicks", "", map[string]string{"aws:SecureTransport": "true"}},
	{"attach to the subnets, as Lambda", allow, "codecommit", "LatchRole", "", "ec2:DescribeNetworkInterfaces", "*", "", nil},
	{"look at the network, as the function", deny, "codecommit", "LatchRole", "", "ec2:DescribeNetworkInterfaces", "*", "",
		map[string]string{"lambda:SourceFunctionArn": "arn:aws:lambda:" + region + ":" + account + ":function:latch"}},

	{"start a tick", allow, "github", "ScheduleRole", "", "lambda:InvokeFunction", "LatchFunction", "", nil},
	{"start a drill", allow, "github", "DrillScheduleRole", "", "lambda:InvokeFunction", "DrillFunction", "", nil},
	{"start a drill by the ticks' schedule", deny, "github", "ScheduleRole", "", "lambda:InvokeFunction", "DrillFunction", "", nil},
	{"start a tick by the drills' schedule", deny, "github", "DrillScheduleRole", "", "lambda:InvokeFunction", "LatchFunction", "", nil},
	{"keep an undelivered drill", allow, "github", "DrillScheduleRole", "", "sqs:SendMessage", "UndeliveredDrills", "", map[string]string{"aws:SecureTransport": "true"}},
	{"schedule drills as another account", deny, "github", "", "scheduler.amazonaws.com", "sts:AssumeRole", "DrillScheduleRole", "DrillScheduleRole.AssumeRolePolicyDocument", from(otherAccount)},
	{"start another function", deny, "github", "ScheduleRole", "", "lambda:InvokeFunction", "arn:aws:lambda:" + region + ":" + account + ":function:orders", "", nil},
	{"keep an undelivered tick", allow, "github", "ScheduleRole", "", "sqs:SendMessage", "UndeliveredTicks", "", map[string]string{"aws:SecureTransport": "true"}},
	{"schedule as this account", allow, "github", "", "scheduler.amazonaws.com", "sts:AssumeRole", "ScheduleRole", "ScheduleRole.AssumeRolePolicyDocument", from(account)},
	{"schedule as another account", deny, "github", "", "scheduler.amazonaws.com", "sts:AssumeRole", "ScheduleRole", "ScheduleRole.AssumeRolePolicyDocument", from(otherAccount)},
	{"run as the role", allow, "github", "", "lambda.amazonaws.com", "sts:AssumeRole", "LatchRole", "LatchRole.AssumeRolePolicyDocument", nil},
	{"take the role over", deny, "github", "", elsewhere, "sts:AssumeRole", "LatchRole", "LatchRole.AssumeRolePolicyDocument", nil},

	{"find the cluster to drill", allow, "github", "DrillRole", "", "eks:DescribeCluster", clusters + "prod-eu-blue", "", nil},
	{"find another cluster to drill", deny, "github", "DrillRole", "", "eks:DescribeCluster", clusters + "prod-eu", "", nil},
	{"read the subnets for a drill", allow, "github", "DrillRole", "", "ec2:DescribeSubnets", "*", "", in(region)},
	{"read the subnets for a drill in a VPC", allow, "codecommit", "DrillRole", "", "ec2:DescribeSubnets", "*", "",
		map[string]string{"aws:RequestedRegion": "us-west-2", "lambda:SourceFunctionArn": "arn:aws:lambda:" + region + ":" + account + ":function:drill"}},
	{"read the subnets of another Region", deny, "github", "DrillRole", "", "ec2:DescribeSubnets", "*", "", in("us-west-2")},
	{"read the quotas of the standby's Region", allow, "codecommit", "DrillRole", "", "servicequotas:ListServiceQuotas", "*", "", in("us-west-2")},
	{"list the node groups", allow, "github", "DrillRole", "", "eks:ListNodegroups", clusters + "prod-eu-blue", "", nil},
	{"describe a node group", allow, "github", "DrillRole", "", "eks:DescribeNodegroup", nodegroups(region) + "prod-eu-blue/base/0a1b", "", nil},
	{"describe a node group of another cluster", deny, "github", "DrillRole", "", "eks:DescribeNodegroup", nodegroups(region) + "prod-eu-blue2/base/0a1b", "", nil},
	{"describe a node group of the standby", allow, "codecommit", "DrillRole", "", "eks:DescribeNodegroup", nodegroups("us-west-2") + "prod-us-standby/base/0a1b", "", nil},
	{"find the standby", allow, "codecommit", "DrillRole", "", "eks:DescribeCluster", "arn:aws:eks:us-west-2:" + account + ":cluster/prod-us-standby", "", nil},
	{"find the hub", allow, "codecommit", "DrillRole", "", "eks:DescribeCluster", clusters + "tools", "", nil},
	{"find another cluster than the hub", deny, "codecommit", "DrillRole", "", "eks:DescribeCluster", clusters + "prod-eu", "", nil},
	{"find the hub as a tick", deny, "codecommit", "LatchRole", "", "eks:DescribeCluster", clusters + "tools", "", nil},
	{"flush the site's latches", allow, "github", "DrillRole", "", "dynamodb:UpdateItem", "StateTable", "", keyed("prod-eu")},
	{"flush a site whose name only begins alike", deny, "github", "DrillRole", "", "dynamodb:UpdateItem", "StateTable", "", keyed("prod-eu2")},
	{"flush without a key", deny, "github", "DrillRole", "", "dynamodb:UpdateItem", "StateTable", "", nil},
	{"tell of a drill", allow, "github", "DrillRole", "", "sns:Publish", "AlertTopic", "", map[string]string{"aws:SecureTransport": "true"}},
	{"use the key by itself, as a drill", deny, "github", "DrillRole", "", "kms:Decrypt", "Key", "Key.KeyPolicy", nil},
	{"read the credential of a server to drill", allow, "ssh", "DrillRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/git-AbCdEf", "", nil},
	{"read the signing key to drill", allow, "ssh", "DrillRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/signing-AbCdEf", "", nil},
	{"decrypt something else to drill", deny, "ssh", "DrillRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("s3", "gitlatch/git-AbCdEf")},
	{"read the credential to drill", allow, "github", "DrillRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-AbCdEf", "", nil},
	{"read another secret to drill", deny, "github", "DrillRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-admin-AbCdEf", "", nil},
	{"commit a flush", allow, "codecommit", "DrillRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("checkpoints/live")},
	{"commit a flush to another branch", deny, "codecommit", "DrillRole", "", "codecommit:CreateCommit", repositories + "fleet", "", reference("main")},
	{"keep a report", allow, "github", "DrillRole", "", "s3:PutObject", "arn:aws:s3:::fleet-reports/gitlatch/drills/prod-eu/latest.json", "", owned},
	{"keep a report in another account's bucket of this name", deny, "github", "DrillRole", "", "s3:PutObject", "arn:aws:s3:::fleet-reports/gitlatch/drills/prod-eu/latest.json", "", map[string]string{"aws:ResourceAccount": otherAccount}},
	{"keep a report of a site whose name only begins alike", deny, "github", "DrillRole", "", "s3:PutObject", "arn:aws:s3:::fleet-reports/gitlatch/drills/prod-eu2/latest.json", "", owned},
	{"keep a report elsewhere in the bucket", deny, "github", "DrillRole", "", "s3:PutObject", "arn:aws:s3:::fleet-reports/latest.json", "", owned},
	{"log a drill", allow, "github", "DrillRole", "", "logs:PutLogEvents", "DrillLogs", "", nil},
	{"log a drill among ticks", deny, "github", "DrillRole", "", "logs:PutLogEvents", "LatchLogs", "", nil},
	{"keep a failed drill", allow, "github", "DrillRole", "", "sqs:SendMessage", "FailedDrills", "", map[string]string{"aws:SecureTransport": "true"}},
	{"keep a failed drill in clear text", deny, "github", "DrillRole", "", "sqs:SendMessage", "FailedDrills", "DrillsOverTlsOnly.PolicyDocument", map[string]string{"aws:SecureTransport": "false"}},
	{"look at the network, as a drill", deny, "codecommit", "DrillRole", "", "ec2:DescribeNetworkInterfaces", "*", "",
		map[string]string{"lambda:SourceFunctionArn": "arn:aws:lambda:" + region + ":" + account + ":function:drill"}},
	{"take the drill's role over", deny, "github", "", elsewhere, "sts:AssumeRole", "DrillRole", "DrillRole.AssumeRolePolicyDocument", nil},
	{"run as the drill's role", allow, "github", "", "lambda.amazonaws.com", "sts:AssumeRole", "DrillRole", "DrillRole.AssumeRolePolicyDocument", nil},

	{"find the cluster to restore", allow, "github", "RestoreRole", "", "eks:DescribeCluster", clusters + "prod-eu-blue", "", nil},
	{"find another cluster to restore", deny, "github", "RestoreRole", "", "eks:DescribeCluster", clusters + "prod-eu", "", nil},
	{"read the credential of a server to restore", allow, "ssh", "RestoreRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/git-AbCdEf", "", nil},
	{"read the signing key to restore", deny, "ssh", "RestoreRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/signing-AbCdEf", "", nil},
	{"decrypt the signing key to restore", deny, "ssh", "RestoreRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/signing-AbCdEf")},
	{"decrypt the credential to restore", allow, "ssh", "RestoreRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("secretsmanager", "gitlatch/git-AbCdEf")},
	{"decrypt something else to restore", deny, "ssh", "RestoreRole", "", "kms:Decrypt", "arn:aws:kms:eu-west-1:111122223333:key/5e9d", accountDecides, secretOf("s3", "gitlatch/git-AbCdEf")},
	{"read the credential to restore", allow, "github", "RestoreRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-AbCdEf", "", nil},
	{"read another secret to restore", deny, "github", "RestoreRole", "", "secretsmanager:GetSecretValue", secrets + "gitlatch/github-admin-AbCdEf", "", nil},
	{"read the record", allow, "codecommit", "RestoreRole", "", "codecommit:GetBlob", repositories + "fleet", "", nil},
	{"read another repository's record", deny, "codecommit", "RestoreRole", "", "codecommit:GetBlob", repositories + "fleet2", "", nil},
	{"log a restore", allow, "github", "RestoreRole", "", "logs:PutLogEvents", "RestoreLogs", "", nil},
	{"log a restore among ticks", deny, "github", "RestoreRole", "", "logs:PutLogEvents", "LatchLogs", "", nil},
	{"keep a failed restore", allow, "github", "RestoreRole", "", "sqs:SendMessage", "FailedRestores", "", map[string]string{"aws:SecureTransport": "true"}},
	{"keep a failed restore in clear text", deny, "github", "RestoreRole", "", "sqs:SendMessage", "FailedRestores", "RestoresOverTlsOnly.PolicyDocument", map[string]string{"aws:SecureTransport": "false"}},
	{"attach a restore to the subnets, as Lambda", allow, "codecommit", "RestoreRole", "", "ec2:CreateNetworkInterface", "*", "", nil},
	{"look at the network, as a restore", deny, "codecommit", "RestoreRole", "", "ec2:DescribeNetworkInterfaces", "*", "",
		map[string]string{"lambda:SourceFunctionArn": "arn:aws:lambda:" + region + ":" + account + ":function:restore"}},
	{"take the restore's role over", deny, "github", "", elsewhere, "sts:AssumeRole", "RestoreRole", "RestoreRole.AssumeRolePolicyDocument", nil},
	{"run as the restore's role", allow, "github", "", "lambda.amazonaws.com", "sts:AssumeRole", "RestoreRole", "RestoreRole.AssumeRolePolicyDocument", nil},
	{"start a release", allow, "github", "RestoreScheduleRole", "", "lambda:InvokeFunction", "RestoreFunction", "", nil},
	{"start a restore by the ticks' schedule", deny, "github", "ScheduleRole", "", "lambda:InvokeFunction", "RestoreFunction", "", nil},
	{"start a tick by the releases' schedule", deny, "github", "RestoreScheduleRole", "", "lambda:InvokeFunction", "LatchFunction", "", nil},
	{"keep an undelivered release", allow, "github", "RestoreScheduleRole", "", "sqs:SendMessage", "UndeliveredReleases", "", map[string]string{"aws:SecureTransport": "true"}},
	{"schedule releases as this account", allow, "github", "", "scheduler.amazonaws.com", "sts:AssumeRole", "RestoreScheduleRole", "RestoreScheduleRole.AssumeRolePolicyDocument", from(account)},
	{"schedule releases as another account", deny, "github", "", "scheduler.amazonaws.com", "sts:AssumeRole", "RestoreScheduleRole", "RestoreScheduleRole.AssumeRolePolicyDocument", from(otherAccount)},

	{"assume the spoke's role with the external id", allow, theSpoke, "", spoke["HubRoleArn"], "sts:AssumeRole", "SpokeRole", "SpokeRole.AssumeRolePolicyDocument", externally("gitlatch/edge")},
	{"assume the spoke's role with another's", deny, theSpoke, "", spoke["HubRoleArn"], "sts:AssumeRole", "SpokeRole", "SpokeRole.AssumeRolePolicyDocument", externally("other")},
	{"assume the spoke's role without the external id", deny, theSpoke, "", spoke["HubRoleArn"], "sts:AssumeRole", "SpokeRole", "SpokeRole.AssumeRolePolicyDocument", nil},
	{"assume the spoke's role as somebody else", deny, theSpoke, "", elsewhere, "sts:AssumeRole", "SpokeRole", "SpokeRole.AssumeRolePolicyDocument", externally("gitlatch/edge")},
	{"find the spoke's cluster", allow, theSpoke, "SpokeRole", "", "eks:DescribeCluster", clusters + "edge", "", nil},
	{"find another cluster of the spoke's account", deny, theSpoke, "SpokeRole", "", "eks:DescribeCluster", clusters + "core", "", nil},

	{"alarm by the key", allow, "github", "", "cloudwatch.amazonaws.com", "kms:Decrypt", "Key", "Key.KeyPolicy", from(account)},
	{"alarm by a data key", allow, "github", "", "cloudwatch.amazonaws.com", "kms:GenerateDataKey", "Key", "Key.KeyPolicy", from(account)},
	{"alarm by the key for another account", deny, "github", "", "cloudwatch.amazonaws.com", "kms:Decrypt", "Key", "Key.KeyPolicy", from(otherAccount)},
	{"use the key from another account", deny, "github", "", elsewhere, "kms:Decrypt", "Key", "Key.KeyPolicy", nil},
	{"alarm", allow, "github", "", "cloudwatch.amazonaws.com", "sns:Publish", "AlertTopic", "AlertTopicPolicy.PolicyDocument", from(account)},
	{"alarm for another account", deny, "github", "", "cloudwatch.amazonaws.com", "sns:Publish", "AlertTopic", "AlertTopicPolicy.PolicyDocument", from(otherAccount)},
	{"alert in clear text", deny, "github", "LatchRole", "", "sns:Publish", "AlertTopic", "AlertTopicPolicy.PolicyDocument", map[string]string{"aws:SecureTransport": "false"}},
	{"keep a failed tick in clear text", deny, "github", "LatchRole", "", "sqs:SendMessage", "FailedTicks", "TicksOverTlsOnly.PolicyDocument", map[string]string{"aws:SecureTransport": "false"}},
}

func TestRequestsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, r := range slices.Concat(requests, fleetRequests) {
		if named[r.name] {
			t.Errorf("two requests are called %q", r.name)
		}
		named[r.name] = true
	}
	for _, s := range slices.Concat(samples, fleets) {
		if !slices.ContainsFunc(slices.Concat(requests, fleetRequests), func(r request) bool { return r.of == s.name }) {
			t.Errorf("no request is made of sample %q", s.name)
		}
	}
}
