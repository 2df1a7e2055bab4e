package config

import (
	"regexp"

	"github.com/gitlatch/gitlatch/internal/yamldoc"
)

// EKS is a cluster of Amazon EKS. The zero value is not configured.
type EKS struct {
	Name    string
	Region  string // "" is the region in which the program runs
	RoleARN string // role to assume before the login, such as a role in another account; "" assumes no role
}

// DynamoDB is a table of Amazon DynamoDB. The zero value is not configured.
type DynamoDB struct {
	Table  string
	Region string // "" is the region in which the program runs
}

// SNS is a topic of Amazon SNS. The zero value is not configured.
type SNS struct {
	TopicARN string // includes the region
}

// S3 is a bucket of Amazon S3. The zero value is not configured.
type S3 struct {
	Bucket string
	Prefix string // of all keys, with a slash at its end; may be ""
	Region string // "" is the region in which the program runs
}

// regionField returns the field for the Region of a resource.
func regionField(region *string, resource string) yamldoc.Field {
	return yamldoc.Optional("region", "AWS Region of the "+resource+"; the default is the Region in which gitlatch runs",
		yamldoc.Into(region, yamldoc.Text(`^[a-z]{2,4}(-[a-z]+)+-[0-9]+$`, "an AWS region such as eu-west-1")))
}

func eksFields(e *EKS) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("name", "name of the EKS cluster",
			yamldoc.Into(&e.Name, yamldoc.Text(`^[0-9A-Za-z][-0-9A-Za-z_]*$`, "the name of an EKS cluster: letters, digits, - and _, at most 100").AtMost(100))),
		regionField(&e.Region, "EKS cluster"),
		yamldoc.Optional("roleArn", "ARN of the IAM role that gitlatch assumes to access an EKS cluster in a different AWS account; the external ID is `gitlatch/` and the name of the site",
			yamldoc.Into(&e.RoleARN, yamldoc.Text(`^arn:aws(-[a-z]+)*:iam::[0-9]{12}:role/[-A-Za-z0-9_+=,.@/]+$`, "the ARN of a role, such as arn:aws:iam::123456789012:role/gitlatch"))),
	)
}

func dynamoFields(d *DynamoDB) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("table", "name of the DynamoDB table",
			yamldoc.Into(&d.Table, yamldoc.Text(`^[-A-Za-z0-9_.]{3,}$`, "the name of a table: 3 to 255 letters, digits, -, _ and .").AtMost(255))),
		regionField(&d.Region, "DynamoDB table"),
	)
}

func snsFields(s *SNS) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("topicArn", "ARN of the SNS topic",
			yamldoc.Into(&s.TopicARN, yamldoc.Text(`^arn:aws(-[a-z]+)*:sns:[-a-z0-9]+:[0-9]{12}:[-A-Za-z0-9_]+$`, "the ARN of a standard topic, such as arn:aws:sns:eu-west-1:123456789012:gitlatch").AtMost(320))),
	)
}

func s3Fields(s *S3) yamldoc.Object {
	return yamldoc.Fields(
		yamldoc.Required("bucket", "name of the S3 bucket",
			yamldoc.Into(&s.Bucket, yamldoc.Text(`^[a-z0-9][-.a-z0-9]{1,61}[a-z0-9]$`, "the name of a bucket: 3 to 63 small letters, digits, - and ."))),
		yamldoc.Optional("prefix", "prefix of the object keys in the S3 bucket, such as `gitlatch/`",
			yamldoc.Into(&s.Prefix, yamldoc.Text(`^([-A-Za-z0-9_.]+/)+$`, "folders with a slash after each, such as gitlatch/drills/"))),
		regionField(&s.Region, "S3 bucket"),
	)
}

// secretName is the form of the name or ARN of a secret in AWS Secrets Manager.
var secretName = func() yamldoc.Form {
	f := yamldoc.Text(`^[A-Za-z0-9/_+=.@][-A-Za-z0-9/_+=.@:]*$`, "the name or ARN of a secret in AWS Secrets Manager, not the secret itself").Hide()
	f.Schema["not"] = schema{"pattern": tokenShape}
	return f
}()

// tokenShape is the pattern of a token of GitHub or GitLab. A private key does not match
// it, and is refused because of its dashes and line breaks.
const tokenShape = `^(gh[a-z]_|github_pat_|glpat-)`

func noToken(s string) error {
	if regexp.MustCompile(tokenShape).MatchString(s) {
		return yamldoc.ErrForm
	}
	return nil
}
